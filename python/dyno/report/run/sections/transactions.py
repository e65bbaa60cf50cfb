"""Transactions: throughput and latency by load level."""

from __future__ import annotations

from dyno.bundle import metrics, mixes
from dyno.bundle.metrics.oltp import Time
from dyno.bundle.phases.oltp import OltpDetail
from dyno.report.kit.blocks import (
    Block,
    Cell,
    Column,
    Figure,
    Section,
    Table,
    without_empty,
)
from dyno.report.kit.charts import users as charts
from dyno.report.kit.charts.keys import keys
from dyno.report.kit.charts.render import Size, render
from dyno.report.kit.formats import bytes_text, operation_title, rounded, users_title
from dyno.report.run.latencies import TIMES
from dyno.report.run.page import Level, Page

ORDER = 50

_PERCENTILES: tuple[Time, ...] = ("p50", "p95", "p99")
_L = metrics.Level
_WRITER = (_L.writer_busy_percent, _L.writer_wait("mean"))
"""For single-writer engines only."""
_PAGES = {
    "Hit ratio, %": _L.page_hit_percent,
    "Read, pages/s": _L.page_reads_per_s,
    "Written, pages/s": _L.page_writes_per_s,
    "Spilled, pages/s": _L.page_spills_per_s,
}
"""For embedded engines only."""
_SCHEDULE = {
    "Due": _L.scheduled,
    "Sent late": _L.late,
    "Never sent": _L.unsent,
    "Worst part, %": _L.late_worst_percent,
    "Late p50, ms": _L.schedule_late("p50"),
    "Late p99, ms": _L.schedule_late("p99"),
    "Lag p99, ms": _L.lag_p99_ms,
}
"""For open loops only."""
_DRIVER = {"Driver CPU, %": _L.client_cpu_percent, "Driver ms/1000": _L.client_cpu_ms_per_1000}
_SCHEDULED = {"Behind, ms": _L.behind_ms, "Lost": _L.lost}
"""For workloads that schedule work of their own."""
_ABOUT_DRIVER = "Driver CPU: mean of its threads; ms/1000: CPU milliseconds per 1,000 transactions."
_HOMES = {
    "fixed": "each user has a fixed {}",
    "all": "each user cycles through all {}s",
}


def section(page: Page) -> Section | None:
    """Throughput and latency over users if there are several levels; then a table per level."""
    if not page.levels:
        return None
    blocks: list[Block] = [_levels(page)]
    if _is_scheduled(page):
        blocks.append(_schedule(page))
    if any(_memory(page, level) is not None for level in page.levels):
        blocks.append(_page_cache(page))
    several = sum(not level.is_part for level in page.levels) > 1
    # A search has its own curve; levels at the same time are no curve.
    if several and page.search is None and not mixes.windows(page.run):
        blocks.insert(0, _figure(page))
    best = page.best_level
    blocks += [_operations(page, level, folded=level is not best) for level in page.levels]
    return Section("transactions", "Transactions", blocks, _lead(page))


def _title(level: Level) -> str:
    return users_title(level.phase.detail if level.phase else None, level.name)


def _lead(page: Page) -> str:
    detail = page.levels[0].phase.detail if page.levels[0].phase else OltpDetail()
    words: list[str] = []
    if detail.size is not None:
        words.append(page.driven_scale or page.transactions.units(detail.size))
    if detail.days is not None:
        words.append(f"{detail.days} initial days")
    if detail.loop is not None:
        if detail.is_open:
            gaps = "Poisson" if detail.loop.poisson else "uniform"
            words.append(f"open loop with {gaps} arrivals")
        elif detail.is_replay:
            words.append("statements start as in the log")
        elif detail.thinks:
            words.append("keying and think times as the workload prescribes")
        else:
            words.append("closed loop without think times (unpaced)")
    if detail.mode == "procedure":
        words.append("each transaction is one stored procedure call")
    elif detail.mode == "client":
        words.append("the client sends the statements")
    home = _HOMES.get(str(detail.home))
    if home is not None:
        words.append(home.format(page.transactions.unit))
    warmup, duration = detail.warmup_s, detail.duration_s
    if duration is not None and warmup is not None:
        words.append(f"{duration:g} s measured after {warmup:g} s of warm-up")
    left_out = [
        f"{rounded(value)} s with {_title(level)}"
        for level in page.levels
        if (value := page.value(level.metrics.left_out_s))
    ]
    if left_out:
        words.append(f"excluded as not yet steady: {', '.join(left_out)}")
    text = "; ".join(words)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _users(level: Level) -> int:
    users = level.phase.detail.users if level.phase else None
    return 0 if users is None else int(users)


