"""Reads the levels of load of a run, and the searches for the maximum, as evidence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dyno import workloads
from dyno.bundle import metrics, mixes
from dyno.bundle.carriers import host_of, machine_of, of_target, told_apart
from dyno.bundle.metrics.resource import Resources
from dyno.bundle.model import Phase, Run, has_detail, those
from dyno.bundle.phases.maintenance import MaintenanceDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.phases.search import SearchDetail
from dyno.decide import processors
from dyno.decide.size.evidence import Found, Load, Machine

_Z95 = 1.96


def loads(run: Run, known: metrics.Estimates) -> list[Load]:
    """The completed levels with a constant load; totals of several databases, not their parts.

    Levels beside other work or maintenance have its CPU time and I/O too, and are left out.
    """
    found: list[Load] = []
    maintained = {phase.detail.level for phase in those(run.phases, MaintenanceDetail)}
    for phase in those(run.phases, OltpDetail):
        detail = phase.detail
        changing = not isinstance(detail.rate_per_s, int | float | None)
        if phase.status != "done" or detail.part_of is not None or changing:
            continue
        if mixes.beside(run, phase) or detail.level in maintained:
            continue
        main = workloads.driven_in(detail.workload, run.workloads)
        at = metrics.Level(detail.level)
        tps = known.estimate(at.tps)
        p95 = known.value(at.operation(main.main).response("p95"))
        mean = _mean_ms(at, known)
        if tps is None or not tps.value > 0 or p95 is None or mean is None:
            continue
        noise = None
        if tps.low is not None and tps.high is not None:
            noise = (tps.high - tps.low) / 2 / _Z95 / tps.value
        found.append(
            Load(
                run=run.run,
                name=str(detail.level),
                target=str(phase.target),
                users=float(detail.users or 1),
                open=detail.is_open,
                thinks=bool(detail.thinks),
                tps=tps.value,
                noise=noise,
                mean_ms=mean,
                p95_ms=p95,
                data_tb=data_tb(run, phase, known),
                **server(run, phase, known, tps.value),
                **_devices(run, phase, known, tps.value),
            )
        )
    return found


def searches(run: Run, known: metrics.Estimates) -> Iterable[Found]:
    """The maxima that searches confirmed."""
    tps = known.estimate(metrics.Capacity().tps)
    for phase in those(run.phases, SearchDetail):
        if tps is not None and phase.detail.best is not None:
            limits = ", ".join(str(one.text) for one in phase.detail.slo)
            low = tps.value if tps.low is None else tps.low
            high = tps.value if tps.high is None else tps.high
            yield Found(run.run, str(phase.target), tps.value, low, high, limits)


def machine(run: Run) -> Machine:
    """What identifies where a run was measured."""
    host = host_of(run)
    words: list[str] = []
    for section, name in (("cpu", "model"), ("cpu", "logical"), ("memory", "total_bytes")):
        facts = host.get(section)
        words.append(str(facts.get(name)) if isinstance(facts, dict) else "?")
    works = [phase for phase in run.phases if phase.kind in {"oltp", "dss"}]
    products = sorted({facts.product or name for name, facts in run.targets.items()})
    scales = {
        f"{getattr(phase.detail, 'workload', '') or ','.join(run.workloads)} at {size:g}"
        for phase in works
        if isinstance(size := _scale(phase), int | float)
    }
    return Machine(
        f"{words[0]}, {words[1]} CPUs, {words[2]} bytes of memory",
        ", ".join(products) if works else "",
        ", ".join(sorted(scales)),
    )


def server(run: Run, phase: Phase, known: metrics.Estimates, per_s: float) -> dict[str, Any]:
    """CPUs of the server, and CPU time of an operation of which there are ``per_s``."""
    other = machine_of(run, phase.target)
    at = Resources(phase.name, machine=other)
    cpus = float(processors.usable(run, other))
    busy = known.value(at.cpu_busy.mean)
    own = (known.value(at.process_cpu("server").mean) or 0.0) / 100
    dyno = (known.value(at.process_cpu("dyno").mean) or 0.0) / 100
    facts = run.targets.get(phase.target or "")
    taken, whole, of = own, own + dyno, "CPU of the server"
    if facts is not None and facts.place == "process" and dyno:
        taken, whole, of = dyno, dyno, "CPU of Dyno with the engine in it"
    elif not own:  # everything on the machine, also other processes
        unseen = busy is None or (facts is not None and facts.place == "elsewhere" and not other)
        taken = whole = (
            0.0 if busy is None or unseen else busy / 100 * processors.counted(run, other)
        )
        of = "CPU of the machine, with the driver"
    return {
        "cpus": min(cpus, processors.allowed(run)),
        "cpu_s": taken / per_s if taken else None,
        "cpu_of": of,
        "whole_cpu_s": whole / per_s if whole else None,
    }


def _devices(run: Run, phase: Phase, known: metrics.Estimates, tps: float) -> dict[str, Any]:
    at = Resources(phase.name, machine=machine_of(run, phase.target))
    names = of_target(run, phase.target).get("data", ())

    def total(*wanted: Any) -> float | None:
        values = [known.value(at.device(name, one).mean) for name in names for one in wanted]
        listed = [value for value in values if value is not None]
        return sum(listed) if listed else None

    def latency(role: str, metric: Any) -> float | None:
        return known.value(at.volume(role, metric).mean)

    reads, every = total("read_iops"), total("read_iops", "write_iops")
    busiest = max(
        (known.value(at.device(name, "utilisation").mean) or 0.0 for name in names), default=0.0
    )
    apart = told_apart(run, phase.target)
    return {
        "ios": None if every is None else every / tps,
        "reads": None if not every or reads is None else reads / every,
        "device_s": busiest / 100 / tps if busiest else None,
        "devices": max(1, len(names)),
        "read_ms": latency("data", "read_await"),
        "write_ms": latency("data", "write_await"),
        "log_ms": latency("log", "write_await") if "log" in apart else None,
    }


def _mean_ms(at: metrics.Level, known: metrics.Estimates) -> float | None:
    """The mean response time of all operations, weighted by their counts."""
    pairs = [
        (known.value(one.count) or 0.0, known.value(one.response("mean")) or 0.0)
        for one in (at.operation(name) for name in at.operations(known))
    ]
    count = sum(times for times, _ in pairs)
    return sum(times * mean for times, mean in pairs) / count if count > 0 else None


def data_tb(run: Run, phase: Phase, known: metrics.Estimates) -> float | None:
    """TB on disk, as loaded in the run; else by the workload's rows; None if unknown."""
    name = str(getattr(phase.detail, "workload", None) or next(iter(run.workloads), ""))
    loaded = known.value(metrics.Load(name, phase.target).rest_bytes)
    if loaded:
        return loaded / 1e12
    workload, size = workloads.known(name) if name else None, _scale(phase)
    if workload is None or not isinstance(size, int | float):
        return None
    days = phase.detail.days if has_detail(phase, OltpDetail) else None
    return workload.raw_bytes(size, days) / 1e12


def _scale(phase: Phase) -> object:
    if has_detail(phase, OltpDetail):
        return phase.detail.size
    return getattr(phase.detail, "scale", None)
