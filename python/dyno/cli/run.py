"""``dyno run``: queries or transactions against loaded data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dyno.cli import _criteria, _findmax, _rates, _settings
from dyno.cli._belong import require_own
from dyno.cli._dss import PARAMETERS, TESTS, Choice, run_tests
from dyno.cli._options import Options, common, databases_option, examples, parse_seconds

if TYPE_CHECKING:
    from dyno.cli._findmax import Search
    from dyno.cli._session import Session
    from dyno.rates import Rate

MODES = ("client", "procedure")


@click.command(
    "run",
    short_help="Run a workload on a target.",
    epilog=examples(
        "dyno run tpch --target embedded:duckdb",
        "dyno run tpch --target embedded:duckdb --test full",
        "dyno run tpch --target embedded:postgresql --test throughput --streams 4",
        "dyno run tpch --target embedded:postgresql --set grant=64MB --cold",
        "dyno run tpcc --target embedded:postgresql --users 16 --duration 60s",
        "dyno run tpcc --target embedded:postgresql --users 1 --users 4 --users 16",
        "dyno run tpcc --target embedded:postgresql --users 32 --rate 500 --rate 900",
        "dyno run tpcc --target embedded:postgresql --users 32 --rate 100..1000",
        "dyno run tpcc --target embedded:postgresql --users 50 --think",
        "dyno run tpcc --target embedded:postgresql --users 16 --mode procedure",
        "dyno run tpcc --target embedded:postgresql --users 8 --during reindex",
        "dyno run tpcc --target embedded:postgresql --users 8 --databases 4",
        "dyno run tpcc --target embedded:postgresql --users 8 --criterion 'cpu<70%'",
        "dyno run tpcc --target embedded:postgresql --users 8 --until-steady 10m",
        "dyno run tpcc --target embedded:postgresql --find-max --slo 'cpu < 70 %'",
        "dyno run tpcc --target null: --find-max rate --slo 'new_order p95 < 500ms'",
        "dyno run tpch --target embedded:duckdb --streams 2 --during integrity-check",
        "dyno run tpch --target embedded:sqlite --during backup",
        "dyno run tpch --target embedded:duckdb --analyse-plans",
        "dyno run tpcc --target 'null:?mean_us=500' --users 8   the driver alone",
    ),
)
@click.argument("workload")
@click.option("--target", "url", required=True, help="URL of the database, or embedded:NAME.")
@click.option("--scale", type=float, help="Refuse to run unless this scale is loaded.")
@click.option(
    "--users", type=click.IntRange(1, 100_000), multiple=True, help="Users; repeat for levels."
)
@databases_option
@click.option("--duration", help="Measured time a level.  [default: 60s; 15s with --find-max]")
@click.option("--warmup", default="5s", show_default=True, help="Time before measuring.")
@click.option(
    "--until-steady",
    metavar="LIMIT",
    help="Transactions: go on until --duration of them in a row are steady, at most so long.",
)
@_rates.options
@click.option("--think", is_flag=True, help="Users key and think as the workload prescribes.")
@click.option(
    "--home",
    type=click.Choice(("fixed", "random", "all")),
    default="random",
    show_default=True,
    help="Warehouse of a user: always one, one drawn each time, all in turn.",
)
@click.option(
    "--mode",
    type=click.Choice(MODES),
    default=MODES[0],
    show_default=True,
    help="Transactions: statements of the client, or procedures in the database.",
)
@click.option(
    "--reconnect",
    default="5s",
    show_default=True,
    help="Users who lose the server try that long to come back.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option(
    "--test",
    type=click.Choice(TESTS),
    help="Queries: one user, several at once, or both.  [default: power]",
)
@click.option(
    "--streams",
    type=click.IntRange(1, 1000),
    help="Queries: users of the throughput test, and beside --during.  [default: by scale, 2 at "
    "1; beside --during without that test 1]",
)
@click.option(
    "--parameters",
    type=click.Choice(PARAMETERS),
    help="Queries: the fixed parameters, or drawn by --seed.  [default: validation for --test "
    "power, else seeded]",
)
@click.option(
    "--refresh/--no-refresh",
    default=None,
    help="Queries: also insert and delete orders.  [default: not with --test power]",
)
@click.option("--no-warming", is_flag=True, help="Power test: measure the first pass.")
@click.option("--cold", is_flag=True, help="Queries: begin with caches that are proven empty.")
@click.option("--cold-each-query", is_flag=True, help="Power test: so before each query.")
@click.option("--timeout", default="10m", show_default=True, help="Queries: give up after.")
@click.option(
    "--during", metavar="NAME", help="Meanwhile: integrity-check, reindex, backup or vacuum."
)
@click.option("--during-limit", default="1h", show_default=True, help="Stop that after.")
@click.option("--plans", is_flag=True, help="Queries: keep the plan of each.")
@click.option("--analyse-plans", is_flag=True, help="Queries: run each once more for its plan.")
@_criteria.options
@_findmax.options
@click.option(
    "--no-query-figures",
    "query_figures",
    is_flag=True,
    default=True,
    flag_value=False,
    help="Queries: do not ask the engine what each one read, spilled and held.",
)
@_settings.options
@common
def command(
    workload: str,
    url: str,
    scale: float | None,
    users: tuple[int, ...],
    databases: int,
    duration: str | None,
    warmup: str,
    until_steady: str | None,
    pace: _rates.Given,
    think: bool,
    home: str,
    mode: str,
    reconnect: str,
    seed: int,
    test: str | None,
    streams: int | None,
    parameters: str | None,
    refresh: bool | None,
    no_warming: bool,
    cold: bool,
    cold_each_query: bool,
    timeout: str,
    during: str | None,
    during_limit: str,
    plans: bool,
    analyse_plans: bool,
    criteria: _criteria.Asked,
    find_max: _findmax.Asked,
    query_figures: bool,
    given: _settings.Given,
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
    the same time; the figures are those of their sum, and of each.

    Each level of transactions must keep every --criterion: one that is not kept makes the exit
    code 1, but the run not invalid. The usual limits are judged and shown, too, and decide
    nothing. A limit without data is not judged.

    With --find-max the load grows until a limit breaks, the gap is narrowed to 5 %, and the
    largest load that keeps the limits is confirmed by a second window. Where nothing happens that
    an --slo limits, as no reads where all data is in memory, it is not judged and stops nothing;
    the run says so, and is not valid if no limit was judged at the maximum.
    """
    from dyno import targets, workloads
    from dyno.cli._cold import cache_word
    from dyno.cli._during import require_able
    from dyno.cli._session import run_session
    from dyno.errors import UsageError
    from dyno.targets import maintenance

    chosen = workloads.named(workload)
    context = click.get_current_context()
    require_own(context, chosen)
    parsed = targets.parse(url)
    targets.require(parsed, options.out, chosen.kind)
    choice = Choice(test, streams, parameters, refresh)
    choice.require_streams(during)
    # Only the power test has a pass for warming.
    cache = cache_word(
        cold=cold, each=cold_each_query, no_warming=no_warming or not choice.has_power
    )
    if cache.startswith("cold"):
        targets.require(parsed, options.out, "cold")
    if mode == "procedure":
        targets.require(parsed, options.out, "procedure")
    asked = given.of(parsed, options.out)
    if scale is not None:
        scale = chosen.parse_scale(scale)
    rates, duration_s = pace.rates(
        context, parse_seconds(duration or ("60s" if find_max.by is None else "15s"))
    )
    _require_load(users, rates, think=think, beside=during is not None)
    if cold_each_query:
        choice.require_power("--cold-each-query")
    if choice.refresh:
        targets.require(parsed, options.out, "refresh")
    settings: dict[str, Any] = {
        "users": list(users) or [1],
        "databases": databases,
        "duration_s": duration_s,
        "warmup_s": parse_seconds(warmup),
        "rates": [rate.plan() for rate in rates],
        "arrivals": "poisson" if pace.poisson else "fixed",
        "think": think,
        "home": home,
        "mode": mode,
        "reconnect_s": parse_seconds(reconnect),
        "seed": seed,
        "cache": cache,
        "timeout_s": parse_seconds(timeout),
        "during": None if during is None else maintenance.parse(during),
        "during_limit_s": parse_seconds(during_limit),
        "plans": plans or analyse_plans,
        "analyse_plans": analyse_plans,
        "until_steady_s": None if until_steady is None else parse_seconds(until_steady),
        "query_figures": query_figures,
    }
    require_able(parsed, options.out, settings)
    kept = criteria.of(chosen)
    search = find_max.of(chosen, {**settings, "users": users, "rate_per_s": rates or None})
    _require_until_steady(settings, chosen.kind, search, rates)
    _require_alone(settings, rates=bool(rates), searched=search is not None)
    if search is not None:
        if criteria.texts:
            raise UsageError("With --find-max the limits are those of --slo, not of --criterion.")
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
            _transactions(session, url, workload, scale, settings, rates, search)

    record = {"target": parsed.redacted, "scale": scale, **settings, **choice.facts()}
    return run_session(options, "run", record, (workload,), options.out, body, asked)


