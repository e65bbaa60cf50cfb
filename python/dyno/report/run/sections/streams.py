"""Decision support with streams: the three metrics, each stream, and the refresh functions."""

from __future__ import annotations

from dyno.bundle import metrics
from dyno.bundle.model import Phase
from dyno.bundle.phases.dss import DssDetail
from dyno.report.kit.blocks import Block, Cell, Column, Figure, Note, Notes, Section, Table
from dyno.report.kit.charts import theme
from dyno.report.kit.charts import timeline as charts
from dyno.report.kit.charts.render import Size, render
from dyno.report.kit.formats import fixed, query_title, rounded, seconds
from dyno.report.run import cache
from dyno.report.run.page import Page
from dyno.report.run.trials import REFRESH_STREAM, Trial, missing, scores, trials, unit

ORDER = 45

_LANE_REFRESH = "Refresh"


def section(page: Page) -> Section | None:
    """Metrics, a timeline of all queries, and tables."""
    found = trials(page)
    if not any(test.several or test.refresh for test in found):
        return None
    blocks: list[Block] = [_scores(page)]
    reasons = [Note(f"{page.title(name)}: {why}", "muted") for name, why in missing(page).items()]
    if reasons:
        blocks.append(Notes(reasons))
    for test in found:
        if test.several:
            blocks += [_bands(page, test), _streams(page, test)]
        if test.several and test.databases > 1:
            blocks.append(_databases(page, test))
    refreshes = _refreshes(page, found)
    if refreshes.rows:
        blocks.append(refreshes)
    title = "Decision support: streams" + (" and refresh" if page.refreshes else "")
    return Section("streams", title, blocks, _lead(page, found))


def _lead(page: Page, found: list[Trial]) -> str:
    several = [test for test in found if test.several]
    if not several:
        return "A power test with both refresh functions."
    detail = several[0].phase.detail
    drawn = detail.parameters == "seeded"
    words = f"parameters from seed {detail.seed}" if drawn else "validation parameters"
    count = several[0].streams
    who = "One query stream" if count == 1 else f"{count} concurrent query streams"
    refresh = " and one refresh stream" if several[0].refresh else ""
    if several[0].databases > 1:
        who += f" in {several[0].databases} databases, {detail.streams_each} in each"
        refresh += " per database" if refresh else ""
    named = f"{page.own_title}. " if page.own_title else ""
    text = f"{named}{who}, each in its own order, with {words}{refresh}. "
    return f"{text}{cache.sentence(page, 'throughput')}".rstrip()


def _scores(page: Page) -> Table:
    columns = [Column("Target")]
    whole = page.refreshes
    labels = ("Power", "Throughput", "Composite") if whole else ("Throughput",)
    labels = ("Streams", *labels, "Throughput test, s", "Mean query, s")
    columns += [Column(label, numeric=True) for label in labels]
    columns.append(Column("Unit"))
    rows: list[list[str | Cell]] = []
    for target in dict.fromkeys(test.target for test in trials(page)):
        found = scores(page, target)
        streams = [test.streams for test in trials(page) if test.target == target and test.several]
        rate = found.get("throughput")
        plain = page.value(metrics.Queries(target).throughput_score)
        rows.append(
            [
                page.title(target),
                rounded(streams[0]) if streams else "–",
                *([rounded(found.get("power"))] if whole else []),
                Cell(rounded(plain), "muted", "without refresh functions")
                if whole and rate is None and plain is not None
                else rounded(plain if rate is None else rate),
                *([rounded(found.get("composite"))] if whole else []),
                fixed(page.value(metrics.Queries(target).throughput_total_s), 2),
                fixed(page.value(metrics.Queries(target).throughput_mean_s), 2),
                unit(page, target) or "–",
            ]
        )
    note = (
        "Power: 3600·SF / geometric mean of the 22 query intervals and the 2 refresh functions. "
        "Throughput: streams·22·3600·SF / seconds. Composite: geometric mean of both. Results of "
        "different scale factors are not comparable. With several databases, SF is that of each."
    )
    if not whole:
        each = trials(page)[-1].phase.detail.queries_each or 0
        note = f"Throughput: streams·{each}·3600·SF / seconds; a stream has {each} queries."
    title = "Power, throughput and composite" if whole else "Throughput"
    return Table(title, columns, rows, note, page.query_notice)


def _bands(page: Page, test: Trial) -> Figure:
    start = test.phase.start_ns
    lanes = [charts.Lane(_lane(test, number), theme.SKY) for number in range(1, test.streams + 1)]
    if test.refresh:
        every = range(1, test.databases + 1)
        lanes += [charts.Lane(_refresh_lane(test, number), theme.AMBER) for number in every]
    bands: list[charts.Band] = []
    for row in test.rows:
        refresh = row["stream"] == REFRESH_STREAM
        title = row["query"].upper() if refresh else query_title(row["query"])
        end = row["end_ns"] or row["t_ns"]
        why = f", failed: {row['error']}" if row["error"] else ""
        bands.append(
            charts.Band(
                _refresh_lane(test, row["database"]) if refresh else _lane(test, row["stream"]),
                (row["t_ns"] - start) / 1e9,
                (end - start) / 1e9,
                f"{title} ✗" if row["error"] else title,
                f"{title}, {'pair' if refresh else 'stream'} "
                f"{row['position'] if refresh else row['stream']}: "
                f"{seconds((end - row['t_ns']) / 1e9)}{why}",
                0.5 if refresh or row["position"] % 2 else 0.27,
            )
        )
    alt = f"A band for each query of {test.streams} streams over time; the table has their totals."
    return Figure(
        render(lambda width: charts.timeline(bands, lanes, [], width), Size(970), alt),
        f"The throughput test on {page.title(test.target)}: the queries of each stream"
        f"{' by database (DB)' if test.databases > 1 else ''}, in alternating shades. Seconds "
        "since the start of the test.",
        notice=page.query_notice,
    )


