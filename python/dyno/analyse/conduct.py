"""Client cost of a level and side conditions in the target."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.analyse.level import Level
from dyno.bundle import metrics
from dyno.bundle.metrics.oltp import LATE, WAITS
from dyno.bundle.model import Estimate, Phase
from dyno.bundle.phases.oltp import OltpDetail, Outcome, PageCache, Times, Worst, Writer

WITH_SETTLING = "; with the settling phase"
"""Ends the source of a metric whose time is longer than that of the level's other metrics."""


def conduct(at: metrics.Level, level: Level, phase: Phase[OltpDetail]) -> Iterable[Estimate]:
    """Yields the metrics of the client, of a single writer, page caches and several databases.

    The driver counts without intervals. So its metrics are those of all its measured time, also if
    only the steady end of it counts.

    Args:
        at: The metrics of the level.
        level: The measured level.
        phase: Its phase.
    """
    yield from _apart(at, phase)
    for one in (
        *_writer(at, level.outcome),
        *_page_cache(at, level.outcome),
        *_client(at, level.outcome, level.seconds + level.left_out_s),
        *_worst(at, level.outcome),
        *_schedule(at, level.outcome),
    ):
        source = one.source + (WITH_SETTLING if level.left_out_s else "")
        yield one.model_copy(update={"source": source})
    if level.left_out_s:
        yield at.left_out_s.estimate(
            level.left_out_s,
            f"{level.table}: rows of the settling phase, before throughput was steady",
        )


def _client(at: metrics.Level, outcome: Outcome, seconds: float) -> Iterable[Estimate]:
    """The resource usage of the driver, as the driver measured it."""
    cpu_s, threads = outcome.client_cpu_s, outcome.threads
    if cpu_s is not None and threads:
        yield at.client_cpu_percent.estimate(
            100 * cpu_s / (seconds * threads),
            f"CPU time of the driver / ({threads:g} threads × window)",
        )
    busiest = outcome.thread_utilisation_max
    for key, value in (
        (at.client_cpu_s, cpu_s),
        (at.client_cpu_ms_per_1000, outcome.client_cpu_ms_per_1000),
        (at.client_thread_percent, None if busiest is None else 100 * busiest),
        (at.lag_p99_ms, outcome.lag_p99_ms),
        (at.behind_ms, outcome.behind_ms),
        (at.lost, outcome.lost),
        (at.scheduled, outcome.scheduled),
        (at.late, outcome.late),
        (at.unsent, outcome.unsent),
        (at.stuck, outcome.stuck),
        (at.reconnects, outcome.reconnects),
        (at.gone, outcome.gone),
    ):
        if value is not None:
            yield key.estimate(value, "driver outcome")


def _worst(at: metrics.Level, outcome: Outcome) -> Iterable[Estimate]:
    """The driver metrics in their worst part of the window, with the start of that part.

    A part is a twentieth of the window and at least five intervals.
    """
    worst = outcome.worst or Worst()
    for peak, key, begun, factor in (
        (worst.client_cpu, at.client_cpu_worst_percent, at.client_cpu_worst_at_s, 100.0),
        (
            worst.thread_utilisation,
            at.client_thread_worst_percent,
            at.client_thread_worst_at_s,
            100.0,
        ),
        (worst.lag_p99_ms, at.lag_p99_worst_ms, at.lag_p99_worst_at_s, 1.0),
        (worst.late, at.late_worst_percent, at.late_worst_at_s, 100.0),
    ):
        if peak is None or peak.value is None or peak.at_s is None or peak.seconds is None:
            continue
        source = f"driver outcome: worst part of the window, {peak.seconds:.3g} s"
        yield key.estimate(factor * peak.value, source)
        yield begun.estimate(peak.at_s, source)


def _schedule(at: metrics.Level, outcome: Outcome) -> Iterable[Estimate]:
    """The lateness of the statements of a log."""
    times = outcome.schedule_late_ms or Times()
    for which in LATE:
        late: float | None = getattr(times, which)
        if late is not None:
            source = "driver outcome: from the intended start to the send, all statements"
            yield at.schedule_late(which).estimate(late, source)


def _apart(at: metrics.Level, phase: Phase[OltpDetail]) -> Iterable[Estimate]:
    """The time offset between the measurements of the databases that a level sums up."""
    apart_s = phase.detail.apart_s
    if apart_s is not None:
        source = "from the first to the last start of a database's measurement"
        yield at.apart_s.estimate(apart_s, source)


def _writer(at: metrics.Level, outcome: Outcome) -> Iterable[Estimate]:
    """For a single-writer system: writer utilization and the wait for the writer."""
    writer = outcome.writer or Writer()
    busy = writer.busy_share
    if busy is not None:
        yield at.writer_busy_percent.estimate(
            100 * busy, "time from the end of a writer's BEGIN to the end of its COMMIT / window"
        )
    waits = writer.wait_ms or Times()
    for which in WAITS:
        wait: float | None = getattr(waits, which)
        if wait is not None:
            source = "time transactions waited for the write lock"
            yield at.writer_wait(which).estimate(wait, source)


def _page_cache(at: metrics.Level, outcome: Outcome) -> Iterable[Estimate]:
    """For an embedded database: the page caches of its sessions."""
    cache, seconds = outcome.page_cache or PageCache(), outcome.seconds
    hits, misses = cache.hits, cache.misses
    if hits is not None and misses is not None and hits + misses > 0:
        source = "pages found in the cache of the session / pages looked up"
        yield at.page_hit_percent.estimate(100 * hits / (hits + misses), source)
    for key, pages in (
        (at.page_reads_per_s, misses),
        (at.page_writes_per_s, cache.writes),
        (at.page_spills_per_s, cache.spills),
    ):
        if pages is not None and seconds:
            yield key.estimate(pages / seconds, "driver outcome: pages of all sessions / window")
    if cache.bytes_max is not None:
        yield at.page_cache_bytes.estimate(cache.bytes_max, "driver outcome: largest sum")
