"""``dyno doctor``: checks whether this machine and a target can be used."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dyno.cli._options import Options, common, examples
from dyno.safety import plainjson
from dyno.safety.redaction import redact

if TYPE_CHECKING:
    from dyno.contracts.target import Target


@dataclass(frozen=True)
class Item:
    """One check. ``ok`` is None if only some commands need it."""

    name: str
    ok: bool | None
    message: str


@click.command(
    "doctor",
    short_help="Check this machine and a target for problems.",
    epilog=examples(
        "dyno doctor",
        "dyno doctor /var/lib/postgresql",
        "dyno doctor postgresql://bench@db1/bench",
        "dyno doctor mssql://bench@db1/bench --report server.txt",
    ),
)
@click.argument("subject", required=False)
@click.option(
    "--report",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a text report on the server, without passwords, to send to others.",
)
@common
def command(subject: str | None, report: Path | None, options: Options) -> int:
    """Check the machine and SUBJECT (a target's URL or a folder), and report what is missing.

    Changes nothing. An embedded engine is started once and stopped.
    """
    from dyno import host

    named = subject is not None and (":" in subject or redact(subject) != subject)
    is_url = named and not Path(str(subject)).exists()
    folder = options.out if subject is None or is_url else Path(subject)
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if report is not None:
        _write_report(subject if is_url else None, options.out, report)
    facts = host.collect(folder)
    items = [*_machine(folder)]
    if is_url and subject is not None:
        items += _target(subject, options.out, host.limits(facts))
    warnings = host.warnings(facts)
    failed = [item for item in items if item.ok is False]
    if options.as_json:
        document: dict[str, Any] = {
            "run": None,
            "bundle": None,
            "valid": not failed,
            "reasons": [item.message for item in failed],
            "items": [vars(item) for item in items],
            "warnings": [finding.message for finding in warnings],
            "host": facts,
        }
        click.echo(plainjson.dumps(document))
    else:
        for item in items:
            mark = {True: "ok", False: "MISSING", None: "note"}[item.ok]
            _print(mark, item.name, item.message)
        for finding in warnings:
            _print(finding.level, finding.code, finding.message)
    return 3 if failed else 0


def _print(mark: str, name: str, message: str) -> None:
    """A line in three columns, wrapped to the terminal."""
    import shutil
    import textwrap

    width = min(shutil.get_terminal_size().columns, 120)
    head = f"{mark:9}{name:22}"
    lines = textwrap.wrap(
        message, max(width, 60), initial_indent=head, subsequent_indent=" " * len(head),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    click.echo("\n".join(lines))


def _machine(folder: Path) -> list[Item]:
    import shutil

    from dyno.config.units import bytes_text
    from dyno.runner.quickstart import choose

    sizes = choose(None, False, folder)
    free = shutil.disk_usage(folder).free
    enough = free >= sizes.space()
    return [
        _core(),
        *_engines(),
        _io_uring(),
        *_folder(folder),
        Item(
            "space",
            enough,
            f"{bytes_text(free)} free in {folder}; quickstart at scale {sizes.scale:g} "
            f"needs {bytes_text(sizes.space())}",
        ),
    ]


def _folder(folder: Path) -> list[Item]:
    """An item if the folder is not writable."""
    import os

    if os.access(folder, os.W_OK):
        return []
    return [Item("out", False, f"{folder} is not writable; use another --out DIR")]


def _core() -> Item:
    try:
        from dyno import _core as core
    except ImportError as error:
        return Item(
            "engines", False, f"The compiled extension is missing ({error}); run make build."
        )
    wires = json.loads(core.parts())["wires"]
    return Item("engines", True, f"compiled extension found; wire protocols: {', '.join(wires)}")


def _io_uring() -> Item:
    path = Path("/proc/sys/kernel/io_uring_disabled")
    allowed = path.exists() and path.read_text(encoding="ascii").strip() == "0"
    message = "allowed" if allowed else "not allowed: dyno io uses plain reads and writes instead"
    return Item("io_uring", allowed or None, message)


def _engines() -> list[Item]:
    """Engines that quickstart needs, and others that lack a package."""
    from dyno import targets
    from dyno.targets.defaults import COLUMN_STORE, ROW_STORE

    needed = {targets.parse(url).name for url in (ROW_STORE, COLUMN_STORE)}
    found: list[Item] = []
    for name in targets.names():
        lacks = targets.lacks(name)
        if lacks is not None:
            found.append(Item(name, False if name in needed else None, lacks))
        elif name in needed:
            found.append(Item(name, True, f"embedded:{name} can be used"))
    return found


def _target(url: str, out: Path, limits: Any) -> list[Item]:
    from dyno import targets
    from dyno.errors import DynoError, UsageError
    from dyno.workspace import engine_folders

    parsed = targets.parse(url)
    try:
        if parsed.scheme == "embedded":
            engine_folders.claim(out, parsed.name)
        with targets.open_target(parsed, out, limits) as target:
            facts = target.facts()
            lacks = [
                f"no {what}: {reason}"
                for what, reason in vars(target.capabilities).items()
                if reason is not True
            ]
            found = Item("target", True, "; ".join([f"{parsed.redacted}: {facts.version}", *lacks]))
            return [found, *_tried(parsed.name), *_rights(target)]
    except UsageError:
        raise
    except DynoError as error:
        return [Item("target", False, str(error))]


def _tried(name: str) -> list[Item]:
    """What Dyno was tested against, if that is less than what the target's URL can name."""
    from dyno import targets

    found = targets.tried(name)
    return [Item("tested", None, f"Dyno was tested against {found}")] if found else []


def _write_report(url: str | None, out: Path, file: Path) -> None:
    """Writes the report on a server to a new file.

    Raises:
        UsageError: If the target offers no report, or the file cannot be made.
    """
    from dyno import targets
    from dyno.contracts.diagnosis import Diagnosing
    from dyno.contracts.target import Limits
    from dyno.errors import UsageError

    if url is None:
        raise UsageError("--report needs the URL of a server.")
    target = targets.open_target(targets.parse(url), out, Limits(1 << 30, 1))
    if not isinstance(target, Diagnosing):
        raise UsageError(f"Dyno has no report on {target.name}; `dyno doctor URL` prints checks.")
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(target.diagnosis())
    except FileExistsError:
        raise UsageError(f"{file} exists; give --report another name.") from None
    except OSError as error:
        raise UsageError(f"Cannot write {file}: {error.strerror}.") from error


def _rights(target: Target) -> list[Item]:
    """An item for each workload that the account has no rights to create."""
    from dyno import workloads
    from dyno.contracts.rights import Granting
    from dyno.errors import TargetError

    found: list[Item] = []
    if isinstance(target, Granting):
        for workload in workloads.names():
            try:
                target.require_rights(workload)
            except TargetError as error:
                found.append(Item("rights", False, str(error)))
    return found
