"""``dyno study``: runs variants in alternating order and compares them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dyno.cli import _live, _pdf, _study_work
from dyno.cli._options import Options, common, examples
from dyno.cli._strictly import MINUTES, SCALE
from dyno.cli._study import early_stop, overrides, print_plan
from dyno.errors import closest
from dyno.safety import plainjson
from dyno.workloads import USUAL

if TYPE_CHECKING:
    from dyno.studies.model import Study
    from dyno.studies.overrides import Overrides


_MINUTES = "Time budget for all runs, without loads and repeated runs."
_dry_run = click.option("--dry-run", is_flag=True, help="Show what would be run, and exit.")


class StudyGroup(click.Group):
    """``dyno study NAME`` runs a study; ``list``, ``plan``, ``show`` … are subcommands."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The subcommand, or ``run`` of the study that ``args`` begins with.

        Raises:
            UsageError: If the name is closer to a subcommand than to a study.
        """
        if args and args[0] not in self.commands:
            self._refuse_misspelt(args[0])
            args = ["run", *args]
        return super().resolve_command(ctx, args)

    def _refuse_misspelt(self, name: str) -> None:
        from dyno import studies

        if "/" in name or name.endswith(".toml"):
            return
        words = [word for word, command in self.commands.items() if not command.hidden]
        close = closest(name, [*words, *studies.names()])
        if close in words:
            raise click.UsageError(f"Unknown command or study '{name}'. Did you mean '{close}'?")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options before the name also belong to ``run``."""
        if args and args[0].startswith("-") and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(
    "study",
    cls=StudyGroup,
    short_help="Compare variants in a designed study.",
    epilog=examples(
        "dyno study list",
        "dyno study metrics                metrics that a study can compare",
        "dyno study plan settings          schedule, commands and duration",
        "dyno study settings",
        "dyno study settings --target postgresql://bench@db1/bench --scale 10",
        "dyno study users --with run.duration=60s --pairs 8 --time-limit 4h",
        "dyno study --resume dyno-runs/studies/settings   after a kill or Ctrl-C",
        "dyno study show dyno-runs/studies/settings",
        "dyno study clean dyno-runs/studies/settings      remove its data",
        "dyno study compare --target embedded:postgresql --workload tpcc \\",
        "  --a settings.memory=128MB --b settings.memory=1GB --minutes 10",
    ),
)
def command() -> None:
    """Run variants that differ in one thing, and compare them.

    Variants run in blocks of random, alternating order (ABBA), so drift affects all of them alike.
    Each variant is compared with the first one in pairs of adjacent runs. The result is a shift in
    percent with a confidence interval, and a verdict: better, worse, equivalent (within the margin)
    or inconclusive, with the number of pairs needed. Invalid runs are repeated and listed. A
    variant with wrong answers or violated criteria cannot win.
    """


@command.command("list", short_help="List the shipped studies.")
@common
def list_(options: Options) -> None:
    """List the shipped studies and their questions."""
    import textwrap

    from dyno import studies

    names = studies.names()
    if options.as_json:
        asked = [{"name": name, "question": studies.purpose(name)} for name in names]
        click.echo(plainjson.dumps(asked))
        return
    column = 2 + max(map(len, names), default=0)
    for name in names:
        for place, line in enumerate(textwrap.wrap(studies.purpose(name), 80 - column)):
            click.echo(f"{name if place == 0 else '':{column}}{line}")


@command.command("metrics", short_help="List the metrics that a study can compare.")
@common
def metrics(options: Options) -> None:
    """List metrics for `headline` and `exploratory`. A * stands for one metric per item."""
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


@command.command("plan", short_help="Show what a study would run.")
@click.argument("name", metavar="NAME|FILE")
@click.option("--toml", is_flag=True, help="Print the study's TOML file, as a template.")
@overrides
@common
def plan(name: str, toml: bool, instead: Overrides, options: Options) -> None:
    """Show the schedule, the command lines and the duration of a study, and exit."""
    from dyno import studies
    from dyno.config import presets
    from dyno.studies import spec

    if toml:
        click.echo(presets.find(studies.FOLDER, "study", name)[2], nl=False)
    else:
        print_plan(spec.read(name, instead), options)


@command.command(
    "run",
    short_help="Run a study.",
    hidden=True,
    epilog=examples(
        "dyno study settings --dry-run          schedule, commands and duration",
        "dyno study settings --target postgresql://bench@db1/bench --scale 10",
        "dyno study users --with run.duration=60s --pairs 8 --time-limit 4h",
        "dyno study mine.toml --set memory=8GB --margin 5",
        "dyno study --resume dyno-runs/studies/settings     after a kill or Ctrl-C",
        "dyno study mine.toml --resume --time-limit 8h      with more time",
    ),
)
@click.argument("name", metavar="NAME|FILE|FOLDER")
@overrides
@click.option("--resume", is_flag=True, help="Resume an interrupted study.")
@_dry_run
@_live.option
@common
def run(name: str, instead: Overrides, resume: bool, dry_run: bool, options: Options) -> int:
    """Run the study NAME, or the one in FILE; with --resume, continue the one in FOLDER.

    Options change the base, which all variants share. The differences between variants stay.
    """
    from dyno.studies import spec

    folder = _study_work.begun(name)
    if folder is not None:
        return _study_work.go_on(folder, instead, resume, options)
    study = spec.read(name, instead)
    return print_plan(study, options) if dry_run else _study_work.conduct(study, resume, options)


