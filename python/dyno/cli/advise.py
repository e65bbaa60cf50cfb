"""``dyno advise``: best practices that are checked, and the top consumers of reads."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dyno.cli._options import Options, common, examples
from dyno.cli._strictly import TIME

if TYPE_CHECKING:
    from dyno.decide.advise.system import System, Work


@click.command(
    "advise",
    short_help="Check best practices, and show the top consumers of reads.",
    epilog=examples(
        "dyno advise                       this machine, and its newest run",
        "dyno advise last                  what the newest run recorded",
        "dyno advise postgresql://app@localhost/shop",
        "dyno advise embedded:postgresql --work dss --all",
        "dyno advise --rule huge-pages postgresql://app@localhost/shop",
        "dyno advise last --write advice   layouts and studies of partitions",
        "dyno advise --prove last          the study of the advice; --yes runs it",
    ),
)
@click.argument("subjects", metavar="[TARGET|RUN]...", nargs=-1)
@click.option(
    "--work", type=click.Choice(["oltp", "dss", "load"]),
    help="What the database does; some rules depend on it.  [default: what the run did]",
)  # fmt: skip
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Also list rules that pass, do not apply or are not readable.",
)
@click.option("--rule", metavar="NAME", help="Explain one rule, with its outcome here.")
@click.option(
    "--top", type=click.IntRange(1, 1000), default=20, show_default=True,
    help="Number of statements, tables and indexes to list.",
)  # fmt: skip
@click.option(
    "--write", metavar="FOLDER", type=click.Path(path_type=Path, file_okay=False),
    help="Write the advised layouts and the studies that test them.",
)  # fmt: skip
@click.option("--prove", is_flag=True, help="Test the advice by a study of the same work.")
@click.option(
    "--pairs", type=click.IntRange(2, 1000), default=5, show_default=True,
    help="With --prove: runs of each variant.",
)  # fmt: skip
@click.option(
    "--time-limit", type=TIME, help="With --prove: start no new pair of runs after this time."
)
@common
def command(
    subjects: tuple[str, ...],
    work: Work | None,
    every: bool,
    rule: str | None,
    top: int,
    write: Path | None,
    prove: bool,
    pairs: int,
    time_limit: str | None,
    options: Options,
) -> int:
    """Check best practices on a live system or a run, and show the top consumers of its reads.

    TARGET is the URL of a database; RUN is a run or a recording of `dyno watch`: an id, a unique
    prefix of one, `last`, or the path of a bundle or of its .tar.gz. Without either, Dyno checks
    this machine, the volume of --out, and the databases of the newest run there.

    Dyno only reads the system. It prints what each violated rule found, what it recommends and
    the commands that fix it; it never runs them. A private engine is started and stopped. The exit
    code is 1 if a rule is violated. The severity says what is at stake: high, medium or low.
    --write writes files for the advice that a study can test.

    With --prove, Dyno shows the study that tests the advice: the same work, unchanged and with each
    change, in alternating order. It asks before it runs the study; --yes runs it. For a TARGET,
    its newest run under --out is repeated. The study loads its own data: into a private
    engine, or into the database that the run used, in place of the workload's tables there.
    """
    from dyno.cli import _advice, _proving
    from dyno.decide.advise.section import Asked
    from dyno.errors import UsageError

    if rule is not None:
        _advice.require_rule(rule)
        if prove:
            raise UsageError(
                "--rule explains one rule; --prove tests all advice. Omit one of them."
            )
    if prove and len(subjects) > 1:
        raise UsageError("--prove repeats one run: name one RUN or TARGET.")
    with contextlib.ExitStack() as stack:
        systems = _systems(subjects, work, options, stack)
        asked = Asked(every=every, top=top)
        if rule is not None:
            return _advice.explain(systems, rule, as_json=options.as_json)
        found = _advice.advice(systems, asked)
        subject = subjects[0] if len(subjects) == 1 else None
        if prove:
            return _proving.prove(found, subject, pairs, time_limit, options)
        known = _proving.known(found, subject, options)
        return _advice.show(known, as_json=options.as_json, folder=write)


def _systems(
    subjects: tuple[str, ...], work: Work | None, options: Options, stack: contextlib.ExitStack
) -> list[System]:
    """The systems that the user names.

    Raises:
        UsageError: If the run or target does not exist.
        TargetError: If a target cannot be used.
    """
    from dyno.cli._bundles import named
    from dyno.cli._proving import is_url
    from dyno.runner import advise

    if not subjects:
        return advise.of_machine(options.out, work)
    found: list[System] = []
    for subject in subjects:
        if is_url(subject):
            found += advise.of_target(subject, options.out, work)
        else:
            bundle = stack.enter_context(named(options.out, subject))
            found += advise.of_run(bundle, work)
    return found