def _require_load(users: tuple[int, ...], rates: list[Rate], *, think: bool, beside: bool) -> None:
    from dyno.errors import UsageError

    if rates and think:
        raise UsageError("--rate and --think exclude each other: a rate sets the pace itself.")
    if beside and any(rate.changes for rate in rates):
        raise UsageError("--during compares with the time before: give a --rate that stays.")
    if len(set(users)) < len(users):
        raise UsageError("Give each number of --users once.")


def _require_alone(settings: dict[str, Any], *, rates: bool, searched: bool) -> None:
    """Refuses what is of one database only."""
    from dyno.errors import UsageError

    alone = {
        "--rate": rates,
        "--during": settings["during"] is not None,
        "--mode procedure": settings["mode"] == "procedure",
        "--find-max": searched,
        "--until-steady": settings["until_steady_s"] is not None,
    }
    given = [name for name, asked in alone.items() if asked]
    if given and settings["databases"] > 1:
        raise UsageError(f"--databases excludes {' and '.join(given)}: those are of one database.")


def _require_until_steady(
    settings: dict[str, Any], kind: str, search: Search | None, rates: list[Rate]
) -> None:
    from dyno.errors import UsageError

    limit_s = settings["until_steady_s"]
    if limit_s is None:
        return
    if kind != "oltp" or search is not None or settings["during"] is not None:
        raise UsageError(
            "--until-steady is for levels of transactions, without --find-max or --during."
        )
    if any(rate.changes for rate in rates):
        raise UsageError(
            "--until-steady needs a --rate that stays: one that changes never settles."
        )
    if limit_s < settings["duration_s"]:
        raise UsageError("--until-steady must not be shorter than --duration.")


