"""Decision support: all queries on all targets."""

from __future__ import annotations

from dyno.bundle import metrics
from dyno.bundle.phases.dss import DssDetail
from dyno.report.kit.blocks import Block, Cell, Column, Figure, Section, Table
from dyno.report.kit.charts import queries as charts
from dyno.report.kit.charts.keys import keys
from dyno.report.kit.charts.render import Size, render
from dyno.report.kit.formats import fixed, query_title, rounded
from dyno.report.run import cache
from dyno.report.run.page import Page
from dyno.report.run.query_work import work_table
from dyno.targets import store

ORDER = 40


def section(page: Page) -> Section | None:
    """Bars by query, totals, and the table with ratios."""
    targets = page.query_targets
    seconds = {target: page.queries(target) for target in targets}
    queries = sorted({query for times in seconds.values() for query in times})
    if not targets or not (queries or _failed(page)):
        return None
    blocks: list[Block] = []
    if queries:
        blocks.append(_figure(page, seconds, queries))
    blocks.append(_totals(page))
    if queries:
        blocks.append(_table(page, seconds, queries))
    work = work_table(page)
    if work is not None:
        blocks.append(work)
    return Section("queries", "Decision support", blocks, _lead(page))


def _failed(page: Page) -> bool:
    return any(page.value(metrics.Queries(target).queries_failed) for target in page.query_targets)


def _label(page: Page, target: str) -> str:
    kind = store(target)
    return f"{page.title(target)} ({kind})" if kind else page.title(target)


def _lead(page: Page) -> str:
    scale = page.query_scale
    order = "the order of their file" if page.own_title else "power-test order"
    named = f"{page.own_title}. " if page.own_title else ""
    parts = [f"{named}One session runs one query at a time, in {order}"]
    if scale is not None:
        parts.append(f" at scale factor {scale:g}")
    text = f"{''.join(parts)}. {cache.sentence(page)}"
    targets = page.query_targets
    for other in targets[1:]:
        text += _compared(page, targets[0], other)
    return text.rstrip()


def _compared(page: Page, first: str, other: str) -> str:
    pair = metrics.QueriesPair(first, other)
    ratio, total = page.value(pair.geomean_ratio), page.value(pair.total_ratio)
    if ratio is None or total is None:
        return ""
    slower = [
        query_title(query)
        for query in pair.queries(page.known)
        if (page.value(pair.query(query).ratio) or 1.0) < 1.0
    ]
    text = (
        f"{page.title(first)} took {rounded(ratio)} times as long as {page.title(other)} (geometric"
        f" mean of the queries), {rounded(total)} times in total. "
    )
    if slower:
        text += f"{page.title(other)} was slower in {', '.join(slower)}. "
    return text


def _figure(page: Page, seconds: dict[str, dict[str, float]], queries: list[str]) -> Figure:
    bars = [
        charts.Bar(
            query_title(query),
            _label(page, target),
            times[query],
            f"{query_title(query)} on {page.title(target)}: {rounded(times[query])} s",
        )
        for query in queries
        for target, times in seconds.items()
        if query in times
    ]
    names = " and ".join(page.title(target) for target in seconds)
    alt = f"Bars of seconds by query on {names}, on a logarithmic axis; the table has the values."
    return Figure(
        render(lambda width: charts.seconds(bars, width), Size(1000), alt),
        "Seconds by query, on a logarithmic axis: compare the ends of the bars, not their lengths.",
        keys([bar.target for bar in bars], shapes=False),
        page.query_notice,
    )


def _totals(page: Page) -> Table:
    columns = [Column("Target"), Column("Queries", numeric=True)]
    columns += [
        Column(label, numeric=True)
        for label in ("Total, s", "Geometric mean, s", "Mean, s", "Power score", "Failed")
    ]
    rows: list[list[str | Cell]] = []
    for target in page.query_targets:
        at = metrics.Queries(target)
        failed = page.value(at.queries_failed) or 0
        rows.append(
            [
                _label(page, target),
                rounded(page.value(at.queries_done)),
                fixed(page.value(at.power_total_s), 2),
                fixed(page.value(at.geomean_s), 3),
                fixed(page.value(at.mean_s), 3),
                rounded(page.value(at.power_score)),
                Cell(rounded(failed), "bad", "failed") if failed else rounded(failed),
            ]
        )
    note = (
        "Total: first submission to last completion; none if a query is missing. Power score: "
        "3600 × scale factor / geometric mean, without refresh functions (Dyno's own metric)."
    )
    return Table("Power test", columns, rows, note, page.query_notice)


def _table(page: Page, seconds: dict[str, dict[str, float]], queries: list[str]) -> Table:
    targets = list(seconds)
    columns = [Column("Query")]
    columns += [Column(f"{page.title(target)}, s", numeric=True) for target in targets]
    columns += [
        Column(f"{page.title(targets[0])} / {page.title(other)}", numeric=True)
        for other in targets[1:]
    ]
    answers = _answers(page)
    if answers:
        columns.append(Column("Answers"))
    titles = _titles(page)
    columns.append(Column("Description", wide=True))
    rows: list[list[str | Cell]] = []
    for query in queries:
        row: list[str | Cell] = [query_title(query)]
        row += [fixed(seconds[target].get(query), 3) for target in targets]
        for other in targets[1:]:
            pair = metrics.QueriesPair(targets[0], other)
            row.append(_ratio(page.value(pair.query(query).ratio)))
        if answers:
            row.append(answers.get(query, "–"))
        row.append(titles.get(query, ""))
        rows.append(row)
    notes = [f"{_variants(page, target)}." for target in targets if _variants(page, target)]
    if targets[1:]:
        notes.insert(0, "A ratio below 1: the query is slower on the other target.")
    note = " ".join(notes)
    return Table("Seconds by query", columns, rows, note, page.query_notice)


def _variants(page: Page, target: str) -> str:
    queries: dict[str, list[str]] = {}
    for phase in page.phases_of(DssDetail):
        if phase.target != target:
            continue
        for query, words in (phase.detail.variants or {}).items():
            named = queries.setdefault(words, [])
            if query_title(query) not in named:
                named.append(query_title(query))
    texts = [f"{', '.join(named)}: {words}" for words, named in queries.items()]
    return f"Changed for {page.title(target)}: {'; '.join(texts)}" if texts else ""


def _ratio(ratio: float | None) -> str | Cell:
    text = "–" if ratio is None else f"{rounded(ratio)} ×"
    return Cell(text, "bad", "slower") if ratio is not None and ratio < 1 else text


def _answers(page: Page) -> dict[str, str | Cell]:
    """The check result of each query; the worst of several."""
    found: dict[str, list[bool | None]] = {}
    for check in page.answer_checks:
        query = check.name.replace("-", " ").split()[-1]
        found.setdefault(query, []).append(check.passed)
    words: dict[str, str | Cell] = {}
    for query, results in found.items():
        if False in results:
            words[query] = Cell("differ", "bad")
        elif None in results:
            words[query] = Cell("not verified", "muted")
        else:
            words[query] = "equal"
    return words


def _titles(page: Page) -> dict[str, str]:
    """The description of each query; empty if this version lacks the workload."""
    queries = () if page.queried is None else page.queried.queries
    return {query.name: query.title for query in queries}
