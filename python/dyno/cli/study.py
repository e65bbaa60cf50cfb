"""``dyno study``: variants that differ in one thing, run in turn, and compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dyno.cli._options import Options, common, examples
from dyno.errors import EXIT_INVALID, UsageError

if TYPE_CHECKING:
    from dyno.studies.book import Book
    from dyno.studies.model import Study


_SERVERS = {"postgresql", "postgres", "mysql", "mariadb"}
"""Schemes of servers that are not Dyno's own, and so not Dyno's to start again."""


class Word(click.Group):
    """``dyno study NAME`` runs it; ``list``, ``plan``, ``show`` and ``compare`` are words of it."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A word, or else ``run`` of the study that is named first."""
        if args and args[0] not in self.commands:
            args = ["run", *args]
        return super().resolve_command(ctx, args)


@click.group(
    "study",
    cls=Word,
    short_help="Compare variants in a designed study.",
    epilog=examples(
        "dyno study list",
        "dyno study plan settings          what it would run, and how long",
        "dyno study settings",
        "dyno study mine.toml --resume",
        "dyno study show dyno-runs/studies/settings",
        "dyno study compare --target embedded:postgresql --workload tpcc \\",
        "  --a settings.memory=128MB --b settings.memory=1GB --minutes 10",
    ),
)
def command() -> None:
    """Change one thing, measure again, and say what is true.

    Variants run in random order, there and back, so that what drifts meets all of them alike; each
    is compared with the first in pairs of neighbours: the shift in percent with its interval, and a
    verdict: better, worse, equivalent (inside the margin) or inconclusive, with the pairs that it
    would take. Invalid runs are made again, and shown; a variant with wrong answers cannot win.
    """


@command.command("list", short_help="The studies that Dyno ships.")
def list_() -> None:
    """The studies that Dyno ships, and what each asks."""
    import textwrap

    from dyno import studies

    for name in studies.names():
        for place, line in enumerate(textwrap.wrap(studies.purpose(name), 62)):
            click.echo(f"{name if place == 0 else '':18}{line}")


@command.command("plan", short_help="What a study would run.")
@click.argument("name", metavar="NAME|FILE")
@click.option("--pairs", type=click.IntRange(1, 1000), help="Instead of the study's.")
def plan(name: str, pairs: int | None) -> None:
    """The schedule of a study, its command lines, and how long it takes. Nothing is run."""
    from dyno.studies import spec

    study = _fitted(spec.read(name), pairs)
    _check(study)
    for line in _plan(study):
        click.echo(line)


@command.command("run", short_help="Run a study.", hidden=True)
@click.argument("name", metavar="NAME|FILE")
@click.option("--pairs", type=click.IntRange(1, 1000), help="Instead of the study's.")
@click.option("--resume", is_flag=True, help="Go on with a study that was cut off.")
@common
def run(name: str, pairs: int | None, resume: bool, options: Options) -> int:
    """Run the study NAME, or that of a file."""
    from dyno.studies import spec

    study = _fitted(spec.read(name), pairs)
    return _conduct(study, resume, options)


@command.command("show", short_help="What a study says, from its bundles.")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--open", "show_page", is_flag=True, help="Open the page in the browser.")
@common
def show(folder: Path, show_page: bool, options: Options) -> int:
    """Analyse the study in FOLDER again, from its book and bundles; no database is needed.

    Writes study.html, the study's page, into it.
    """
    from dyno.studies.book import Book

    book = Book.open(folder.absolute())
    code = _tell(book, options)
    if show_page:
        click.launch((book.folder / "study.html").as_uri())
    return code


@command.command("compare", short_help="Two variants, ad hoc.")
@click.option("--workload", required=True, help="tpcc, tpch or io.")
@click.option("--target", help="URL of the database, or embedded:NAME.")
@click.option("--scale", type=float, help="Scale factor or warehouses.")
@click.option("--a", "first", multiple=True, metavar="PATH=VALUE", help="What A has; repeat.")
@click.option(
    "--b", "second", multiple=True, required=True, metavar="PATH=VALUE", help="What B has; repeat."
)
@click.option("--with", "both", multiple=True, metavar="PATH=VALUE", help="What both have; repeat.")
@click.option("--minutes", type=float, default=10.0, show_default=True, help="Time for all runs.")
@click.option("--metric", multiple=True, help="What it is about; repeat.  [default: by workload]")
@click.option("--margin", type=float, help="Percent; a shift within it does not matter.")
@click.option("--pairs", type=click.IntRange(2, 1000), default=5, show_default=True)
@click.option("--resume", is_flag=True, help="Go on with one that was cut off.")
@common
def compare(resume: bool, options: Options, **asked: Any) -> int:
    """Compare two variants: --a settings.memory=2GiB --b settings.memory=4GiB."""
    return _conduct(_ad_hoc(asked), resume, options)