def _lane(test: Trial, number: int) -> str:
    database = test.database(number)
    return f"Stream {number}" if database is None else f"DB{database} no. {number}"


def _refresh_lane(test: Trial, database: int | None) -> str:
    return _LANE_REFRESH if test.databases == 1 else f"DB{database} refresh"


def _databases(page: Page, test: Trial) -> Table:
    columns = [Column("Database")]
    columns += [Column(label, numeric=True) for label in ("Start, s", "End, s", "Total, s")]
    columns += [Column("Queries", numeric=True), Column("Failed", numeric=True)]
    columns.append(Column("Throughput", numeric=True))
    begun_s = (test.phase.start_ns - page.run.clock.unix_ns) / 1e9
    rows: list[list[str | Cell]] = []
    for number in range(1, test.databases + 1):
        at = metrics.Queries(test.target).database(number)
        lost = page.value(at.failed) or 0
        rate = page.value(at.throughput)
        plain = page.value(at.throughput_score)
        rows.append(
            [
                str(number),
                fixed(_since(begun_s, page.value(at.start_s)), 2),
                fixed(_since(begun_s, page.value(at.end_s)), 2),
                fixed(page.value(at.total_s), 2),
                rounded(page.value(at.done)),
                Cell(rounded(lost), "bad", "failed") if lost else rounded(lost),
                rounded(plain if rate is None else rate),
            ]
        )
    note = (
        "All databases run at the same time, on one clock. The throughput of all counts from the "
        "first start to the last end, so it can be lower than the sum of these."
    )
    return Table(f"Databases on {page.title(test.target)}", columns, rows, note, page.query_notice)


def _streams(page: Page, test: Trial) -> Table:
    columns = [Column("Stream"), *([Column("Database")] if test.databases > 1 else [])]
    columns += [Column(label, numeric=True) for label in ("Start, s", "End, s", "Total, s")]
    columns += [Column("Queries", numeric=True), Column("Failed", numeric=True)]
    columns += [Column("Slowest"), Column("Slowest, s", numeric=True)]
    rows: list[list[str | Cell]] = []
    # As in the chart above; estimates count from the start of the run.
    begun_s = (test.phase.start_ns - page.run.clock.unix_ns) / 1e9
    for number in range(1, test.streams + 1):
        at = metrics.Queries(test.target).stream(number)
        lost = page.value(at.failed) or 0
        slowest = test.slowest(number)
        rows.append(
            [
                str(number),
                *([str(test.database(number) or "–")] if test.databases > 1 else []),
                fixed(_since(begun_s, page.value(at.start_s)), 2),
                fixed(_since(begun_s, page.value(at.end_s)), 2),
                fixed(page.value(at.total_s), 2),
                rounded(page.value(at.done)),
                Cell(rounded(lost), "bad", "failed") if lost else rounded(lost),
                query_title(slowest["query"]) if slowest else "–",
                fixed(slowest["seconds"], 3) if slowest else "–",
            ]
        )
    note = "Start and end: seconds since the start of the test."
    caption = f"Streams on {page.title(test.target)}"
    return Table(caption, columns, rows, note, page.query_notice)


def _since(begun_s: float, value: float | None) -> float | None:
    return None if value is None else max(0.0, value - begun_s)


def _refreshes(page: Page, found: list[Trial]) -> Table:
    columns = [Column("Target"), Column("Pair"), Column("During")]
    columns += [
        Column(label, numeric=True) for label in ("Insert, s", "Delete, s", "Rows inserted")
    ]
    rows: list[list[str | Cell]] = []
    for test in found:
        pairs = [row for row in test.rows if row["stream"] == REFRESH_STREAM]
        for number in sorted({row["position"] for row in pairs}):
            at = metrics.Queries(test.target).refresh(number)
            inserted = [
                row["rows"] for row in pairs if (row["position"], row["query"]) == (number, "rf1")
            ]
            rows.append(
                [
                    page.title(test.target),
                    str(number),
                    _during(test.phase),
                    fixed(page.value(at.function("rf1")), 3),
                    fixed(page.value(at.function("rf2")), 3),
                    rounded(inserted[0] if inserted else None),
                ]
            )
    note = (
        "Each function is one transaction. RF1 inserts new orders; RF2 deletes as many loaded "
        "ones. Dyno restores the data after the tests."
    )
    return Table("Refresh functions", columns, rows, note, page.query_notice)


def _during(phase: Phase[DssDetail]) -> str:
    return "power test" if phase.detail.test == "power" else "throughput test"
