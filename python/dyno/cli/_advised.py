"""Files of ``dyno advise --write``: layouts, and the studies that prove them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dyno.errors import UsageError

if TYPE_CHECKING:
    from dyno.decide.advise.section import Section


def write(sections: Iterable[Section], folder: Path) -> list[Path]:
    """Writes the files of all sections; makes the folder if there are any.

    Raises:
        UsageError: If one of them exists, or cannot be written.
    """
    from dyno.safety import safefiles

    found: dict[Path, str] = {}
    for section in sections:
        if section.files is not None:
            for name, text in section.files(folder).items():
                found[folder / name] = text
    try:
        if found:
            folder.mkdir(parents=True, exist_ok=True)
        for path in found:
            if path.exists() or path.is_symlink():
                raise UsageError(
                    f"{path} exists already; remove it, or use another --write FOLDER."
                )
        for path, text in found.items():
            with safefiles.append(path, new=True) as file:
                file.write(text.encode("utf-8"))
    except OSError as error:
        raise UsageError(f"Cannot write to {folder}: {error.strerror}.") from error
    return list(found)


def tell(written: Sequence[Path], folder: Path) -> None:
    """Prints what was written, and the command that shows what each study would run."""
    if not written:
        click.echo(f"Nothing to write to {folder}: no advice here has a layout.")
        return
    click.echo("Written:")
    for path in written:
        click.echo(f"  {path}")
    for path in written:
        if path.name.endswith("-study.toml"):
            click.echo(f"Show what it would run:  dyno study plan {shlex.quote(str(path))}")
