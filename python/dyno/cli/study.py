"""``dyno study``: variants that differ in one thing, run in turn, and compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dyno.cli import _study_work
from dyno.cli._options import Options, common, examples
from dyno.cli._strictly import MINUTES, SCALE
from dyno.cli._study import early_stop, overrides, tell_plan
from dyno.errors import closest
from dyno.safety import plainjson
from dyno.workloads import USUAL

if TYPE_CHECKING:
    from dyno.studies.model import Study
    from dyno.studies.overrides import Overrides


_MINUTES = "Time for all runs; the load and repeated runs come on top."
_dry_run = click.option("--dry-run", is_flag=True, help="Say what would be run, and run nothing.")


class Word(click.Group):
    """``dyno study NAME`` runs it; ``list``, ``plan``, ``show`` and ``compare`` are words of it."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A word, or else ``run`` of the study that is named first.

        Raises:
            UsageError: If it is nearer to a word than to a study.
        """
        if args and args[0] not in self.commands:
            self._require_no_word(args[0])
            args = ["run", *args]
        return super().resolve_command(ctx, args)

    def _require_no_word(self, name: str) -> None:
        from dyno import studies

        if "/" in name or name.endswith(".toml"):
            return
        words = [word for word, command in self.commands.items() if not command.hidden]
        close = closest(name, [*words, *studies.names()])
        if close in words:
            raise click.UsageError(f"Unknown word or study '{name}'. Did you mean '{close}'?")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options that come before the name are those of ``run`` as well."""
        if args and args[0].startswith("-") and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(
    "study",
    cls=Word,
    short_help="Compare variants in a designed study.",
    epilog=examples(
        "dyno study list",
        "dyno study metrics                what it can ask about",
        "dyno study plan settings          what it would run, and how long",
        "dyno study settings",
        "dyno study settings --target postgresql://bench@db1/bench --scale 10",
        "dyno study users --with run.duration=60s --pairs 8 --time-limit 4h",
        "dyno study --resume dyno-runs/studies/settings   after a kill: runs stay",
        "dyno study show dyno-runs/studies/settings",
        "dyno study clean dyno-runs/studies/settings      its data",
        "dyno study compare --target embedded:postgresql --workload tpcc \\",
        "  --a settings.memory=128MB --b settings.memory=1GB --minutes 10",
    ),
)
def command() -> None:
    """Change one thing, measure again, and say what is true.

    Variants run in random order, there and back, so that what drifts meets all of them alike; each
    is compared with the first in pairs of neighbours: the shift in percent with its interval, and a
    verdict: better, worse, equivalent (inside the margin) or inconclusive, with the pairs that it
    would take. Invalid runs are made again, and shown; a variant with wrong answers or broken
    criteria cannot win.
    """


@command.command("list", short_help="The studies that Dyno ships.")
@common
def list_(options: Options) -> None:
    """The studies that Dyno ships, and what each asks."""
    import textwrap

    from dyno import studies

    names = studies.names()
    if options.as_json:
        asked = [{"name": name, "question": studies.purpose(name)} for name in names]
        click.echo(plainjson.dumps(asked))
        return
    room = 2 + max(map(len, names), default=0)
    for name in names:
        for place, line in enumerate(textwrap.wrap(studies.purpose(name), 80 - room)):
            click.echo(f"{name if place == 0 else '':{room}}{line}")


@command.command("metrics", short_help="What a study can ask about.")
@common
def metrics(options: Options) -> None:
    """Names of metrics, for `headline` and `exploratory`; * has one for each of something."""
    import textwrap

    from dyno.studies.metrics import METRICS

    if options.as_json:
        listed = [
            {
                "name": name,
                "family": metric.each,
                "meaning": metric.meaning,
                "better": metric.wish,
                "verb": metric.verb,
            }
            for name, metric in METRICS.items()
        ]
        click.echo(plainjson.dumps(listed))
        return
    for name, metric in METRICS.items():
        label = f"{name}.*" if metric.each else name
        loads = " (of loads)" if metric.verb == "load" else ""
        for place, line in enumerate(textwrap.wrap(f"{metric.meaning}{loads}", 58)):
            click.echo(f"{label if place == 0 else '':22}{line}")


@command.command("plan", short_help="What a study would run.")
@click.argument("name", metavar="NAME|FILE")
@click.option("--toml", is_flag=True, help="Print the study's file instead, to write your own.")
@overrides
@common
def plan(name: str, toml: bool, instead: Overrides, options: Options) -> None:
    """The schedule of a study, its command lines, and how long it takes. Nothing is run."""
    from dyno import studies
    from dyno.config import presets
    from dyno.studies import spec

    if toml:
        click.echo(presets.find(studies.FOLDER, "study", name)[2], nl=False)
    else:
        tell_plan(spec.read(name, instead), options)