@command.command("aa", short_help="The machine's own noise.")
@click.option("--workload", default="tpcc", show_default=True)
@click.option("--target", default="embedded:postgresql", show_default=True)
@click.option("--scale", type=float, help="Scale factor or warehouses.")
@click.option("--with", "both", multiple=True, metavar="PATH=VALUE", help="Options; repeat.")
@click.option("--minutes", type=float, default=10.0, show_default=True, help="Time for all runs.")
@click.option("--pairs", type=click.IntRange(2, 1000), default=5, show_default=True)
@click.option("--resume", is_flag=True, help="Go on with one that was cut off.")
@common
def aa(resume: bool, options: Options, **asked: Any) -> int:
    """Run the same twice, and tell what effect could be found here in how much time."""
    study = _ad_hoc({**asked, "first": (), "second": (), "metric": (), "margin": None})
    return _conduct(study.model_copy(update={"name": "aa"}), resume, options)


def _ad_hoc(asked: dict[str, Any]) -> Study:
    from dyno.studies import adhoc

    return adhoc.study(**asked)


def _fitted(study: Study, pairs: int | None) -> Study:
    return study if pairs is None else study.model_copy(update={"pairs": pairs})


def _check(study: Study) -> None:
    """Fails before anything runs if an option of a variant is none of the verb's.

    Raises:
        UsageError: Naming the nearest.
    """
    from dyno.cli import io, load
    from dyno.cli import run as run_verb
    from dyno.errors import nearest

    def known(verb: click.Command) -> dict[str, list[str]]:
        return {
            word.lstrip("-"): [] for param in verb.params for word in param.opts
            if isinstance(param, click.Option)
        }  # fmt: skip

    own = {"json", "out", "quiet", "yes", "help", "target", "seed", "set", "dry-run"}
    verbs = {"tpcc": run_verb, "tpch": run_verb, "io": io}
    for variant in study.variants:
        for part, verb, given in (
            ("run", verbs[variant.workload].command, variant.run),
            ("load", load.command, variant.load),
        ):
            words = sorted(set(known(verb)) - own)
            for name in given:
                if name.replace("_", "-") not in words:
                    raise UsageError(
                        f"The variant '{variant.name}' has {part}.{name}, which is no option of "
                        f"it. {nearest(name.replace('_', '-'), words)}"
                    )
        if study.reset == "restart" and variant.target.partition(":")[0] in _SERVERS:
            raise UsageError(
                f"{variant.name}: only an embedded server is started again before each run; "
                'use reset = "nothing" or "reload".'
            )


def _plan(study: Study) -> list[str]:
    from dyno.studies import commands
    from dyno.studies.schedule import schedule

    lines = [line for line in (study.question, study.design, study.rule) if line]
    names = [variant.name for variant in study.variants]
    slots = schedule(names, study.pairs, study.seed)
    lines.append(f"{len(slots)} runs, {study.pairs} of each of {len(names)} variants:")
    for variant in study.variants:
        data = Path("DATA")
        loads = commands.load(variant, data)
        if loads:
            lines.append(f"  {variant.name}: dyno {' '.join(loads)}")
        words = commands.run(variant, study.reset, study.seed, data)
        lines.append(f"  {variant.name}: dyno {' '.join(words)}")
    letters = {name: chr(ord("A") + place % 26) for place, name in enumerate(names)}
    order = "".join(letters[slot.variant] for slot in slots)
    lines.append(f"Order: {order} ({', '.join(f'{v}: {k}' for k, v in letters.items())})")
    return lines


def _conduct(study: Study, resume: bool, options: Options) -> int:
    from dyno.cli import _study_page
    from dyno.cli._console import Console
    from dyno.cli._signals import Signals
    from dyno.lock import OutLock
    from dyno.studies.book import Book
    from dyno.studies.execute import Work
    from dyno.studies.schedule import schedule

    _check(study)
    folder = options.out / "studies" / study.name
    console = Console(quiet=options.quiet)
    with OutLock(folder), Signals() as signals:
        if resume:
            book = Book.open(folder)
        else:
            names = [variant.name for variant in study.variants]
            book = Book.begin(folder, study, schedule(names, study.pairs, study.seed))
        try:
            signals.begin_work()
            with _study_page.also_of_a_part(book):
                ended = Work(book, console.say).run()
        finally:
            signals.end_work()
        console.say(f"Ended: {ended}.")
    return _tell(book, options)


def _tell(book: Book, options: Options) -> int:
    from dyno.cli import _study_page
    from dyno.studies.analysis import outcome
    from dyno.studies.words import document, lines

    entries = book.entries()
    found = outcome(book.study, entries)
    page = _study_page.write(book, found)
    if options.as_json:
        click.echo(json.dumps({**document(book, found), "page": str(page)}, indent=1))
    else:
        click.echo("\n".join(lines(book.study, found, entries)))
        click.echo(f"Page: {page}")
    return EXIT_INVALID if found.disqualified or not found.comparisons else 0
