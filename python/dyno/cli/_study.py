"""Options and the printed plan that the subcommands of ``dyno study`` share."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, get_args

import click

from dyno.cli._strictly import TIME
from dyno.safety import plainjson
from dyno.studies.model import Reset
from dyno.studies.overrides import Overrides

if TYPE_CHECKING:
    from dyno.cli._options import Options
    from dyno.studies.forecast import Forecast
    from dyno.studies.model import Study
    from dyno.studies.schedule import Slot

_LETTERS = 26
_COLUMNS = 80


early_stop = click.option(
    "--no-early-stop",
    "early_stop",
    is_flag=True,
    flag_value=False,
    default=True,
    help="Run all pairs: do not stop when intervals are narrow enough, or when noise makes the "
    "margin undetectable.",
)


def overrides(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds options that change a study, and passes them as ``instead``."""

    @click.option(
        "--target", metavar="URL", help="Target for all variants: a URL, or embedded:NAME."
    )
    @click.option("--scale", type=float, help="Scale factor or number of warehouses.")
    @click.option(
        "--set",
        "words",
        multiple=True,
        metavar="NAME=VALUE",
        help="Setting for all variants, such as memory=4GB; repeatable.",
    )
    @click.option(
        "--with",
        "paths",
        multiple=True,
        metavar="PATH=VALUE",
        help="Any other value of the base, such as run.duration=60s; repeatable. An empty one "
        "removes it, such as limits.memory=.",
    )
    @click.option("--pairs", type=click.IntRange(2, 1000), help="Runs of each variant.")
    @click.option(
        "--margin",
        type=click.FloatRange(0, 100, min_open=True, max_open=True),
        help="Equivalence margin in percent.",
    )
    @click.option(
        "--time-limit", type=TIME, help="Start no new pair of runs after this time, such as 2h."
    )
    @click.option("--reset", type=click.Choice(get_args(Reset)), help="Reset before each run.")
    @early_stop
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        may_stop: bool = kwargs.pop("early_stop")
        kwargs["instead"] = Overrides(
            target=kwargs.pop("target"),
            scale=kwargs.pop("scale"),
            settings=kwargs.pop("words"),
            paths=kwargs.pop("paths"),
            pairs=kwargs.pop("pairs"),
            margin=kwargs.pop("margin"),
            time_limit=kwargs.pop("time_limit"),
            reset=kwargs.pop("reset"),
            early_stop=None if may_stop else False,
        )
        return function(*args, **kwargs)

    return wrapper  # fmt: skip


def print_plan(study: Study, options: Options) -> int:
    """Prints what a study would run."""
    from dyno.runner import study as work

    work.require(study, work.folder_of(study, options.out))
    slots = work.slots_of(study)
    found, forecast = work.ahead(study, slots, options.out)
    if options.as_json:
        click.echo(plainjson.dumps(document(study, slots, found)))
    else:
        click.echo("\n".join(plan(study, slots, forecast)))
    return 0


def plan(study: Study, slots: list[Slot], forecast: list[str]) -> list[str]:
    """The schedule and the command lines of a study, in lines of at most 80 columns."""
    from dyno.studies import asked

    lines = [line for text in (study.question, study.design, study.rule) if text
             for line in textwrap.wrap(text, _COLUMNS)]  # fmt: skip
    names = [variant.name for variant in study.variants]
    lines.append(f"{len(slots)} runs, {study.pairs} of each of {len(names)} variants:")
    for key in dict.fromkeys(variant.data for variant in study.variants):
        own = [variant for variant in study.variants if variant.data == key]
        for load in asked.loads(own[0], study, None):
            names_of_load = ", ".join(variant.name for variant in own)
            lines += _wrapped(f"  {names_of_load}: {load.command}", "    ")
    for variant in study.variants:
        run = asked.run(variant, study.reset, study.seed, None)
        lines += _wrapped(f"  {variant.name}: {run.command}", "    ")
    letters = {name: _letter(place, len(names)) for place, name in enumerate(names)}
    space = " " if len(names) > _LETTERS else ""
    order = space.join(letters[slot.variant] for slot in slots)
    legend = ", ".join(f"{letter}: {name}" for name, letter in letters.items() if letter != name)
    lines += _wrapped(f"Order: {order}{f' ({legend})' if legend else ''}", "  ")
    lines.append(f'Before each run: reset = "{study.reset}"')
    lines += [f"Criterion: {text}" for text in study.criteria]
    return [*lines, *(line for text in forecast for line in _wrapped(text, "  "))]


def document(study: Study, slots: list[Slot], found: Forecast) -> dict[str, Any]:
    """The plan for ``--json``; seconds and bytes are estimates."""
    return {
        "study": study.model_dump(mode="json"),
        "slots": [slot.model_dump(mode="json") for slot in slots],
        "seconds": found.total_s(slots),
        "seconds_range": found.range_s(slots),
        "repeats": found.repeats(len(slots)),
        "run_seconds": {name: each.seconds for name, each in found.runs.items()},
        "room_bytes": found.space_bytes,
        "elsewhere_bytes": found.elsewhere_bytes,
    }


def _letter(place: int, count: int) -> str:
    if count <= _LETTERS:
        return chr(ord("A") + place)
    return str(place + 1)


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, _COLUMNS, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )
