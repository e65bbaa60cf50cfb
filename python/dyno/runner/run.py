"""The job of ``dyno run``: runs queries or transactions."""

from __future__ import annotations

from dyno import targets, workloads
from dyno.errors import UsageError
from dyno.plans.run import RunPlan
from dyno.runner.dss import run_tests
from dyno.runner.during import require_able
from dyno.runner.engine import changeable, confinement_of, settings_of
from dyno.runner.findmax import search_of
from dyno.runner.session import Job, Session
from dyno.runner.transactions import run_transactions


def job(asked: RunPlan) -> Job:
    """Turns the plan into a job. Starts and changes nothing.

    Raises:
        UsageError: If options are mutually exclusive, or the target does not support them.
        TargetError: If the target cannot be used.
    """
    chosen = workloads.named(asked.workload)
    asked.require_own(chosen)
    if chosen.kind == "oltp":
        asked.require_able(chosen)
    parsed = targets.parse(asked.target)
    asked.require_streams(asked.during)
    rates, duration_s = asked.paced()
    settings = asked.record(rates, duration_s)
    asked.require_levels(duration_s)
    needed = {
        chosen.kind: True,
        "cold": settings["cache"].startswith("cold"),
        "procedure": asked.mode == "procedure",
        "refresh": bool(asked.refresh),
    }
    for capability, wanted in needed.items():
        if wanted:
            targets.require(parsed, asked.out, capability)
    if asked.confirm_limit and asked.databases > 1:
        raise UsageError("--confirm-limit and --databases exclude each other.")
    confinement = (changeable if asked.confirm_limit else confinement_of)(asked, parsed)
    tuned = settings_of(asked, parsed, confinement)
    scale = None if asked.scale is None else chosen.parse_scale(asked.scale)
    require_able(parsed, asked.out, settings)
    kept = asked.criteria(chosen)
    search = search_of(asked, chosen, {**settings, "users": asked.users})
    if search is not None:
        settings |= search.record()
    elif chosen.kind == "oltp":
        settings["criteria"] = [criterion.record() for criterion in kept]

    def body(session: Session) -> None:
        if chosen.kind == "dss":
            run_tests(session, asked, scale, settings)
        else:
            run_transactions(session, asked, scale, settings, rates, search)

    record = {"target": parsed.redacted, "scale": scale, **settings, **asked.tests_record()}
    outline = () if search is None else tuple(search.plan())
    expected_s = None
    if chosen.kind == "oltp" and search is None and asked.until_steady is None:
        loads = max(1, len(rates) or len(asked.users))
        warmup_s = settings["warmup_s"]
        expected_s = loads * (duration_s * (3 if asked.during else 1) + warmup_s)
    return Job(
        asked, record, (asked.workload,), asked.out, body, tuned, confinement, outline=outline,
        expected_s=expected_s,
    )  # fmt: skip
