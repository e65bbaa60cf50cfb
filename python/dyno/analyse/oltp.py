"""Transactions: throughput, latency by operation, errors, steadiness and the client's own cost."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from dyno.analyse.during import courses
from dyno.analyse.histograms import Latencies
from dyno.analyse.rows import counts, number, rows
from dyno.analyse.series import Throughput, throughput
from dyno.analyse.steady import BATCH, FEWEST_BATCHES, mser5, trend, variation_percent
from dyno.bundle import Bundle
from dyno.model import Estimate, Phase
from dyno.rates import recorded
from dyno.workloads.tpcc.pace import MOST_NEW_ORDERS

_QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}


def oltp(bundle: Bundle) -> list[Estimate]:
    """``oltp.<level>.<figure>`` and ``oltp.<level>.<operation>.<figure>`` of the measured time."""
    return [figure for level in bundle.levels() for figure in of_level(bundle, level)]


def of_level(bundle: Bundle, level: str) -> list[Estimate]:
    """The same of one level, which may be the last one of a run that goes on."""
    table = f"ops/{level}"
    measured = [row for row in rows(bundle, table) if row["phase"] == "measure"]
    rates = throughput(measured)
    if rates is None:
        return []
    phases = {str(phase.detail.get("level")): phase for phase in bundle.run.phases}
    phase = phases.get(level)
    seconds = _window_s(phase, rates)
    estimates = [
        *_level(f"oltp.{level}", measured, seconds, table),
        *_silence(f"oltp.{level}", measured, seconds, rates.interval_s, table),
    ]
    rate = recorded(phase.detail.get("loop")) if phase else None
    # What follows a rate that changes does not settle, and is not meant to.
    if rate is None or not rate.changes:
        estimates += _steadiness(f"oltp.{level}", _undisturbed(bundle, level, rates))
    if phase is not None:
        left_out = _left_out_s(phase)
        estimates += _pace(f"oltp.{level}", phase, measured, seconds)
        estimates += _checkpoints(f"oltp.{level}", phase)
        estimates += _apart(f"oltp.{level}", phase)
        estimates += _writer(f"oltp.{level}", phase)
        estimates += _client(f"oltp.{level}", phase, seconds + left_out)
        if left_out:
            estimates.append(
                Estimate(
                    name=f"oltp.{level}.left_out_s",
                    value=left_out,
                    unit="s",
                    source=f"{table}: rows of the phase settling, before throughput was steady",
                )
            )
    return estimates


def _undisturbed(bundle: Bundle, level: str, rates: Throughput) -> Throughput:
    """The throughput until maintenance begins: what that changes is no unsteadiness."""
    starts = [
        course.start_ns
        for course in courses(bundle)
        if level in (course.level, *(part for part, _ in course.parts))
    ]
    if not starts:
        return rates
    count = int((min(starts) - rates.start_ns) / 1e9 / rates.interval_s)
    return replace(rates, values=rates.values[: max(0, count)])


def _outcome(phase: Phase | None) -> dict[str, Any]:
    outcome = phase.detail.get("outcome") if phase else None
    return outcome if isinstance(outcome, dict) else {}


def _window_s(phase: Phase | None, rates: Throughput) -> float:
    """Length of the measured time: the driver's own, or what the rows span if it was cut off."""
    seconds = number(_outcome(phase).get("seconds"))
    if phase is None or seconds is None or seconds <= _left_out_s(phase):
        return (rates.end_ns - rates.start_ns) / 1e9
    return seconds - _left_out_s(phase)


def _left_out_s(phase: Phase) -> float:
    """What of the driver's window came before the steady stretch that counts."""
    extended = phase.detail.get("until_steady")
    found = number(extended.get("left_out_s")) if isinstance(extended, dict) else None
    return max(0.0, found or 0.0)


