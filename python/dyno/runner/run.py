"""The job of ``dyno run``: runs queries or transactions."""

from __future__ import annotations

from typing import Any

from dyno import targets, workloads
from dyno.contracts.target import TargetUrl, Texts
from dyno.contracts.workload import Workload
from dyno.errors import UsageError
from dyno.host.cpu import usable_cpus
from dyno.plans.run import RunPlan
from dyno.runner import accelerated
from dyno.runner.ahead import Part, of_queries
from dyno.runner.dss import run_tests
from dyno.runner.during import estimate_during, require_able
from dyno.runner.engine import changeable, confinement_of, settings_of
from dyno.runner.findmax import Search, search_of
from dyno.runner.mix.job import job as mix_job
from dyno.runner.mix.members import is_mix, own
from dyno.runner.session import Job, Session
from dyno.runner.transactions import run_transactions


def job(asked: RunPlan) -> Job:
    """Turns the plan into a job. Starts and changes nothing.

    Raises:
        UsageError: If options are mutually exclusive, or the target does not support them.
        TargetError: If the target cannot be used.
    """
    if is_mix(asked):
        return mix_job(asked)
    chosen = workloads.named(asked.workload)
    asked.require_alone()
    if asked.by_workload:
        asked = own(asked, chosen, [chosen])
    asked.require_own(chosen)
    if chosen.kind == "oltp":
        asked.require_able(chosen)
    else:
        asked = asked.for_queries()
    if asked.databases > 1 and not chosen.loads:
        raise UsageError(f"{chosen.called} has no tables, so --databases has nothing to copy.")
    parsed = targets.parse(asked.url)
    for query in chosen.queries:
        if query.written is not None:  # it may lack SQL for this target
            query.written(query.validation(1.0), parsed.name, Texts())
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
        raise UsageError("--confirm-limit and --databases cannot be combined.")
    confinement = (changeable if asked.confirm_limit else confinement_of)(asked, parsed)
    tuned = settings_of(asked, parsed, confinement)
    cache = accelerated.wanted(asked, parsed, chosen.kind)
    scale = None if asked.scale is None else chosen.parse_scale(asked.scale)
    require_able(parsed, asked.out, chosen, settings)
    kept = asked.criteria(chosen)
    search = search_of(asked, chosen, {**settings, "users": asked.users})
    if search is not None:
        settings |= search.record()
    elif chosen.kind == "oltp":
        settings["criteria"] = [criterion.record() for criterion in kept]

    def body(session: Session) -> None:
        if asked.estimate_only:
            estimate_during(session, asked, chosen.name, scale, settings)
        elif chosen.kind == "dss":
            run_tests(session, asked, chosen.name, scale, settings)
        else:
            run_transactions(session, asked, chosen.name, scale, settings, rates, search)

    record = {
        "target": parsed.redacted, "scale": scale, **settings, **asked.tests_record(),
        **({"refresh": False} if chosen.refresh is None else {}), **chosen.record,
    }  # fmt: skip
    shown = chosen.preview(scale or 1.0, asked.seed) if chosen.preview else []
    outline = (*shown, *(() if search is None else search.plan()))
    return Job(
        asked, record, (chosen.name,), asked.out, body, tuned, confinement, outline=outline,
        parts=_parts(asked, chosen, {**settings, "duration_s": duration_s}, search), cache=cache,
        question=_question(chosen, parsed),
    )  # fmt: skip


def _question(chosen: Workload, url: TargetUrl) -> str:
    """Asks before transactions change or lock rows of tables that Dyno did not create."""
    if not chosen.changes or url.scheme == "null":
        return ""
    named = ", ".join(chosen.changes)
    what = f"{named} of {chosen.called} change or lock rows of existing tables"
    return f"{what} in {url.redacted}. Run them?"


def _parts(
    asked: RunPlan, chosen: Workload, settings: dict[str, Any], search: Search | None
) -> list[Part]:
    """The parts of the run: a search at most, an extended level at its limit."""
    if search is not None:
        return [Part(search.step_s)] * search.windows
    around = 3 if asked.during else 1  # before, during and after maintenance
    window_s = around * settings["duration_s"]
    if chosen.kind == "oltp":
        window_s = settings["until_steady_s"] or window_s
        levels = len(settings["users"]) * max(1, len(settings["rates"]))
        return [Part(settings["warmup_s"] + window_s)] * levels
    scale = asked.scale or 1.0
    passes: list[float] = []
    if asked.has_power:
        passes.append(2.0 if settings["cache"] == "warm" else 1.0)
    if asked.has_streams:
        streams = asked.streams or chosen.streams(scale)
        passes.append(max(1.0, streams * asked.databases / usable_cpus()))
    if settings["plans"]:
        passes.append(1.0 if settings["analyse_plans"] else 0.0)
    if chosen.given:  # there is no rule of thumb for queries of one's own
        return []
    parts = of_queries(scale, targets.parse(asked.url), *passes)
    return [*parts, Part(window_s)] if asked.during else parts
