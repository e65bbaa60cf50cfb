"""``dyno run``: queries or transactions against loaded data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dyno.cli import _criteria, _findmax, _limits, _rates, _settings
from dyno.cli._belong import require_own
from dyno.cli._options import Options, common
from dyno.cli._run import beside as _beside
from dyno.cli._run import levels as _levels
from dyno.cli._run import queries as _queries
from dyno.cli._run import sections
from dyno.cli._run.examples import EXAMPLES
from dyno.cli._run.together import require_together
from dyno.cli._strictly import SEED
from dyno.cli._work import conduct, typed
from dyno.runner.dss import run_tests
from dyno.runner.transactions import run_transactions

if TYPE_CHECKING:
    from dyno.runner.findmax import Asked
    from dyno.runner.session import Session


@click.command(
    "run",
    cls=sections.SectionedCommand,
    short_help="Run a workload on a target.",
    epilog=EXAMPLES,
)
@click.argument("workload")
@click.option("--target", "url", required=True, help="URL of the database, or embedded:NAME.")
@click.option("--scale", type=float, help="Refuse to run unless this scale is loaded.")
@click.option("--seed", type=SEED, default=1, show_default=True)
@sections.TRANSACTIONS.of(_levels.options)
@sections.TRANSACTIONS.of(_rates.options)
@sections.CRITERIA.of(_criteria.options)
@sections.SEARCH.of(_findmax.options)
@sections.QUERIES.of(_queries.options)
@sections.MAINTENANCE.of(_beside.options)
@_settings.options
@_limits.options
@common
def command(
    workload: str,
    url: str,
    scale: float | None,
    seed: int,
    levels: _levels.Levels,
    pace: _rates.Given,
    criteria: _criteria.Asked,
    find_max: Asked,
    queries: _queries.Queries,
    beside: _beside.Beside,
    given: _settings.Given,
    bounds: _limits.Bounds,
    options: Options,
) -> int:
    """Run WORKLOAD: the 22 queries of tpch, or tpcc transactions as N users.

    The power test runs the queries as one user, the throughput test as several at once, each with
    an order of its own; the refresh functions insert new orders and delete them again. A full
    test is refresh function 1, power test, refresh function 2, throughput test with refreshes:
    only with both functions is there a power, throughput and composite figure.

    Answers and consistency are proven every time; a run that fails the proof, or in which the
    client was the bottleneck, is marked invalid with the reason.

    With --during the work goes on for --duration, then the maintenance starts beside it, and after
    its end the work goes on for as long again: the sheet compares the three.

    With --databases each of the databases that `dyno load --databases` made has --users, all at
    the same time; the figures are those of their sum, and of each. A --rate is that of the sum:
    each database has an equal share of it, with gaps of its own.

    Each level of transactions must keep every --criterion: one that is not kept makes the exit
    code 1, but the run not invalid. The usual limits are judged and shown, too, and decide
    nothing. A limit without data is not judged.

    With --find-max the load grows until a limit breaks, the gap is narrowed to 5 %, and the
    largest load that keeps the limits is confirmed by a second window. Where nothing happens that
    an --slo limits, as no reads where all data is in memory, it is not judged and stops nothing;
    the run says so, and is not valid if no limit was judged at the maximum.
    """
    from dyno import targets, workloads
    from dyno.runner.during import require_able
    from dyno.runner.session import Job

    chosen = workloads.named(workload)
    context = click.get_current_context()
    require_own(context, chosen)
    parsed = targets.parse(url)
    choice = queries.choice
    choice.require_streams(beside.during)
    rates, duration_s = pace.rates(context, levels.duration_s(searched=find_max.by is not None))
    require_together(
        {
            "--rate": bool(rates),
            "a --rate that changes": any(rate.changes for rate in rates),
            "--think": levels.think,
            "--until-steady": levels.until_steady is not None,
            "--during": beside.during is not None,
            "--find-max": find_max.by is not None,
            "--find-max rate": find_max.by == "rate",
            "--criterion": bool(criteria.criterion),
        }
    )
    settings: dict[str, Any] = {
        "seed": seed,
        **levels.record(),
        "duration_s": duration_s,
        "rates": [rate.plan() for rate in rates],
        "arrivals": "poisson" if pace.poisson else "fixed",
        **queries.record(),
        **beside.record(),
    }
    levels.require(duration_s)
    needed = {
        chosen.kind: True,
        "cold": settings["cache"].startswith("cold"),
        "procedure": levels.mode == "procedure",
        "refresh": bool(choice.refresh),
    }
    for capability, asked in needed.items():
        if asked:
            targets.require(parsed, options.out, capability)
    confinement = bounds.of(parsed, options.out)
    tuned = given.of(parsed, options.out, confinement)
    if scale is not None:
        scale = chosen.parse_scale(scale)
    require_able(parsed, options.out, settings)
    kept = criteria.of(chosen)
    search = find_max.of(chosen, {**settings, "users": levels.users})
    if search is not None:
        settings |= search.record()
        if search.dry_run:
            click.echo("\n".join(search.plan()))
            return 0
    elif chosen.kind == "oltp":
        settings["criteria"] = [criterion.record() for criterion in kept]

    def body(session: Session) -> None:
        if chosen.kind == "dss":
            run_tests(session, url, workload, scale, choice, settings)
        else:
            run_transactions(session, url, workload, scale, settings, rates, search)

    record = {"target": parsed.redacted, "scale": scale, **settings, **choice.facts()}
    asked = (tuned, confinement)
    out = options.out
    return conduct(Job("run", out, record, typed(), (workload,), out, body, *asked), options)