def _level(
    name: str, measured: list[dict[str, Any]], seconds: float, table: str
) -> Iterable[Estimate]:
    done = sum(row["done"] for row in measured)
    rolled_back = sum(row["rolled_back"] for row in measured)
    errors = sum(sum(counts(row["errors"]).values()) for row in measured)
    retries = sum(sum(counts(row["retries"]).values()) for row in measured)
    attempted = done + rolled_back + errors
    orders = sum(row["done"] for row in measured if row["op"] == "new_order")
    yield Estimate(name=f"{name}.seconds", value=seconds, unit="s", source=table)
    yield Estimate(
        name=f"{name}.tps",
        value=(done + rolled_back) / seconds,
        unit="1/s",
        source=f"{table}: commits and prescribed rollbacks / s",
    )
    yield Estimate(
        name=f"{name}.new_orders_per_min",
        value=orders * 60 / seconds,
        unit="1/min",
        source=f"{table}: committed New-Order transactions / min",
    )
    yield Estimate(name=f"{name}.transactions", value=done + rolled_back, unit="", source=table)
    yield Estimate(name=f"{name}.errors", value=errors, unit="", source=table)
    yield Estimate(name=f"{name}.retries", value=retries, unit="", source=table)
    yield Estimate(
        name=f"{name}.error_percent",
        value=100 * errors / attempted if attempted else 0.0,
        unit="%",
        source=f"{table}: errors / (done + rolled back + errors)",
    )
    for operation in dict.fromkeys(row["op"] for row in measured):
        of_it = [row for row in measured if row["op"] == operation]
        yield from _operation(f"{name}.{operation}", of_it, seconds, table)


def _silence(
    name: str, measured: list[dict[str, Any]], seconds: float, interval_s: float, table: str
) -> Iterable[Estimate]:
    """Users who lost the server, and the time in which nothing ended.

    An interval without a row is one of these, also at the end of the window.
    """
    lost = sum(counts(row["errors"]).get("connection_lost", 0) for row in measured)
    busy = {row["t_ns"]: row["seconds"] for row in measured if row["done"] + row["rolled_back"]}
    silent = math.floor((seconds - sum(busy.values())) / interval_s + 1e-3)
    yield Estimate(name=f"{name}.connections_lost", value=lost, unit="", source=table)
    yield Estimate(
        name=f"{name}.silent_s",
        value=max(0, silent) * interval_s,
        unit="s",
        source=f"{table}: whole intervals of {interval_s:g} s in which no transaction ended",
    )


def _pace(
    name: str, phase: Phase, measured: list[dict[str, Any]], seconds: float
) -> Iterable[Estimate]:
    """New orders against the most that users who key and think can reach."""
    warehouses = number(phase.detail.get("warehouses"))
    orders = sum(row["done"] for row in measured if row["op"] == "new_order")
    if not warehouses or phase.detail.get("workload") != "tpcc":
        return
    yield Estimate(
        name=f"{name}.paced_percent",
        value=100 * orders * 60 / seconds / (MOST_NEW_ORDERS * warehouses),
        unit="%",
        source=(
            f"new orders/min / ({MOST_NEW_ORDERS:g} × warehouses), the most of users who key and "
            "think; above 100 % unpaced"
        ),
    )


def _operation(
    name: str, of_it: list[dict[str, Any]], seconds: float, table: str
) -> Iterable[Estimate]:
    done = sum(row["done"] + row["rolled_back"] for row in of_it)
    totals = {
        "count": done,
        "rolled_back": sum(row["rolled_back"] for row in of_it),
        "errors": sum(sum(counts(row["errors"]).values()) for row in of_it),
        "retries": sum(sum(counts(row["retries"]).values()) for row in of_it),
    }
    for figure, value in totals.items():
        yield Estimate(name=f"{name}.{figure}", value=value, unit="", source=table)
    yield Estimate(name=f"{name}.per_s", value=done / seconds, unit="1/s", source=table)
    for kind, meaning in (
        ("response", "from the intended start to the end"),
        ("service", "from the send to the end"),
    ):
        merged = Latencies()
        for row in of_it:
            merged.add(row[kind])
        if not merged.count:
            continue
        source = f"{table}, merged histograms; {meaning}"
        figures = {label: merged.quantile_ms(quantile) for label, quantile in _QUANTILES.items()}
        figures |= {"max": merged.max_ms, "mean": merged.mean_ms}
        for label, value in figures.items():
            yield Estimate(name=f"{name}.{kind}_{label}_ms", value=value, unit="ms", source=source)


