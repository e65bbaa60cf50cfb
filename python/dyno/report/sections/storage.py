"""What the storage gave, before any database was on it."""

from __future__ import annotations

import re

from dyno.report.blocks import Block, Cell, Column, Figure, Row, Section, Table
from dyno.report.charts import grid
from dyno.report.charts import storage as charts
from dyno.report.charts.keys import keys
from dyno.report.charts.render import Size, render
from dyno.report.curves import Curve, Matrix, curves, is_grid, matrices
from dyno.report.page import Page
from dyno.report.words import bytes_text, figure, number

ORDER = 30

_POINT = re.compile(r"(?:(?P<volume>.*)\.)?(?P<curve>\w+)\.qd(?P<depth>\d+)")
_SIDES = {"read": "reads", "write": "writes"}
_WIDE, _HALF, _SMALL = Size(550), Size(410), Size(410, 225)


def section(page: Page) -> Section | None:
    """Curves of every volume that was profiled."""
    depths: dict[str, dict[str, list[int]]] = {}
    for name in page.between("io.", ".iops"):
        found = _POINT.fullmatch(name)
        if found:
            of_volume = depths.setdefault(found["volume"] or "", {})
            of_volume.setdefault(found["curve"], []).append(int(found["depth"]))
    if not depths:
        return None
    blocks: list[Block] = []
    for volume, of_volume in depths.items():
        blocks += _Volume(page, volume, of_volume).blocks()
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


