"""``dyno check``: is what is loaded whole and consistent?"""

from __future__ import annotations

import click

from dyno.cli._options import Options, common, examples


@click.command(
    "check",
    short_help="Prove what is loaded: counts, answers, consistency.",
    epilog=examples(
        "dyno check tpcc --target embedded:postgresql",
        "dyno check tpch --target duckdb:///tmp/dss.duckdb",
        "dyno check tpch --target embedded:duckdb --answers",
    ),
)
@click.argument("workload")
@click.option("--target", "url", required=True, help="URL of the database, or embedded:NAME.")
@click.option("--scale", type=float, help="The scale that should be loaded.")
@click.option("--answers", is_flag=True, help="Ask all queries too, and prove their answers.")
@common
def command(
    workload: str,
    url: str,
    scale: float | None,
    answers: bool,
    options: Options,
) -> int:
    """Check the data of WORKLOAD in a target; every condition that fails is shown with its rows.

    tpch: row counts, keys and sums of columns; with --answers also the 22 queries, against the
    answers that Dyno ships for scale 0.01 and 1. tpcc: rows of the tables that transactions add
    none to, and consistency conditions 1 to 10 and 12 (11 holds only just after a load).
    """
    from dyno import targets, workloads
    from dyno.cli import _stages as stages
    from dyno.cli._session import Session, run_session
    from dyno.errors import UsageError
    from dyno.load import check

    chosen = workloads.get(workload)
    parsed = targets.parse(url)
    if scale is not None:
        scale = chosen.parse_scale(scale)
    if answers and not chosen.queries:
        raise UsageError(f"{workload} has no queries to ask; leave --answers out.")

    def body(session: Session) -> None:
        with session.target(url) as target:
            found = stages.loaded_data(target, workload, scale)
            with session.console.phase(f"Check {workload} in {target.name}"):
                checks = check(session.recorder, target, workload, found, "run")
            if answers:
                checks += stages.asked(session, target, workload, found.scale)
            for item in checks:
                mark = {True: "ok", False: "FAILED", None: "skipped"}[item.passed]
                session.console.say(f"  {mark:8}{item.name}: {item.message}")

    record = {"target": parsed.redacted, "scale": scale, "answers": answers}
    return run_session(options, "check", record, (workload,), options.out, body)
