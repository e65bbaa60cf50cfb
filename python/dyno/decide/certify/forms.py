"""The tests of each target, from the estimates of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dyno.bundle import metrics
from dyno.bundle.carriers import machine_of
from dyno.bundle.model import Phase, Run, those
from dyno.bundle.phases.certify import COMBINED, RATE, CertifyDetail
from dyno.certificates.figures import FormFigures, Rates
from dyno.config.units import parse_bytes
from dyno.contracts.layout import Form
from dyno.decide.certify.marks import DATA_OVER_MEMORY
from dyno.decide.certify.rates import measured_mbps, per_core, per_tb
from dyno.errors import UsageError
from dyno.host.limits import usable_memory_bytes

TB = 1e12


def forms(run: Run, known: metrics.Estimates) -> list[FormFigures]:
    """The figures of each target, or form of a target, with a combined interval, in run order."""
    phases = [one for one in those(run.phases, CertifyDetail) if one.status == "done"]
    tests: dict[tuple[str, str | None], list[Phase[CertifyDetail]]] = {}
    for phase in phases:
        if phase.target:
            tests.setdefault((phase.target, phase.detail.part), []).append(phase)
    found = (_form(run, known, own) for own in tests.values())
    return [one for one in found if one is not None]


def _form(
    run: Run, known: metrics.Estimates, phases: Sequence[Phase[CertifyDetail]]
) -> FormFigures | None:
    combined = next((one for one in phases if one.detail.test == COMBINED), None)
    if combined is None or not combined.detail.raw_bytes or combined.target is None:
        return None
    detail, target = combined.detail, combined.target
    if known.value(metrics.Interval.of(combined).completed) is None:
        return None
    data_tb = float(detail.raw_bytes or 0) / TB
    stored = detail.data_bytes
    memory = memory_bytes(run, target)
    rates = {str(one.detail.test): _rates(one, known, data_tb) for one in phases}
    form: Form = "column" if detail.form == "column" else "row"
    facts = run.targets.get(target)
    return FormFigures(
        form=form,
        target=target,
        version=target if facts is None else facts.version,
        scale=float(detail.scale or 0.0),
        data_tb=data_tb,
        stored_tb=None if stored is None else stored / TB,
        memory_tb=None if memory is None else memory / TB,
        compression=float(detail.raw_bytes or 0) / stored if stored else None,
        in_memory=bool(stored and memory and stored < DATA_OVER_MEMORY * memory),
        rate=rates.get(RATE),
        classes=tuple(one for name, one in rates.items() if name not in (RATE, COMBINED)),
        combined=rates[COMBINED],
        notes=tuple(_notes(phases, rates[COMBINED], stored)),
    )


def _rates(phase: Phase[CertifyDetail], known: metrics.Estimates, data_tb: float) -> Rates:
    at = metrics.Interval.of(phase)
    per_hour = known.value(at.queries_per_h) or 0.0
    physical, logical = known.value(at.physical_mbps), known.value(at.logical_mbps)
    cores = known.value(at.cores)
    both = physical is not None and logical is not None
    return Rates(
        test=str(phase.detail.test),
        users=int(phase.detail.users or 1),
        seconds=float(phase.detail.duration_s or 0.0),
        completed=round(known.value(at.completed) or 0.0),
        queries_per_h=per_hour,
        queries_per_h_per_tb=per_tb(per_hour, data_tb) if data_tb > 0 else None,
        physical_mbps=physical,
        physical_peak_mbps=known.value(at.physical_peak_mbps),
        logical_mbps=logical,
        measured_mbps=measured_mbps(physical or 0.0, logical or 0.0) if both else None,
        cpu_percent=known.value(at.cpu_percent),
        mbps_per_core=per_core(logical, cores) if logical is not None and cores else None,
    )


def _notes(
    phases: Iterable[Phase[CertifyDetail]], combined: Rates, stored: float | None
) -> Iterable[str]:
    if combined.logical_mbps is None:
        yield "the engine reported no logical reads, so the mean and MB/s a core are missing"
    if combined.physical_mbps is None:
        yield "the devices under the data are unknown, so physical reads are missing"
    if stored is None:
        yield "the target does not report the size of its tables, so compression is missing"
    note = next((one.detail.parallelism_note for one in phases if one.detail.parallelism_note), "")
    if note:
        yield note


def memory_bytes(run: Run, target: str) -> int | None:
    """Memory that can cache a target's data: that of its machine, or its limit; None if unknown."""
    facts = run.targets.get(target)
    machine = machine_of(run, target)
    if facts is None or (facts.place == "elsewhere" and not machine):
        return None
    host = run.machines.get(machine, {}) if machine else run.host
    try:
        total = usable_memory_bytes(host)
        limit = None if run.confined is None else run.confined.limits.get("memory")
        own = None if limit is None else parse_bytes(limit)
    except (UsageError, AttributeError, TypeError):
        return None
    return min((size for size in (total, own) if size is not None), default=None)
