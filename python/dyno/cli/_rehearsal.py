"""Command lines of a study, looked at by the verbs themselves before anything runs.

What a verb refuses before it begins (options, settings, layouts, what the target cannot do) it
refuses here with the same words; what only the work itself can find out stays open.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dyno.cli._options import REHEARSED
from dyno.errors import DynoError, UsageError, nearest

if TYPE_CHECKING:
    from dyno.studies.model import Study, Variant

_THE_STUDYS = {
    *("json", "out", "quiet", "yes", "help", "target", "seed", "set", "limit", "scale", "replace"),
    *("resume", "dry-run", "fio", "profiles", "destroy", "settings"),
}
"""Options that are no keys of ``load`` and ``run``: the study gives them, or they ask a person."""


def rehearse(study: Study, folder: Path) -> None:
    """Refuses a study with a command line that its verb would refuse.

    Args:
        study: What is to run.
        folder: Where its data and runs will lie.

    Raises:
        DynoError: With the variant and the verb's own reason.
    """
    from dyno.studies import commands

    for variant in study.variants:
        data = folder / "data-1"
        for part, given in (("load", variant.load), ("run", variant.run)):
            _require_known(variant, part, list(given))
        for words in (
            commands.load(variant, study, data),
            commands.run(variant, study.reset, study.seed, data),
        ):
            if words:
                _try(variant, words)


def _require_known(variant: Variant, part: str, names: list[str]) -> None:
    """Refuses a key that is no option, with the nearest."""
    verb = _verb("load" if part == "load" else "io" if variant.workload == "io" else "run")
    known = {
        word.lstrip("-")
        for parameter in verb.params
        if isinstance(parameter, click.Option)
        for word in (*parameter.opts, *parameter.secondary_opts)
    }
    words = sorted(known - _THE_STUDYS)
    for name in names:
        option = name.replace("_", "-")
        if option in words:
            continue
        if option in known & _THE_STUDYS:
            raise UsageError(
                f"The variant '{variant.name}' has {part}.{name}, which the study gives itself, "
                "or which is no part of one."
            )
        raise UsageError(
            f"The variant '{variant.name}' has {part}.{name}, which is no option of it. "
            f"{nearest(option, words)}"
        )


def _try(variant: Variant, words: list[str]) -> None:
    verb = _verb(words[0])
    above = click.Context(verb)
    above.meta[REHEARSED] = True
    try:
        with verb.make_context(words[0], words[1:], parent=above) as context:
            verb.invoke(context)
    except click.ClickException as error:
        raise UsageError(f"'{variant.name}': {error.format_message()}") from error
    except DynoError as error:
        error.args = (f"'{variant.name}': {error}",)
        raise


def _verb(name: str) -> click.Command:
    from dyno.cli import io, load
    from dyno.cli import run as run_verb

    return {"io": io.command, "load": load.command, "run": run_verb.command}[name]