class _Volume:
    """The blocks of one volume."""

    def __init__(self, page: Page, volume: str, depths: dict[str, list[int]]) -> None:
        self.page = page
        self.start = f"io.{volume}" if volume else "io"
        self.where = f" of {volume}" if volume else ""
        self.ceiling = page.value(f"{self.start}.ceiling_ms") or 20.0
        self.curves = [c for c in curves(page, self.start, volume) if c.name in depths]
        self.depths = depths

    def blocks(self) -> list[Block]:
        grid = is_grid(self.curves)
        figures = self.of_grid() if grid else self.of_list()
        pairs = [figures[at : at + 2] for at in range(0, len(figures), 2)]
        return [*(Row(pair, even=grid) for pair in pairs), self.table()]

    def of_list(self) -> list[Figure]:
        random = [curve for curve in self.curves if curve.pattern != "sequential"]
        points = [point for curve in random for point in self.points(curve, curve.title, both=True)]
        bars = self.bars()
        found = (
            [self.latency(points, "Random reads and writes, each on their own", _WIDE)]
            if points
            else []
        )
        return [*found, self.sequential(bars)] if bars else found

    def of_grid(self) -> list[Figure]:
        figures = [self.matrix(each) for each in matrices(self.curves)]
        for kind in dict.fromkeys(curve.kind for curve in self.curves):
            own = [curve for curve in self.curves if curve.kind == kind]
            # Reads and writes of each would be more lines than one can tell apart.
            points = [
                point
                for curve in own
                for point in self.points(curve, bytes_text(curve.block_bytes), both=False)
            ]
            if points:
                side = "the slower of its reads and writes" if own[0].is_mix else "by block size"
                figures.append(self.latency(points, f"{kind}, {side}", _HALF))
        return figures

    def matrix(self, matrix: Matrix) -> Figure:
        squares: list[grid.Square] = []
        for kind in matrix.kinds:
            for block in matrix.blocks:
                curve = matrix.curves.get((kind, block))
                value = None if curve is None else curve.best
                column = f"{block / 1024:g}"
                said = "none" if value is None else f"{figure(value)} {matrix.unit}"
                words = f"{kind}, {column} KiB: {said}"
                squares.append(grid.Square(kind, column, value or 0.0, figure(value), words))
        what = (
            f"Most IOPS{self.where} with p95 of reads and of writes, each on its own, within "
            f"{figure(self.ceiling)} ms, by block size"
            if matrix.figure == "iops"
            else f"Highest MB/s (10⁶ bytes){self.where} by block size"
        )
        return Figure(
            render(
                lambda width: grid.heat(squares, "Block size, KiB", width),
                _SMALL,
                f"{what}: " + "; ".join(square.words for square in squares),
            ),
            f"{what}. The deeper the colour, the more.",
        )

    def points(self, curve: Curve, title: str, *, both: bool) -> list[charts.Point]:
        """Those of reads and of writes, or one for the slower of them."""
        points: list[charts.Point] = []
        for depth in self.depths[curve.name]:
            name = f"{self.start}.{curve.name}.qd{depth}"
            iops = self.page.value(f"{name}.iops")
            found = {side: self.page.value(f"{name}.{side}_p95_ms") for side in _SIDES}
            sides = {side: value for side, value in found.items() if value}
            if not iops or not sides:
                continue
            if both and curve.is_mix:
                shown = {f"{title}: {_SIDES[side]}": value for side, value in sides.items()}
            else:
                shown = {title: max(sides.values())}
            for series, latency in shown.items():
                words = (
                    f"{series}, queue depth {depth}: {figure(iops)} IOPS, p95 {figure(latency)} ms"
                )
                points.append(charts.Point(series, depth, iops, latency, words))
        return points

    def latency(self, points: list[charts.Point], what: str, size: Size) -> Figure:
        deepest = max(points, key=lambda point: point.iops)
        alt = (
            f"Curves of p95 latency against IOPS{self.where} as the queue depth rises. "
            f"The most IOPS: {deepest.words}. The ceiling is at {figure(self.ceiling)} ms."
        )
        caption = (
            f"{what}: throughput against p95 latency{self.where}, a point for each queue depth "
            f"(numbers: the depth of the first curve). The ceiling is {figure(self.ceiling)} ms."
        )
        return Figure(
            render(lambda width: charts.latency(points, self.ceiling, width), size, alt),
            caption,
            keys([point.series for point in points], shapes=True),
        )

    def bars(self) -> list[charts.Bar]:
        return [
            charts.Bar(
                curve.title,
                str(depth),
                value,
                f"{curve.title}, queue depth {depth}: {figure(value)} MB/s",
            )
            for curve in sorted(self.curves, key=lambda curve: curve.name)
            if curve.pattern == "sequential"
            for depth in self.depths[curve.name]
            if (value := self.page.value(f"{self.start}.{curve.name}.qd{depth}.mbps")) is not None
        ]

    def sequential(self, bars: list[charts.Bar]) -> Figure:
        return Figure(
            render(
                lambda width: charts.sequential(bars, width),
                Size(360),
                "Bars of sequential throughput in MB/s by queue depth: "
                + "; ".join(bar.words for bar in bars),
            ),
            f"Sequential throughput{self.where} by queue depth, in MB/s (10⁶ bytes).",
            keys([bar.series for bar in bars], shapes=False),
        )

    def table(self) -> Table:
        columns = [Column("Curve"), Column("Depth", numeric=True)]
        columns += [Column(label, numeric=True) for label in ("In flight", "IOPS", "MB/s")]
        for side in ("Read", "Write"):
            columns += [
                Column(f"{side} {label}, ms", numeric=True)
                for label in ("p50", "p95", "p99", "max")
            ]
        rows = [
            self.row(curve, depth) for curve in self.curves for depth in self.depths[curve.name]
        ]
        return Table(
            f"Every point{self.where}", columns, rows, folded=True,
            note="Latencies from the time of submission to completion.",
        )  # fmt: skip

    def row(self, curve: Curve, depth: int) -> list[str | Cell]:
        name = f"{self.start}.{curve.name}.qd{depth}"
        row: list[str | Cell] = [curve.title, str(depth)]
        row += [figure(self.page.value(f"{name}.{part}")) for part in ("in_flight", "iops", "mbps")]
        for side in _SIDES:
            for part in ("p50", "p95", "p99", "max"):
                value = self.page.value(f"{name}.{side}_{part}_ms")
                over = part == "p95" and value is not None and value > self.ceiling
                text = figure(value)
                row.append(Cell(text, "bad", "over the ceiling") if over else text)
        return row
