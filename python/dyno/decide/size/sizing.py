"""A sizing as a whole: what is wanted and what was measured → counts, with all inputs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dyno.decide.size import devices, servers, whatif
from dyno.decide.size.checks import FARTHEST, require_near, require_sense
from dyno.decide.size.count import Count, Need, count
from dyno.decide.size.demand import Decisions, Transactions, decisions, transactions
from dyno.decide.size.evidence import Evidence, Load
from dyno.decide.size.inputs import Inputs
from dyno.decide.size.lot import DRAWS, Lot, spread
from dyno.decide.size.model import Criterion, Sizing
from dyno.decide.size.response import times
from dyno.decide.size.wants import Wants
from dyno.errors import UsageError
from dyno.statistics.paired import Floats


def size(
    found: Evidence,
    wants: Wants,
    what_if: Mapping[str, float] | None = None,
    *,
    draws: int = DRAWS,
    seed: int = 1,
) -> Sizing:
    """Sizes servers, devices and TB.

    Args:
        found: What was measured.
        wants: What is wanted.
        what_if: Given ``cpus`` of a server, ``servers`` and ``devices``.
        draws: Bootstrap draws.
        seed: Of the draws.

    Raises:
        UsageError: If wants contradict, or nothing measured carries the answer.
    """
    require_sense(wants)
    given = dict(what_if or {})
    lot, inputs = Lot(draws, seed), Inputs()
    inputs.wants(wants)
    if wants.growth is not None:
        inputs.add("growth of all", wants.factor, "×", "(1 + growth) ^ years, of load and data")
    work = transactions(found, wants, lot, inputs)
    queries = decisions(found, wants, lot, inputs)
    made, compared = devices.device(found, wants, work, queries, lot, inputs)
    of_devices = devices.needs(made, wants, work, queries, lot, inputs)
    device_count = count(of_devices)
    if work is not None and device_count is None:
        inputs.caveat("I/O not sampled at the data devices: no devices are sized.")
    several = None if device_count is None else device_count.recommended
    machine = servers.server(wants, work, queries, inputs)

    def plan(cpus: float, devices_: float | None) -> tuple[list[Need], servers.Responses | None]:
        made_of = servers.Server(cpus, machine.cpu)
        of_cpu = servers.cpu_need(made_of, work, queries)
        needed = ([] if of_cpu is None else [of_cpu]) + of_search
        if work is None:
            return needed, None
        responses = _responses(work, made, cpus, devices_, lot)
        return needed + servers.response_needs(responses, wants), responses

    of_search = [] if work is None else servers.search_needs(found, work, lot, inputs)
    of_servers, responses = plan(machine.cpus, several)
    servers.require_reachable(of_servers)
    server_count = count(of_servers)
    if server_count is None and (work is not None or queries is not None):
        raise UsageError(
            "Nothing shows how much a server carries: its CPU was not sampled. Run with --agent, "
            "or name a --find-max search."
        )
    _require_near(work, queries, server_count)
    mean, p95 = (None, None)
    if responses is not None and server_count is not None:
        mean, p95 = responses.at(server_count.recommended)
    supposed = None
    if given:
        whatif.require(given, work, queries)
        devices_ = given.get("devices", several)
        instead, of_it = plan(given.get("cpus", machine.cpus), devices_)
        supposed = whatif.what_if(given, work, queries, wants, instead, of_it, of_devices, devices_)
        if "cpus" in given:
            inputs.caveat("With other CPUs, the CPU time of an operation is assumed to stay equal.")
    data_tb = None if wants.tb is None else wants.tb * wants.factor
    usable = _usable(made, device_count)
    return Sizing(
        servers=server_count,
        devices=device_count,
        data_tb=data_tb,
        usable_tb=usable,
        fill=data_tb / usable if data_tb and usable else None,
        tps=None if work is None else spread(work.tps),
        mean_ms=mean,
        p95_ms=p95,
        raid=compared,
        criteria=() if work is None else _criteria(work.top, machine.cpu),
        inputs=tuple(inputs.listed),
        caveats=tuple(inputs.caveats),
        what_if=supposed,
    )


def _responses(
    work: Transactions, made: devices.Device, cpus: float, several: float | None, lot: Lot
) -> servers.Responses:
    """The model of response times, with the storage as it is sized."""
    used = lot.fixed(0.0)
    busy: Floats = lot.fixed(0.0)
    if made.iops is not None and work.ios is not None and several:
        busy = work.ios / made.iops
        used = np.minimum(work.tps * busy / (several * made.efficiency), 1.0)
    if work.growth is not None:
        return servers.Responses(work, None, used)
    cpu_s = work.cpu_s if work.cpu_s is not None else lot.fixed(0.0)
    return servers.Responses(work, times(work.loads, cpus, cpu_s, busy), used)


def _require_near(
    work: Transactions | None, queries: Decisions | None, found: Count | None
) -> None:
    """Refuses a load on one server beyond what was measured."""
    servers_ = 1 if found is None else found.p50
    if work is not None and work.growth is None:
        each = spread(work.tps).mid / servers_
        remedy = f"Measure at least {each / FARTHEST:,.4g} a second: more --users, or --rate."
        require_near("transactions/s", each, work.top.tps, work.top.source, remedy)
    if queries is not None:
        each = spread(queries.per_h).mid / servers_
        remedy = f"Measure at least {each / FARTHEST:,.4g} an hour: more --streams."
        require_near("queries/h", each, queries.top.per_h, queries.top.source, remedy)


def _usable(made: devices.Device, found: Count | None) -> float | None:
    if found is None or made.tb is None:
        return None
    from dyno.decide.size.raid import usable

    return usable(found.recommended, made.level) * made.tb


def _criteria(load: Load, cpu: float) -> tuple[Criterion, ...]:
    """The published criteria at a level: latencies of data and log, and CPU."""
    busy = None if load.whole_cpu_s is None else 100 * load.whole_cpu_s * load.tps / load.cpus
    listed = (
        ("data read latency", 20.0, load.read_ms, "ms"),
        ("data write latency", 20.0, load.write_ms, "ms"),
        ("log write latency", 5.0, load.log_ms, "ms"),
        ("CPU", 100 * cpu, busy, "%"),
    )
    return tuple(
        Criterion(name, limit, value, unit)
        for name, limit, value, unit in listed
        if value is not None
    )
