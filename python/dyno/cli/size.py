"""``dyno size``: servers, devices and TB for what is wanted."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dyno.cli._options import Options, common, examples
from dyno.safety import plainjson
from dyno.safety.text import shown

if TYPE_CHECKING:
    from dyno.cli._size_read import Judged


@click.command(
    "size",
    short_help="Size servers and storage for a wanted load.",
    epilog=examples(
        "dyno size last --want tps=1200",
        "dyno size RUN PROFILE --want users=500 --want think=12s --want p95=500ms",
        "dyno size RUN PROFILE --want tps=1200 --want tb=4 --want raid=10",
        "dyno size RUN --want tps=900 --want growth=20% --want years=3",
        "dyno size RUN --want wanted.toml --what-if cpus=8 --what-if devices=2",
    ),
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN…")
@click.option(
    "--want", "wanted", multiple=True, metavar="NAME=VALUE|FILE",
    help="Requirement (repeatable), or a TOML file with the same names. Load: users=500, "
    "think=12s, tps=1200, queries_per_h=3600, growth=20%, years=3. Data: tb=4. Limits: p95=500ms, "
    "mean=200ms. Headroom: cpu=80%, fill=70%, share=78%. Also raid=10, device_tb=6.4, "
    "io_per_tx=3.1.",
)  # fmt: skip
@click.option(
    "--what-if", "given", multiple=True, metavar="NAME=NUMBER",
    help="Check a given configuration: cpus of a server, servers, devices; repeatable.",
)  # fmt: skip
@click.option(
    "--raid-of", "levels", multiple=True, metavar="RUN=LEVEL",
    help="RAID level of the volume that RUN profiled, if Linux does not see it; repeatable.",
)  # fmt: skip
@click.option("--mixed", is_flag=True, help="Allow runs of different hosts, databases or scales.")
@common
def command(
    runs: tuple[str, ...],
    wanted: tuple[str, ...],
    given: tuple[str, ...],
    levels: tuple[str, ...],
    mixed: bool,
    options: Options,
) -> int:
    """Size servers, devices and TB for a wanted load, from what RUN… measured.

    Name runs with transactions at several loads (`dyno run --users 2 --users 8`, `--find-max`),
    with queries, and storage profiles (`dyno io`). The result is a number with its 90 % interval,
    the binding resource and the runner-up, and every input with its source: a run, your word, or a
    named assumption.

    A load on one server beyond twice what was measured is refused, as are invalid runs and
    contradictory wants.

    Each RUN is a run id, a unique prefix of one, `last`, a study, or the path of a bundle or of its
    .tar.gz. No database is needed.
    """
    from dyno.cli import _size_read, _size_text
    from dyno.decide.size import wants, whatif
    from dyno.decide.size.sizing import size
    from dyno.errors import EXIT_DONE

    asked = wants.read(_wanted(wanted))
    instead = whatif.read(wants.pairs(given, "--what-if"))
    by_run = wants.pairs(levels, "--raid-of")
    with _size_read.judged(options.out, runs) as found:
        measured = _size_read.evidence(found, _levels(by_run, found), mixed=mixed)
        sizing = size(measured, asked, instead)
        if options.as_json:
            last = found[-1].bundle
            reasons = [
                {"run": one.bundle.run.run, **reason.model_dump()}
                for one in found
                for reason in one.bundle.run.validity.reasons
            ]
            head = {
                "run": last.run.run,
                "bundle": str(last.place),
                "valid": not reasons,
                "reasons": reasons,
                "runs": [one.bundle.run.run for one in found],
            }
            click.echo(plainjson.dumps({**head, **_size_text.document(sizing)}))
            return EXIT_DONE
        for one in found:
            codes = dict.fromkeys(reason.code for reason in one.bundle.run.validity.reasons)
            if codes:
                click.echo(shown(f"! {one.bundle.run.run} is DISTURBED: {', '.join(codes)}."))
        columns = min(160, shutil.get_terminal_size().columns)
        click.echo(shown("\n".join(_size_text.lines(sizing, columns))))
    return EXIT_DONE


def _wanted(texts: tuple[str, ...]) -> dict[str, str]:
    """All wants by name; those of a file first.

    Raises:
        UsageError: If a file cannot be read, or a name is given twice.
    """
    from dyno.decide.size.wants import of_file, pairs
    from dyno.safety import toml

    found: dict[str, str] = {}
    words: list[str] = []
    for text in texts:
        if "=" not in text and (text.endswith(".toml") or Path(text).is_file()):
            found |= of_file(toml.text_of(Path(text), f"the wants {text}"), text)
        else:
            words.append(text)
    return {**found, **pairs(words, "--want")}


def _levels(by_run: dict[str, str], found: list[Judged]) -> dict[str, str]:
    """RAID levels by run id.

    Raises:
        UsageError: If a run is not among those named, or a level is unknown.
    """
    from dyno.decide.size.raid import PENALTY, level_of
    from dyno.errors import UsageError, unknown

    levels: dict[str, str] = {}
    for name, text in by_run.items():
        runs = [one.bundle.run.run for one in found if one.bundle.run.run.startswith(name)]
        if len(runs) != 1:
            raise UsageError(f"--raid-of {name}: name one of the runs.")
        level = level_of(text if text.lower().startswith("raid") else f"raid{text}")
        if level is None:
            raise unknown("RAID level", text, PENALTY)
        levels[runs[0]] = level
    return levels
