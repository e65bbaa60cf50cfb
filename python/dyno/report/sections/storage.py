"""What the storage gave, before any database was on it."""

from __future__ import annotations

import re

from dyno.report.blocks import Block, Cell, Column, Figure, Row, Section, Table
from dyno.report.charts import storage as charts
from dyno.report.charts.keys import keys
from dyno.report.charts.render import Size, render
from dyno.report.page import Page
from dyno.report.words import bytes_text, figure, number

ORDER = 30

_POINT = re.compile(r"(?:(?P<volume>.*)\.)?(?P<curve>\w+)\.qd(?P<depth>\d+)")
_TITLES = {
    "sequential_read": "Sequential read",
    "sequential_write": "Sequential write",
    "random_read": "Random read",
    "mixed": "Random 70/30 mix",
}
_SIDES = {"read": "reads", "write": "writes"}


def section(page: Page) -> Section | None:
    """Curves of every volume that was profiled."""
    points: dict[str, dict[str, list[int]]] = {}
    for name in page.between("io.", ".iops"):
        found = _POINT.fullmatch(name)
        if found:
            curves = points.setdefault(found["volume"] or "", {})
            curves.setdefault(found["curve"], []).append(int(found["depth"]))
    if not points:
        return None
    blocks: list[Block] = []
    for volume, curves in points.items():
        start = f"io.{volume}" if volume else "io"
        blocks += _volume(page, start, volume, curves)
    return Section("storage", "Storage", blocks, _lead(page))


def _lead(page: Page) -> str:
    phases = page.phases("io")
    if not phases:
        return ""
    detail = phases[0].detail
    words = [f"Measured in {detail.get('volume')}"]
    size = number(detail.get("file_bytes"))
    if size is not None:
        words.append(f"on a test file of {bytes_text(size)}")
    direct = detail.get("direct")
    if direct is not None:
        words.append("past the page cache" if direct else "through the page cache")
    if detail.get("engine"):
        words.append(f"with {detail['engine']}")
    return f"{', '.join(words)}. The depth is the number of requests kept in flight."


def _blocks_of(page: Page) -> dict[str, int]:
    """Block size by curve."""
    table = page.bundle.table("io").select(["phase", "block_bytes"]).to_pylist()
    return {row["phase"]: row["block_bytes"] for row in table if row["block_bytes"]}


def _title(curve: str, sizes: dict[str, int]) -> str:
    title = _TITLES.get(curve, curve.replace("_", " "))
    return f"{title}, {bytes_text(sizes[curve])}" if curve in sizes else title


def _volume(page: Page, start: str, volume: str, curves: dict[str, list[int]]) -> list[Block]:
    sizes = _blocks_of(page)
    ceiling = page.value(f"{start}.ceiling_ms") or 20.0
    where = f" of {volume}" if volume else ""
    figures: list[Figure | Table] = []
    random = [curve for curve in curves if not curve.startswith("sequential")]
    points = [
        point for curve in random for point in _points(page, start, curve, curves[curve], sizes)
    ]
    if points:
        figures.append(_latency_figure(points, ceiling, where))
    bars = [
        charts.Bar(
            _title(curve, sizes),
            str(depth),
            value,
            f"{_title(curve, sizes)}, queue depth {depth}: {figure(value)} MB/s",
        )
        for curve in sorted(curves)
        if curve.startswith("sequential")
        for depth in curves[curve]
        if (value := page.value(f"{start}.{curve}.qd{depth}.mbps")) is not None
    ]
    if bars:
        figures.append(
            Figure(
                render(
                    lambda width: charts.sequential(bars, width),
                    Size(360),
                    "Bars of sequential throughput in MB/s by queue depth: "
                    + "; ".join(bar.words for bar in bars),
                ),
                f"Sequential throughput{where} by queue depth, in MB/s (10⁶ bytes).",
                keys([bar.series for bar in bars], shapes=False),
            )
        )
    blocks: list[Block] = [Row(figures)] if figures else []
    return [*blocks, _table(page, start, curves, sizes, ceiling, where)]


def _latency_figure(points: list[charts.Point], ceiling: float, where: str) -> Figure:
    deepest = max(points, key=lambda point: point.iops)
    alt = (
        f"Curves of p95 latency against IOPS{where} as the queue depth rises. "
        f"The most IOPS: {deepest.words}. The ceiling is at {figure(ceiling)} ms."
    )
    return Figure(
        render(lambda width: charts.latency(points, ceiling, width), Size(550), alt),
        f"Throughput against p95 latency{where}, a point for each queue depth (numbers: the depth "
        f"of the first curve). Reads and writes each on their own; the ceiling is "
        f"{figure(ceiling)} ms.",
        keys([point.series for point in points], shapes=True),
    )


def _points(
    page: Page, start: str, curve: str, depths: list[int], sizes: dict[str, int]
) -> list[charts.Point]:
    points: list[charts.Point] = []
    both = any(page.value(f"{start}.{curve}.qd{depth}.write_p95_ms") for depth in depths)
    for side, plural in _SIDES.items():
        for depth in depths:
            name = f"{start}.{curve}.qd{depth}"
            iops, latency = page.value(f"{name}.iops"), page.value(f"{name}.{side}_p95_ms")
            if not iops or not latency:
                continue
            title = f"{_title(curve, sizes)}: {plural}" if both else _title(curve, sizes)
            words = f"{title}, queue depth {depth}: {figure(iops)} IOPS, p95 {figure(latency)} ms"
            points.append(charts.Point(title, depth, iops, latency, words))
    return points


def _table(
    page: Page,
    start: str,
    curves: dict[str, list[int]],
    sizes: dict[str, int],
    ceiling: float,
    where: str,
) -> Table:
    columns = [Column("Curve"), Column("Depth", numeric=True)]
    columns += [Column(label, numeric=True) for label in ("In flight", "IOPS", "MB/s")]
    for side in ("Read", "Write"):
        columns += [
            Column(f"{side} {label}, ms", numeric=True) for label in ("p50", "p95", "p99", "max")
        ]
    rows: list[list[str | Cell]] = []
    for curve, depths in curves.items():
        for depth in depths:
            name = f"{start}.{curve}.qd{depth}"
            figures = ("in_flight", "iops", "mbps")
            row: list[str | Cell] = [_title(curve, sizes), str(depth)]
            row += [figure(page.value(f"{name}.{part}")) for part in figures]
            for side in _SIDES:
                for part in ("p50", "p95", "p99", "max"):
                    value = page.value(f"{name}.{side}_{part}_ms")
                    over = part == "p95" and value is not None and value > ceiling
                    text = figure(value)
                    row.append(Cell(text, "bad", "over the ceiling") if over else text)
            rows.append(row)
    return Table(
        f"Every point{where}", columns, rows, folded=True,
        note="Latencies from the time of submission to completion.",
    )  # fmt: skip