@command.command(
    "run",
    short_help="Run a study.",
    hidden=True,
    epilog=examples(
        "dyno study settings --dry-run          what it would run, and how long",
        "dyno study settings --target postgresql://bench@db1/bench --scale 10",
        "dyno study users --with run.duration=60s --pairs 8 --time-limit 4h",
        "dyno study mine.toml --set memory=8GB --margin 5",
        "dyno study --resume dyno-runs/studies/settings     after a kill or Ctrl-C",
        "dyno study mine.toml --resume --time-limit 8h      the same, and longer",
    ),
)
@click.argument("name", metavar="NAME|FILE|FOLDER")
@overrides
@click.option("--resume", is_flag=True, help="Go on with a study that was cut off.")
@_dry_run
@common
def run(name: str, instead: Overrides, resume: bool, dry_run: bool, options: Options) -> int:
    """Run the study NAME, or that of a file; with --resume also the one that was begun in FOLDER.

    Options change the base, which all variants have in common; what the variants differ in stays.
    """
    from dyno.studies import spec

    folder = _study_work.begun(name)
    if folder is not None:
        return _study_work.go_on(folder, instead, resume, options)
    study = spec.read(name, instead)
    return tell_plan(study, options) if dry_run else _study_work.conduct(study, resume, options)


@command.command("show", short_help="What a study says, from its files.")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--open", "show_page", is_flag=True, help="Open the page in the browser.")
@common
def show(folder: Path, show_page: bool, options: Options) -> int:
    """Analyse the study in FOLDER again, from its book and bundles; no database is needed.

    Writes study.html, the study's page, into it.
    """
    from dyno.studies.store import StudyStore

    book = StudyStore.open(folder.absolute())
    code = _study_work.tell(book, options)
    if show_page:
        click.launch((book.folder / "study.html").as_uri())
    return code


@command.command("clean", short_help="Remove the data of a study.")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@common
def clean(folder: Path, options: Options) -> int:
    """Remove the data of the study in FOLDER: its engines, and the states that runs began from.

    A study that is over has none any more; one that was stopped keeps it, and loads it again if it
    goes on afterwards. Runs and figures stay.
    """
    return _study_work.clean(folder.absolute(), options)


@command.command("compare", short_help="Two variants, ad hoc.")
@click.option("--workload", required=True, help="tpcc, tpch or io.")
@click.option(
    "--target",
    help="URL of the database, or embedded:NAME; of io a folder, file or device.  "
    "[default: embedded:postgresql; of io the folder of --out]",
)
@click.option("--scale", type=SCALE, help="Scale factor or warehouses.")
@click.option("--a", "first", multiple=True, metavar="PATH=VALUE", help="What A has; repeat.")
@click.option(
    "--b", "second", multiple=True, required=True, metavar="PATH=VALUE", help="What B has; repeat."
)
@click.option("--with", "both", multiple=True, metavar="PATH=VALUE", help="What both have; repeat.")
@click.option("--minutes", type=MINUTES, default=10.0, show_default=True, help=_MINUTES)
@click.option(
    "--metric",
    multiple=True,
    help="What it is about, of `dyno study metrics`; repeat.  [default: by workload]",
)
@click.option(
    "--margin",
    type=click.FloatRange(0, 100, min_open=True, max_open=True),
    help="Percent; a shift within it does not matter.  [default: 2]",
)
@click.option("--pairs", type=click.IntRange(2, 1000), default=5, show_default=True)
@early_stop
@click.option("--resume", is_flag=True, help="Go on with one that was cut off.")
@_dry_run
@common
def compare(resume: bool, dry_run: bool, options: Options, **asked: Any) -> int:
    """Compare two variants: --a settings.memory=2GiB --b settings.memory=4GiB."""
    study = _ad_hoc("compare", asked, resume, options)
    return tell_plan(study, options) if dry_run else _study_work.conduct(study, resume, options)


@command.command("aa", short_help="The machine's own noise.")
@click.option("--workload", default=USUAL["oltp"], show_default=True)
@click.option("--target", help="As of compare.  [default: embedded:postgresql]")
@click.option("--scale", type=SCALE, help="Scale factor or warehouses.")
@click.option("--with", "both", multiple=True, metavar="PATH=VALUE", help="Options; repeat.")
@click.option("--minutes", type=MINUTES, default=10.0, show_default=True, help=_MINUTES)
@click.option("--pairs", type=click.IntRange(2, 1000), default=5, show_default=True)
@click.option("--resume", is_flag=True, help="Go on with one that was cut off.")
@_dry_run
@common
def aa(resume: bool, dry_run: bool, options: Options, **asked: Any) -> int:
    """Run the same twice, and tell what effect could be found here in how much time."""
    same = {"first": (), "second": (), "metric": (), "margin": None}
    study = _ad_hoc("aa", {**asked, **same}, resume, options)
    return tell_plan(study, options) if dry_run else _study_work.conduct(study, resume, options)


def _ad_hoc(name: str, asked: dict[str, Any], resume: bool, options: Options) -> Study:
    """The study that was asked for, which gets a number of its own if there was one before."""
    from dyno.studies import adhoc

    if asked["target"] is None:
        asked["target"] = adhoc.usual_target(asked["workload"], options.out)
    study = adhoc.study(**asked)
    return adhoc.numbered(study.model_copy(update={"name": name}), options.out, resume=resume)
