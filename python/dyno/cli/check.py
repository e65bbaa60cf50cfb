"""``dyno check``: is what is loaded whole and consistent?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dyno.cli._options import Options, common, databases_option, examples
from dyno.cli._work import conduct, typed

if TYPE_CHECKING:
    from dyno.bundle.model import Check


@click.command(
    "check",
    short_help="Prove what is loaded: counts, answers, consistency.",
    epilog=examples(
        "dyno check tpcc --target embedded:postgresql",
        "dyno check tpch --target duckdb:///tmp/dss.duckdb",
        "dyno check tpch --target embedded:duckdb --answers",
        "dyno check tpcc --target embedded:postgresql --databases 4",
        "dyno check tpcc --target embedded:postgresql --isolation",
        "dyno check tpcc --target embedded:postgresql --isolation --databases 4",
        "dyno check tpcc --target URL --isolation --level repeatable-read",
    ),
)
@click.argument("workload")
@click.option("--target", "url", required=True, help="URL of the database, or embedded:NAME.")
@click.option("--scale", type=float, help="The scale that should be loaded.")
@databases_option
@click.option("--answers", is_flag=True, help="Ask all queries too, and prove their answers.")
@click.option("--isolation", is_flag=True, help="tpcc: also play the nine isolation scenarios.")
@click.option(
    "--level",
    metavar="NAME",
    help="Isolation level of their transactions.  [default: the target's own]",
)
@common
def command(
    workload: str,
    url: str,
    scale: float | None,
    databases: int,
    answers: bool,
    isolation: bool,
    level: str | None,
    options: Options,
) -> int:
    """Check the data of WORKLOAD in a target; every condition that fails is shown with its rows.

    tpch: row counts, keys and sums of columns; with --answers also the 22 queries, against the
    answers that Dyno ships for scale 0.01 and 1. tpcc: rows of the tables that transactions add
    none to, and consistency conditions 1 to 10 and 12 (11 holds only just after a load).

    With --isolation sessions that overlap prove that nobody sees what is not committed, and that no
    change is lost. The orders and payments that they commit stay, as after a run. At read-committed
    the last three scenarios cannot hold: they ask for repeatable-read. With --databases N they are
    played in each.
    """
    from dyno import targets, workloads
    from dyno.errors import UsageError
    from dyno.runner import stages
    from dyno.runner.databases import loaded_in_all, require_databases
    from dyno.runner.session import Job, Session
    from dyno.stages.load import check, check_isolation

    chosen = workloads.named(workload)
    parsed = targets.parse(url)
    if scale is not None:
        scale = chosen.parse_scale(scale)
    if answers and not chosen.queries:
        raise UsageError(f"{workload} has no queries to ask; leave --answers out.")
    if isolation and chosen.isolation is None:
        raise UsageError(f"{workload} has no isolation scenarios; leave --isolation out.")
    if level is not None and not isolation:
        raise UsageError("--level is for --isolation; give that, too.")
    if databases > 1 and answers:
        raise UsageError("--databases excludes --answers: those are of one.")
    require_databases(parsed, options.out, databases)

    def body(session: Session) -> None:
        with session.target(url) as target:
            every = loaded_in_all(target, workload, scale, databases)
            found = every[workload]
            checks: list[Check] = []
            for name in every if isolation else ():
                with session.events.phase(f"Isolation of {name} in {target.name}"):
                    checks += check_isolation(session.recorder, target, name, level)
            for name, held in every.items():
                with session.events.phase(f"Check {name} in {target.name}"):
                    checks += check(session.recorder, target, name, held, "run")
            if answers:
                checks += stages.asked(session, target, workload, found.scale)
            for item in checks:
                mark = {True: "ok", False: "FAILED", None: "skipped"}[item.passed]
                session.events.say(f"  {mark:8}{item.name}: {item.message}")

    record = {
        "target": parsed.redacted,
        "scale": scale,
        "databases": databases,
        "answers": answers,
        "isolation": isolation,
        "level": level,
    }
    job = Job("check", options.out, record, typed(), (workload,), options.out, body)
    return conduct(job, options)