def _steadiness(name: str, rates: Throughput) -> Iterable[Estimate]:
    variation = variation_percent(rates.values)
    every = f"throughput by {rates.interval_s:g} s"
    if variation is not None:
        yield Estimate(
            name=f"{name}.variation_percent",
            value=variation,
            unit="%",
            source=f"standard deviation / mean of {every}",
        )
    line = trend(rates.values)
    if line is not None:
        yield Estimate(
            name=f"{name}.trend_percent",
            value=line.percent,
            low=line.low,
            high=line.high,
            unit="%",
            source=f"least squares on {every}: change over the window / mean; 95 % interval",
        )
    yield Estimate(
        name=f"{name}.judged_window_s",
        value=BATCH * FEWEST_BATCHES * rates.interval_s,
        unit="s",
        source=f"{FEWEST_BATCHES} batches of {BATCH} of {every}: the least that MSER-5 can judge",
    )
    cut = mser5(rates.values)
    if cut is not None:
        yield Estimate(
            name=f"{name}.mser_discard_percent",
            value=cut.discard_percent,
            unit="%",
            source=f"MSER-5 on {every}: share to leave out as a warm-up; above 50 % not steady",
        )


def _client(name: str, phase: Phase, seconds: float) -> Iterable[Estimate]:
    """What the driver itself cost, as it measured it."""
    outcome = _outcome(phase)
    cpu_s, threads = number(outcome.get("client_cpu_s")), number(outcome.get("threads"))
    if cpu_s is not None and threads:
        yield Estimate(
            name=f"{name}.client_cpu_percent",
            value=100 * cpu_s / (seconds * threads),
            unit="%",
            source=f"CPU time of the driver / ({threads:g} threads × window)",
        )
    busiest = number(outcome.get("thread_utilisation_max"))
    figures = {
        "client_cpu_s": (cpu_s, "s"),
        "client_cpu_ms_per_1000": (number(outcome.get("client_cpu_ms_per_1000")), "ms"),
        "client_thread_percent": (None if busiest is None else 100 * busiest, "%"),
        "lag_p99_ms": (number(outcome.get("lag_p99_ms")), "ms"),
        "scheduled": (number(outcome.get("scheduled")), ""),
        "late": (number(outcome.get("late")), ""),
        "unsent": (number(outcome.get("unsent")), ""),
        "stuck": (number(outcome.get("stuck")), ""),
        "reconnects": (number(outcome.get("reconnects")), ""),
        "gone": (number(outcome.get("gone")), ""),
    }
    for figure, (value, unit) in figures.items():
        if value is not None:
            yield Estimate(
                name=f"{name}.{figure}", value=value, unit=unit, source="the driver's outcome"
            )


def _apart(name: str, phase: Phase) -> Iterable[Estimate]:
    """How far the measurements of several databases lay apart, of which a level is the sum."""
    apart_s = number(phase.detail.get("apart_s"))
    if apart_s is not None:
        source = "from the first start of a database's measurement to the last"
        yield Estimate(name=f"{name}.apart_s", value=apart_s, unit="s", source=source)


def _checkpoints(name: str, phase: Phase) -> Iterable[Estimate]:
    """Checkpoints that began in the window, and the longest time from one to the next."""
    found = phase.detail.get("checkpoints")
    counted: dict[str, Any] = found if isinstance(found, dict) else {}
    for figure, key, unit, source in (
        ("checkpoints", "count", "", "source"),
        ("checkpoint_interval_s", "interval_s", "s", "setting"),
    ):
        value = number(counted.get(key))
        if value is not None:
            text = str(counted.get(source, ""))
            yield Estimate(name=f"{name}.{figure}", value=value, unit=unit, source=text)


def _writer(name: str, phase: Phase) -> Iterable[Estimate]:
    """Of a system with one writer: how much of the time it was at work, and the wait for it."""
    writer = _outcome(phase).get("writer")
    if not isinstance(writer, dict):
        return
    busy = number(writer.get("busy_share"))
    if busy is not None:
        yield Estimate(
            name=f"{name}.writer_busy_percent",
            value=100 * busy,
            unit="%",
            source="time from the end of a writer's BEGIN to that of its COMMIT / window",
        )
    waits = writer.get("wait_ms")
    if not isinstance(waits, dict):
        return
    for label in ("mean", "p50", "p99", "max"):
        wait = number(waits.get(label))
        if wait is not None:
            yield Estimate(
                name=f"{name}.writer_wait_{label}_ms",
                value=wait,
                unit="ms",
                source="how long transactions waited for the right to write",
            )
