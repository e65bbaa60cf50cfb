"""The job of ``dyno check``: verifies loaded data and records the result."""

from __future__ import annotations

from dyno import targets, workloads
from dyno.bundle.model import Check
from dyno.errors import UsageError
from dyno.plans.check import CheckPlan
from dyno.runner import stages
from dyno.runner.databases import loaded_in_all, require_databases
from dyno.runner.session import Job, Session
from dyno.stages.load import check, check_isolation


def job(asked: CheckPlan) -> Job:
    """Turns the plan into a job. Starts and changes nothing.

    Raises:
        UsageError: If options are mutually exclusive, or the workload or target does not support
            them.
    """
    chosen = workloads.named(asked.workload)
    workload, databases, level = chosen.name, asked.databases, asked.level
    parsed = targets.parse(asked.target)
    scale = None if asked.scale is None else chosen.parse_scale(asked.scale)
    if asked.answers and not chosen.queries:
        raise UsageError(f"{chosen.called} has no queries; remove --answers.")
    if asked.isolation and chosen.isolation is None:
        raise UsageError(f"{chosen.called} has no isolation tests; remove --isolation.")
    if level is not None and not asked.isolation:
        raise UsageError("--level requires --isolation.")
    require_databases(parsed, asked.out, databases)

    def body(session: Session) -> None:
        with session.target(asked.target) as target:
            every = loaded_in_all(target, workload, scale, databases)
            checks: list[Check] = []
            for name in every if asked.isolation else ():
                with session.events.phase(f"Isolation of {name} in {target.name}"):
                    checks += check_isolation(session.recorder, target, name, level)
            for name, held in every.items():
                with session.events.phase(f"Check {name} in {target.name}"):
                    checks += check(session.recorder, target, name, held, "run")
            for name, held in every.items() if asked.answers else ():
                checks += stages.asked(session, [(target, held)], name)
            if not checks:
                reason = "skipped: the file has no check for data after a run"
                checks.append(Check(name="checks", target=target.name, passed=None, message=reason))
                session.recorder.add_checks(checks)
            for item in checks:
                mark = {True: "ok", False: "FAILED", None: "skipped"}[item.passed]
                session.events.say(f"  {mark:8}{item.name}: {item.message}")

    record = {
        "target": parsed.redacted,
        "scale": scale,
        "databases": databases,
        "answers": asked.answers,
        "isolation": asked.isolation,
        "level": level,
        **chosen.record,
    }
    return Job(asked, record, (workload,), asked.out, body)