def _figure(page: Page) -> Figure:
    main = page.transactions
    throughput: list[charts.Throughput] = []
    latency: list[charts.Latency] = []
    for level in page.levels:
        if level.is_part:
            continue
        tps = page.value(level.metrics.tps) or 0.0
        title = _title(level)
        throughput.append(
            charts.Throughput(title, _users(level), tps, f"{title}: {rounded(tps)} transactions/s")
        )
        for percentile in _PERCENTILES:
            value = page.value(level.metrics.operation(main.main).response(percentile))
            if value:
                words = f"{title}: {main.title} {percentile} {rounded(value)} ms"
                latency.append(charts.Latency(title, _users(level), percentile, value, words))
    apart = len({item.users for item in throughput}) == len(throughput)
    over = "the number of users" if apart else "the levels of load"
    alt = f"Two panels over {over}. Throughput: "
    alt += "; ".join(item.words for item in throughput)
    p95 = [item.words for item in latency if item.percentile == "p95"]
    alt += f". Response time: {'; '.join(p95)}." if p95 else "."
    name = main.title
    return Figure(
        render(lambda width: charts.users(throughput, latency, name, width), Size(985), alt),
        f"Throughput and {main.title} response time (logarithmic) by "
        f"{'users' if apart else 'level'}. Response time starts at the intended start.",
        keys([item.percentile for item in latency], shapes=True),
        page.transaction_notice,
    )


def _levels(page: Page) -> Table:
    mains = list({one.main: one for one in map(page.operations_of, page.levels)}.values())
    main = mains[0]
    of_main = main.title if len(mains) == 1 else "Main operation"
    per_min = main.plural_title if len(mains) == 1 else "Main operations"
    columns = [Column("Load")] + [
        Column(label, numeric=True)
        for label in (
            *("Transactions/s", f"{per_min}/min", "Of paced, %", f"{of_main} p95, ms"),
            *("Errors", "Retries", "Variation, %", "Trend, %"),
            *(() if _is_scheduled(page) else _DRIVER),
            *_SCHEDULED,
        )
    ]
    alone = any(page.value(level.metrics.writer_busy_percent) is not None for level in page.levels)
    if alone:
        columns += [
            Column("Write lock held, %", numeric=True),
            Column("Write lock wait, ms", numeric=True),
        ]
    rows: list[list[str | Cell]] = []
    for level in page.levels:
        at, own = level.metrics, page.operations_of(level)
        errors = page.value(at.errors)
        rows.append(
            [
                _title(level),
                rounded(page.value(at.tps)),
                rounded(page.value(at.per_min(own.plural))),
                _pace(page, level),
                rounded(page.value(at.operation(own.main).response("p95"))),
                Cell(rounded(errors), "bad", "errors") if errors else rounded(errors),
                rounded(page.value(at.retries)),
                rounded(page.value(at.variation_percent)),
                _trend(page, at),
                *([] if _is_scheduled(page) else _cells(page, level, _DRIVER)),
                *_cells(page, level, _SCHEDULED),
                *(rounded(page.value(metric.of(at))) for metric in _WRITER if alone),
            ]
        )
    note = (
        "Variation: coefficient of variation of throughput by second. Trend: linear change over "
        "the window with its 95 % interval. "
        f"{'' if _is_scheduled(page) else f'{_ABOUT_DRIVER} '}"
    )
    if main.pace is not None:
        note += (
            f"Of paced: {main.plural_title.lower()} relative to {main.pace.per_min:g} per minute "
            f"and {main.unit}, the maximum with keying and think times; a higher result is unpaced."
        )
    note = note.rstrip()
    if any(page.value(level.metrics.behind_ms) is not None for level in page.levels):
        note += (
            " Behind: largest delay of work that the workload schedules itself; lost: pieces of it "
            "that were never done."
        )
    if alone:
        note += (
            " Write lock held: share of time a transaction held the write lock; write lock wait: "
            "mean wait for it."
        )
    if alone or not _is_scheduled(page):
        note += _span(page)
    columns, rows = without_empty(columns, rows)
    return Table("Load levels", columns, rows, note, page.transaction_notice)