def _transactions(
    session: Session,
    url: str,
    workload: str,
    scale: float | None,
    settings: dict[str, Any],
    rates: list[Rate],
    search: Search | None,
) -> None:
    from dyno.analyse.steady import settled
    from dyno.cli import _stages as stages
    from dyno.cli._databases import loaded_in_all
    from dyno.cli._during import before_start, during_plan
    from dyno.cli._layout import note_layout
    from dyno.cli._search import find_max
    from dyno.drive import OltpPlan, UntilSteadyPlan, interval_for
    from dyno.workloads.tpcc.pace import crowd

    with session.target(url, before_start(settings)) as target:
        every = loaded_in_all(target, workload, scale, settings["databases"])
        found = every[workload]
        note_layout(session, target, found)
        crowded = crowd(max(settings["users"]), found.scale) if settings["think"] else None
        if crowded is not None:
            session.console.warn(crowded)
        plans = [
            OltpPlan(
                workload,
                found,
                users,
                settings["warmup_s"],
                settings["duration_s"],
                settings["seed"],
                rate_per_s=rate,
                poisson=settings["arrivals"] == "poisson",
                think=settings["think"],
                home=settings["home"],
                interval_s=1.0 if search is None else interval_for(settings["duration_s"]),
                mode=settings["mode"],
                reconnect_s=settings["reconnect_s"],
            )
            for users in settings["users"]
            for rate in rates or [None]
        ]
        if len(every) > 1:
            stages.levels_of_several(session, target, plans, every)
            return
        if search is not None:
            stages.programmed(session, target, plans[0])
            find_max(session, target, search, plans[0])
            stages.consistency(session, target, plans[0])
            return
        limit_s = settings["until_steady_s"]
        extension = None if limit_s is None else UntilSteadyPlan(limit_s, settled)
        stages.levels(session, target, plans, during_plan(settings), extension)
