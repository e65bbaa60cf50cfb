"""What the words of ``dyno study`` share: what the command line changes, and what is told first."""

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
    help="Make all runs: do not end when intervals are tight, or when noise leaves too few pairs "
    "to find the margin.",
)


def overrides(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds options that change a study, and passes them as ``instead``."""

    @click.option("--target", help="Another target for all variants: a URL, or embedded:NAME.")
    @click.option("--scale", type=float, help="Another scale factor or number of warehouses.")
    @click.option(
        "--set",
        "words",
        multiple=True,
        metavar="WORD=VALUE",
        help="A setting for all variants, as memory=4GB; repeat.",
    )
    @click.option(
        "--with",
        "paths",
        multiple=True,
        metavar="PATH=VALUE",
        help="Anything else of the base, as run.duration=60s; repeat.",
    )
    @click.option("--pairs", type=click.IntRange(2, 1000), help="How often each variant runs.")
    @click.option(
        "--margin",
        type=click.FloatRange(0, 100, min_open=True, max_open=True),
        help="Percent; a shift within it does not matter.",
    )
    @click.option(
        "--time-limit", type=TIME, help="No new pair of runs begins after so long, such as 2h."
    )
    @click.option("--reset", type=click.Choice(get_args(Reset)), help="What each run begins with.")
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


def tell_plan(study: Study, options: Options) -> int:
    """Prints what a study would run."""
    from dyno.runner import study as work

    work.require(study, work.folder_of(study, options.out))
    slots = work.slots_of(study)
    found, told = work.ahead(study, slots, options.out)
    if options.as_json:
        click.echo(plainjson.dumps(document(study, slots, found)))
    else:
        click.echo("\n".join(plan(study, slots, told)))
    return 0


def plan(study: Study, slots: list[Slot], told: list[str]) -> list[str]:
    """The schedule and the command lines of a study, in lines of at most 80 columns."""
    from dyno.studies import asked

    lines = [line for text in (study.question, study.design, study.rule) if text
             for line in textwrap.wrap(text, _COLUMNS)]  # fmt: skip
    names = [variant.name for variant in study.variants]
    lines.append(f"{len(slots)} runs, {study.pairs} of each of {len(names)} variants:")
    for key in dict.fromkeys(variant.data for variant in study.variants):
        own = [variant for variant in study.variants if variant.data == key]
        load = asked.load(own[0], study, None)
        if load is not None:
            whose = ", ".join(variant.name for variant in own)
            lines += _wrapped(f"  {whose}: {load.command}", "    ")
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
    return [*lines, *(line for text in told for line in _wrapped(text, "  "))]


def document(study: Study, slots: list[Slot], found: Forecast) -> dict[str, Any]:
    """The plan for ``--json``; seconds and bytes are estimates."""
    return {
        "study": study.model_dump(mode="json"),
        "slots": [slot.model_dump(mode="json") for slot in slots],
        "seconds": found.total_s(slots),
        "seconds_range": found.range_s(slots),
        "repeats": found.repeats(len(slots)),
        "run_seconds": {name: each.seconds for name, each in found.runs.items()},
        "room_bytes": found.room_bytes,
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
