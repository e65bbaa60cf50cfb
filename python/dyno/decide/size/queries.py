"""Reads the query tests of a run as evidence."""

from __future__ import annotations

from dyno.bundle import metrics
from dyno.bundle.carriers import machine_of, of_target
from dyno.bundle.model import Run, those
from dyno.bundle.phases.dss import DssDetail
from dyno.decide.size.evidence import Queries
from dyno.decide.size.loads import data_tb, server


def queries(run: Run, known: metrics.Estimates) -> list[Queries]:
    """The completed power and throughput tests."""
    found: list[Queries] = []
    for phase in those(run.phases, DssDetail):
        test = phase.detail.test or "power"
        if phase.status != "done" or test not in {"power", "throughput"}:
            continue
        at = metrics.Queries(phase.target)
        streams = int(phase.detail.streams or 1) if test == "throughput" else 1
        seconds = known.value(at.power_total_s if test == "power" else at.throughput_total_s)
        done = (
            len(at.queries(known))
            if test == "power"
            else sum(known.value(at.stream(n).done) or 0 for n in range(1, streams + 1))
        )
        if not seconds or not done:
            continue
        per_s = done / seconds
        of_server = server(run, phase, known, per_s)
        resources = metrics.Resources(phase.name, machine=machine_of(run, phase.target))
        rates = [
            known.value(resources.device(name, metric).mean)
            for name in of_target(run, phase.target).get("data", ())
            for metric in ("read_mbps", "write_mbps")
        ]
        moved = [rate for rate in rates if rate is not None]
        found.append(
            Queries(
                run=run.run,
                name=phase.name,
                target=str(phase.target),
                streams=streams,
                per_h=3600 * per_s,
                cpus=of_server["cpus"],
                cpu_s=of_server["cpu_s"],
                mb=sum(moved) / per_s if moved else None,
                data_tb=data_tb(run, phase, known),
            )
        )
    return found
