"""The JSON document of a run: the headline metrics for other programs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from dyno import workloads
from dyno.bundle import check_names, metrics
from dyno.bundle.carriers import of_target
from dyno.bundle.metrics.during import PARTS, STEPS
from dyno.bundle.model import Estimate, Finding, Phase
from dyno.bundle.phases.maintenance import MaintenanceDetail
from dyno.bundle.reader import Bundle
from dyno.contracts.databases import numbers
from dyno.contracts.workload import Workload
from dyno.report.run import cache, certify, mix, volumes, watched
from dyno.report.run.levels import bounds, level_entry
from dyno.report.run.page import Page
from dyno.report.run.query_work import METRICS as WORK
from dyno.report.run.query_work import meter_sources
from dyno.report.run.steps import loads_that_stayed, steps
from dyno.report.run.trials import REFRESH_STREAM, SCORES, Trial, missing, scores, trials, unit
from dyno.report.storage.entry import entry


def document(
    bundle: Bundle, estimates: Iterable[Estimate], findings: Iterable[Finding]
) -> dict[str, Any]:
    """The run, its validity, its host, and the parts ``io``, ``workloads``, ``maintenance``.

    ``workloads`` has each workload that was loaded or run, by name; ``tpch`` and ``tpcc`` also have
    top-level keys, for older scripts. ``devices`` has the block devices by target and role (data,
    log, temp, partition-1 …), null if unknown; ``host.storage`` is that of the output folder;
    ``volumes`` has the metrics of those devices by phase. ``verdict`` is
    ``valid``, ``disturbed`` or ``invalid`` (null if not evaluated), ``valid`` is false for the last
    two, and each reason has a ``kind``; ``conclusion`` is one or two sentences. ``criteria`` has a
    result for each limit and level, ``capacity`` the result of a search, ``watch`` a recording,
    ``intervals`` those of a certificate, ``mix`` the windows of several workloads or targets at
    once, with their sums and the slowdown against each alone.
    Missing parts and values are null. ``unpaced`` levels exceed the maximum with keying and think
    times. Units are in the names: ``_mbps`` and ``mb_per_s`` are 10^6 bytes per second, ``_s``
    seconds, ``_ms`` milliseconds; an ``_interval`` is a 95 % confidence interval of the mean. Load
    rates count the bytes of the rows as ``.tbl`` files, whatever the target received.
    """
    page = Page.of(bundle, estimates, findings)
    run = page.run
    verdict = page.verdict
    found = _workloads(page)
    return {
        "run": run.run,
        "bundle": str(bundle.place),
        "verb": run.verb,
        "status": run.status,
        "valid": run.validity.valid,
        "verdict": run.validity.verdict,
        "reasons": [reason.model_dump() for reason in run.validity.reasons],
        "conclusion": verdict.message if verdict else None,
        "notices": list(run.notices),
        "host": run.host,
        "devices": {name: of_target(run, name) or None for name in run.targets},
        "device_notes": {
            name: list(facts.device_notes)
            for name, facts in run.targets.items()
            if facts.device_notes
        },
        "volumes": volumes.entries(page),
        "inside_notes": {
            name: list(facts.inside_notes)
            for name, facts in run.targets.items()
            if facts.inside_notes
        },
        "layout": run.plan.get("layout"),
        "settings": {
            name: [item.model_dump() for item in facts.tuned]
            for name, facts in run.targets.items()
            if facts.tuned
        },
        "limits": None if run.confined is None else run.confined.model_dump(),
        "cache": cache.summary(run),
        "io": entry(page),
        "workloads": found,
        **{name: found.get(name) for name in workloads.FIRST},
        "maintenance": [_maintenance(page, phase) for phase in page.phases_of(MaintenanceDetail)],
        "criteria": [item.model_dump() for item in page.criteria],
        "capacity": _capacity(page),
        "watch": watched.entry(page),
        **({"intervals": intervals} if (intervals := certify.entries(page)) else {}),
        **({"mix": mixed} if (mixed := mix.entry(page)) else {}),
    }


def _capacity(page: Page) -> dict[str, Any] | None:
    """The result of a search; ``low`` and ``high`` are the passing and the failing load."""
    if page.search is None:
        return None
    detail = page.search.detail
    main = page.transactions
    at = metrics.Capacity()
    found = {
        "tps": page.estimate(at.tps),
        main.per_min: page.estimate(at.per_min(main.plural)),
        "p95_ms": page.estimate(at.operation(main.main).response("p95")),
    }
    kept = ("load", "level", "step", "passed", "steady", "client_bound", "words")
    return {
        "by": detail.by,
        "best": detail.best,
        "failing": detail.failing,
        "unsettled": detail.unsettled,
        "confirmed": detail.confirmed,
        "monotone": detail.monotone,
        "stopped": detail.stopped,
        **{
            key: None if item is None else {"mean": item.value, "low": item.low, "high": item.high}
            for key, item in found.items()
        },
        "windows": [
            {
                **{key: getattr(window, key) for key in kept},
                "tps": page.value(of.tps),
                "tps_interval": bounds(page, of.tps),
                "p95_ms": page.value(of.operation(main.main).response("p95")),
            }
            for window in detail.windows
            for of in [metrics.Level(window.level)]
        ],
    }


def _beside(at: metrics.Beside) -> list[metrics.Key]:
    """Throughput before, during and after a maintenance operation, and its changes."""
    return [*(at.part(part).tps for part in PARTS), *_changes(at)]


def _changes(at: metrics.Beside) -> list[metrics.Key]:
    return [at.part(part).change_percent for part in PARTS[1:]]


def _known(values: dict[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in values.items() if value is not None}


def _maintenance(page: Page, phase: Phase[MaintenanceDetail]) -> dict[str, Any]:
    """A maintenance operation under load; changes are in % of the throughput before it.

    With several databases, ``database`` is its target and ``databases`` has the metrics of each.
    """
    at = metrics.Maintenance(phase.name)
    keys = [
        *(at.seconds, at.rounds, at.space_peak_bytes, at.space_estimate_bytes),
        *(at.written_bytes, at.mb_per_s),
        *(at.round_s, at.estimate_s, at.log_bytes),
        *(at.part(part).qph for part in PARTS),
        *_beside(at),
    ]
    beside = phase.detail.level
    parts = [own.detail.database for _, own in page.parts(beside)]
    steps = {name: page.value(at.step(name).seconds) for name in STEPS}
    timed = {"steps_s": _known(steps)} if _known(steps) else {}
    rates = _known({name: page.value(at.step(name).mb_per_s) for name in STEPS})
    timed |= {"steps_mb_per_s": rates} if rates else {}
    return {
        "name": phase.detail.maintenance,
        "target": phase.target,
        "level": beside,
        "database": phase.detail.database,
        "error": phase.detail.error,
        "method": phase.detail.method,
        **{key.last: page.value(key) for key in keys},
        **timed,
        "during_change_interval": bounds(page, at.part("during").change_percent),
        "databases": [
            {
                "database": which,
                **{key.last: page.value(key) for key in _beside(at.database(which))},
            }
            for which in parts
        ]
        + [
            {
                "database": which,
                **{key.last: page.value(key) for key in (own.part(part).qph for part in PARTS)},
                **{key.last: page.value(key) for key in _changes(own)},
            }
            for which in numbers(phase.detail.streams, phase.detail.streams_each)
            for own in [at.database(which)]
        ],
    }


def _workloads(page: Page) -> dict[str, dict[str, Any]]:
    """An entry for each workload that was loaded or run, by its name."""
    makers = {"dss": _queried, "oltp": _driven}
    found = {name: workloads.known(name) for name in page.run.workloads}
    entries = {name: makers[one.kind](page, one) for name, one in found.items() if one is not None}
    return {name: entry for name, entry in entries.items() if entry is not None}


def _queried(page: Page, workload: Workload) -> dict[str, Any] | None:
    names = [
        phase.target
        for phase in page.phases("load", "dss")
        if phase.detail.workload == workload.name and phase.target is not None
    ]
    engines = list(dict.fromkeys([*names, *page.query_targets]))
    if not engines:
        return None
    return {
        "scale": page.scale(workload.name),
        "engines": {name: _engine(page, workload, name) for name in engines},
        "answers_match": _answers_match(page, workload.name),
    }


def _engine(page: Page, of: Workload, name: str) -> dict[str, Any]:
    workload = of.name
    load, at = metrics.Load(workload, name), metrics.Queries(name)
    # A mix may have other queries on the target, whose data no transaction changes.
    changing = of.freshness is not None
    return {
        "load_s": page.value(load.seconds),
        "load_mb_per_s": page.value(load.mb_per_s),
        "load_by_streams": [asdict(rate) for rate in page.load_rates(workload, name)],
        "index_s": page.value(metrics.Index(workload, name).seconds),
        "index_log_bytes": page.value(metrics.Index(workload, name).log_bytes),
        "load_steps": _load_steps(page, workload, name),
        "power_total_s": page.value(at.power_total_s),
        "geomean_s": page.value(at.geomean_s),
        "mean_s": page.value(at.mean_s),
        "freshness_ms": page.value(at.freshness_ms) if changing else None,
        "newest_age_ms": page.value(at.newest_age_ms) if changing else None,
        "queries": _queries(page, name),
        **_trials(page, name),
    }


def _trials(page: Page, target: str) -> dict[str, Any]:
    """The three metrics, each stream, and the refresh functions; null without such a test."""
    found = [trial for trial in trials(page) if trial.target == target]
    several = next((trial for trial in found if trial.several), None)
    known = scores(page, target)
    at = metrics.Queries(target)
    return {
        **{metric.name: known.get(metric.name) for metric in SCORES},
        "figures_unit": unit(page, target),
        "figures_missing": missing(page).get(target),
        "throughput_s": page.value(at.throughput_total_s),
        "throughput_mean_s": page.value(at.throughput_mean_s),
        "throughput_without_refresh": page.value(at.throughput_score),
        "streams": None
        if several is None
        else [
            {
                "stream": number,
                **({"database": several.database(number)} if several.databases > 1 else {}),
                **{key.last: page.value(key) for key in (of.start_s, of.end_s, of.total_s)},
                **{key.last: int(page.value(key) or 0) for key in (of.done, of.failed)},
                "queries": [
                    {name: row[name] for name in ("query", "seconds", "rows", "error")}
                    for row in sorted(several.rows, key=lambda row: row["t_ns"])
                    if row["stream"] == number
                ],
            }
            for number in range(1, several.streams + 1)
            for of in [at.stream(number)]
        ],
        **_databases(page, several),
        "refresh": [
            {
                "pair": row["position"],
                "function": row["query"],
                **{name: row[name] for name in ("seconds", "rows", "error")},
            }
            for trial in found
            for row in trial.rows
            if row["stream"] == REFRESH_STREAM
        ]
        or None,
    }


def _databases(page: Page, test: Trial | None) -> dict[str, Any]:
    """An entry for each of several databases under load at once."""
    if test is None or test.databases == 1:
        return {}
    every = [metrics.Queries(test.target).database(number + 1) for number in range(test.databases)]
    return {
        "databases": [
            {
                "database": number,
                **{key.last: page.value(key) for key in (of.start_s, of.end_s, of.total_s)},
                **{key.last: int(page.value(key) or 0) for key in (of.done, of.failed)},
                "throughput": page.value(of.throughput),
                "throughput_without_refresh": page.value(of.throughput_score),
            }
            for number, of in enumerate(every, 1)
        ]
    }


def _load_steps(page: Page, workload: str, target: str | None) -> list[dict[str, Any]]:
    """The steps of a load with seconds and bytes; empty if the run did not load."""
    return [
        step.model_dump(mode="json")
        for phase in loads_that_stayed(page)
        if phase.target == target and phase.detail.workload == workload
        for step in steps(page, phase)
    ]


def _queries(page: Page, target: str) -> list[dict[str, Any]]:
    """One entry per query of the power test; null seconds if it failed."""
    seconds = page.queries(target)
    columns = ["stream", "target", "query", "rows", "digest", "error", *WORK, "meter"]
    table = page.bundle.table("queries").select(columns).to_pylist()
    plans = {
        query: f"plans/{target}/{query}.json"
        for where, query, _ in page.bundle.plans()
        if where == target
    }
    entries: dict[str, dict[str, Any]] = {}
    for row in table:
        if row["stream"] == 0 and row["target"] == target:
            entries[row["query"]] = {
                "query": row["query"],
                "seconds": seconds.get(row["query"]),
                "rows": row["rows"],
                "digest": row["digest"],
                "error": row["error"],
                **{name: row[name] for name in WORK},
                "figures_from": meter_sources(row["meter"]),
                "plan": plans.get(row["query"]),
            }
    return [entries[query] for query in sorted(entries)]


def _answers_match(page: Page, workload: str) -> bool | None:
    """None unless every query was verified."""
    results = [check.passed for check in page.answers_of(workload)]
    if False in results:
        return False
    return True if results and None not in results else None


def _driven(page: Page, workload: Workload) -> dict[str, Any] | None:
    name = workload.name
    loaded = [phase for phase in page.phases("load") if phase.detail.workload == name]
    levels = [
        level
        for level in page.levels
        if level.phase is None or level.phase.detail.workload in (name, None)
    ]
    if not loaded and not levels:
        return None
    target = loaded[0].target if loaded else None
    return {
        workload.transactions.recorded: page.scale(name),
        **({} if workload.days is None else {"days": page.days(name)}),
        "load_s": page.value(metrics.Load(name, target).seconds),
        "load_steps": _load_steps(page, name, target),
        "load_by_streams": [asdict(rate) for rate in page.load_rates(name, str(target))],
        "levels": [level_entry(page, level) for level in levels],
        "consistency": page.passed(check_names.CONDITION, name),
    }