@command.command("show", short_help="Show the results of a study.")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--open", "show_page", is_flag=True, help="Open the page in the browser.")
@_pdf.option
@common
def show(folder: Path, show_page: bool, pdf: bool, options: Options) -> int:
    """Analyse the study in FOLDER again and rebuild study.html. No database is needed."""
    from dyno.studies.store import StudyStore

    _pdf.require(pdf)
    book = StudyStore.open(folder.absolute())
    code = _study_work.print_result(book, options)
    if pdf:
        path = _pdf.beside(book.folder / "study.html")
        click.echo(f"PDF: {path}", err=options.as_json)
    if show_page:
        click.launch((book.folder / "study.html").as_uri())
    return code


@command.command("clean", short_help="Remove the data of a study.")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@common
def clean(folder: Path, options: Options) -> int:
    """Remove the data of the study in FOLDER: its engines and the saved states of its runs.

    A completed study has no data. A stopped study keeps its data to resume from; without it, the
    study loads the data again. Runs and results stay.
    """
    return _study_work.clean(folder.absolute(), options)


@command.command("compare", short_help="Compare two variants, ad hoc.")
@click.option("--workload", required=True, help="A workload, FILE.toml, or io.")
@click.option(
    "--target",
    help="URL of the database, or embedded:NAME; for io a folder, file or device.  "
    "[default: embedded:postgresql; for io the --out folder]",
)
@click.option("--scale", type=SCALE, help="Scale factor or number of warehouses.")
@click.option("--a", "first", multiple=True, metavar="PATH=VALUE", help="Value for A; repeatable.")
@click.option(
    "--b",
    "second",
    multiple=True,
    required=True,
    metavar="PATH=VALUE",
    help="Value for B; repeatable.",
)
@click.option(
    "--with", "both", multiple=True, metavar="PATH=VALUE", help="Value for both; repeatable."
)
@click.option("--minutes", type=MINUTES, default=10.0, show_default=True, help=_MINUTES)
@click.option(
    "--metric",
    multiple=True,
    help="Metric, from `dyno study metrics`; repeatable.  [default: by workload]",
)
@click.option(
    "--margin",
    type=click.FloatRange(0, 100, min_open=True, max_open=True),
    help="Equivalence margin in percent.  [default: 2]",
)
@click.option(
    "--pairs", type=click.IntRange(2, 1000), default=5, show_default=True, help="Pairs of runs."
)
@early_stop
@click.option("--resume", is_flag=True, help="Resume an interrupted study.")
@_dry_run
@_live.option
@common
def compare(resume: bool, dry_run: bool, options: Options, **asked: Any) -> int:
    """Compare two variants: --a settings.memory=2GiB --b settings.memory=4GiB."""
    study = _ad_hoc("compare", asked, resume, options)
    return print_plan(study, options) if dry_run else _study_work.conduct(study, resume, options)


@command.command("aa", short_help="A/A test: measure the noise of this machine.")
@click.option(
    "--workload", default=USUAL["oltp"], show_default=True, help="A workload, FILE.toml, or io."
)
@click.option(
    "--target", help="URL of the database, or embedded:NAME.  [default: embedded:postgresql]"
)
@click.option("--scale", type=SCALE, help="Scale factor or number of warehouses.")
@click.option(
    "--with", "both", multiple=True, metavar="PATH=VALUE", help="Value for both; repeatable."
)
@click.option("--minutes", type=MINUTES, default=10.0, show_default=True, help=_MINUTES)
@click.option(
    "--pairs", type=click.IntRange(2, 1000), default=5, show_default=True, help="Pairs of runs."
)
@click.option("--resume", is_flag=True, help="Resume an interrupted study.")
@_dry_run
@_live.option
@common
def aa(resume: bool, dry_run: bool, options: Options, **asked: Any) -> int:
    """Compare a variant with itself, and report the minimum detectable effect over time."""
    same = {"first": (), "second": (), "metric": (), "margin": None}
    study = _ad_hoc("aa", {**asked, **same}, resume, options)
    return print_plan(study, options) if dry_run else _study_work.conduct(study, resume, options)


def _ad_hoc(name: str, asked: dict[str, Any], resume: bool, options: Options) -> Study:
    """The ad hoc study, with a number appended if its folder exists."""
    from dyno.studies import adhoc

    if asked["target"] is None:
        asked["target"] = adhoc.usual_target(asked["workload"], options.out)
    study = adhoc.study(**asked)
    return adhoc.numbered(study.model_copy(update={"name": name}), options.out, resume=resume)