def _span(page: Page) -> str:
    """Says so if metrics of the driver are of a longer time than the other metrics."""
    if not any(page.value(level.metrics.left_out_s) for level in page.levels):
        return ""
    return (
        " What the driver counts without intervals (schedule, CPU time, write lock, page caches) "
        "includes the time before throughput was steady."
    )


def _is_scheduled(page: Page) -> bool:
    """Whether there are open loops, which have their own table."""
    return any(page.value(level.metrics.scheduled) for level in page.levels)


def _schedule(page: Page) -> Table:
    """Late and unsent transactions of open loops, and the driver's CPU."""
    labels = {**_SCHEDULE, **_DRIVER}
    columns = [Column("Load"), *(Column(label, numeric=True) for label in labels)]
    rows = [[_title(level), *_cells(page, level, labels)] for level in page.levels]
    note = (
        "Sent late: no session was free at the scheduled time. Lag: delay of the driver itself. "
        "Worst part: late or unsent share in the worst twentieth of the window (at least five "
        f"intervals). {_ABOUT_DRIVER}{_span(page)}"
    )
    columns, rows = without_empty(columns, rows)
    return Table("Schedule and driver", columns, rows, note)


def _page_cache(page: Page) -> Table:
    """The page caches of the sessions."""
    columns = [Column("Load"), *(Column(label, numeric=True) for label in (*_PAGES, "Memory"))]
    rows: list[list[str | Cell]] = [
        [_title(level), *_cells(page, level, _PAGES), bytes_text(_memory(page, level))]
        for level in page.levels
    ]
    note = (
        "All sessions together; each has a cache of its own, and discards it when another session "
        "has written. Written: to the log or the file. Spilled: written before the transaction "
        "ended, because the cache was full. Memory: the largest sum."
    ) + _span(page)
    return Table("Page caches of the sessions", columns, rows, note)


def _memory(page: Page, level: Level) -> float | None:
    return page.value(level.metrics.page_cache_bytes)


def _cells(page: Page, level: Level, labels: dict[str, metrics.Metric]) -> list[str | Cell]:
    return [rounded(page.value(metric.of(level.metrics))) for metric in labels.values()]


def _pace(page: Page, level: Level) -> str:
    text = rounded(page.value(level.metrics.paced_percent))
    return f"{text}, unpaced" if page.unpaced(level) else text


def _trend(page: Page, at: metrics.Level) -> str:
    trend = page.estimate(at.trend_percent)
    if trend is None or trend.low is None or trend.high is None:
        return "–"
    return f"{trend.value:+.1f} ({trend.low:+.1f} to {trend.high:+.1f})"


def _operations(page: Page, level: Level, *, folded: bool) -> Table:
    """Two rows per transaction, response and service time: side by side they are too wide."""
    columns = [
        Column("Transaction"),
        *(Column(label, numeric=True) for label in ("Count", "/s", "Errors")),
        Column("Time"),
        *(Column(f"{label}, ms", numeric=True) for label in TIMES.values()),
    ]
    rows: list[list[str | Cell]] = []
    for operation in level.operations:
        at = level.metrics.operation(operation)
        errors = page.value(at.errors)
        counts: list[str | Cell] = [
            rounded(page.value(at.count)),
            rounded(page.value(at.per_s)),
            Cell(rounded(errors), "bad", "errors") if errors else rounded(errors),
        ]
        for kind, key in at.kinds.items():
            times = [rounded(page.value(key(time))) for time in TIMES]
            rows.append([operation_title(operation), *counts, kind, *times])
            counts = ["", "", ""]
    return Table(
        f"By transaction, {_title(level)}",
        columns,
        rows,
        "Response: from the intended start to the end. Service: from the send to the end.",
        page.transaction_notice,
        folded=folded,
    )
