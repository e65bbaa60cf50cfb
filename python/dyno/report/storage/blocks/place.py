"""The charts and the table of a volume set at a fill level."""

from __future__ import annotations

from dyno.bundle import metrics
from dyno.bundle.metrics.io import Rate, SideName
from dyno.report.kit.blocks import Block, Figure, Row
from dyno.report.kit.charts import bars, grid
from dyno.report.kit.charts import lines as linear
from dyno.report.kit.charts import storage as charts
from dyno.report.kit.charts.keys import keys
from dyno.report.kit.charts.render import Size, render
from dyno.report.kit.formats import bytes_text, rounded
from dyno.report.run.page import Page
from dyno.report.storage.blocks.notes import notes
from dyno.report.storage.blocks.settling import settling
from dyno.report.storage.blocks.syncs import syncs
from dyno.report.storage.curves import Curve, Matrix, is_grid, load_title, matrices
from dyno.report.storage.places import FilledSet

_SIDES: dict[SideName, str] = {"read": "reads", "write": "writes"}
_WIDE, _HALF, _SMALL = Size(550), Size(410), Size(410, 225)


def blocks(page: Page, place: FilledSet, *, drawn: bool) -> list[Block]:
    """Charts in pairs, if drawn, and logs."""
    made = _Charts(page, place)
    gridded = is_grid(made.curves)
    figures = (made.of_grid() if gridded else made.of_list()) if drawn else made.heat_maps()
    figures += [*made.of_rates(), *settling(page, place)] if drawn else []
    pairs = [figures[at : at + 2] for at in range(0, len(figures), 2)]
    shown: list[Block] = [Row(pair, even=gridded) for pair in pairs]
    return [*shown, *notes(page, place), *syncs(page, place)]


class _Charts:
    def __init__(self, page: Page, place: FilledSet) -> None:
        self.page, self.place, self.ceiling = page, place, place.volume_set.ceiling
        # Different jobs have no common latency.
        alone = [curve for curve in place.curves if not curve.jobs]
        self.rates = [curve for curve in alone if curve.is_open]
        self.curves = [curve for curve in alone if not curve.is_open and curve.synced is None]

    def of_list(self) -> list[Figure]:
        random = [
            curve
            for curve in self.curves
            if curve.pattern != "sequential" and curve.settled is None  # a single load has no curve
        ]
        points = [point for curve in random for point in self.points(curve, curve.title, both=True)]
        what = "Random reads and random writes"
        found = [self.latency(points, what, _WIDE)] if points else []
        sequential = self.bars()
        return [*found, self.sequential(sequential)] if sequential else found

    def heat_maps(self) -> list[Figure]:
        return [self.matrix(each) for each in matrices(self.curves)] if is_grid(self.curves) else []

    def of_grid(self) -> list[Figure]:
        figures = [*self.heat_maps(), *self.by_block()]
        for kind in dict.fromkeys(curve.kind for curve in self.curves):
            own = [curve for curve in self.curves if curve.kind == kind]
            # Reads and writes of each would be too many lines.
            points = [
                point for curve in own for point in self.points(curve, curve.size, both=False)
            ]
            if points:
                side = "slower of reads and writes" if own[0].is_mix else "by block size"
                figures.append(self.latency(points, f"{kind}, {side}", _HALF))
        return figures

    def of_rates(self) -> list[Figure]:
        """Open loops: throughput and response time."""
        points = [
            point for curve in self.rates for point in self.points(curve, curve.title, both=True)
        ]
        what = "Open-loop reads and writes"
        return [self.latency(points, what, _WIDE, load="rate")] if points else []

    def matrix(self, matrix: Matrix) -> Figure:
        squares: list[grid.Square] = []
        for kind in matrix.kinds:
            for block in matrix.blocks:
                curve = matrix.curves.get((kind, block))
                value = None if curve is None else curve.value
                column = f"{block / 1024:,g}"
                said = "none" if value is None else f"{rounded(value)} {matrix.unit}"
                words = f"{kind}, {column} KiB: {said}"
                squares.append(grid.Square(kind, column, value or 0.0, rounded(value), words))
        of = self.ceiling.of
        what = (
            f"Maximum IOPS{self.place.of} with {of} of reads and of writes within "
            f"{rounded(self.ceiling.ms)} ms, by block size"
            if matrix.metric == "iops"
            else f"Highest MB/s (10⁶ bytes){self.place.of} by block size"
        )
        return Figure(
            render(
                lambda width: grid.heat(squares, "Block size, KiB", width),
                _SMALL,
                f"{what}: " + "; ".join(square.words for square in squares),
            ),
            f"{what}. Darker is higher.",
        )

    def by_block(self) -> list[Figure]:
        """MB/s by block size, a line for each kind of access."""
        made: list[Figure] = []
        for matrix in matrices(self.curves):
            points: list[linear.Point] = []
            for kind in matrix.kinds:
                for block in matrix.blocks:
                    curve = matrix.curves.get((kind, block))
                    load = None if curve is None or curve.best is None else curve.best.load
                    if curve is None or load is None:
                        continue
                    # Without intervals, which would overlap.
                    found = self.page.value(curve.at(load).mbps)
                    if found is not None:
                        words = f"{kind}, {bytes_text(block)}: {rounded(found)} MB/s"
                        points.append(linear.Point(kind, block / 1024, found, words))
            if points:
                made.append(self.throughput(points, matrix.metric))
        return made

    def throughput(self, points: list[linear.Point], about: Rate) -> Figure:
        which = "Highest MB/s" if about == "mbps" else "MB/s at the maximum IOPS within the ceiling"
        caption = f"{which}{self.place.of}, by block size (MB: 10⁶ bytes)."
        return Figure(
            render(
                lambda width: linear.lines(points, "Block size, KiB", "MB/s", width, doubling=True),
                _HALF,
                f"{caption} " + "; ".join(point.words for point in points),
            ),
            caption,
            keys([point.series for point in points], shapes=True),
        )

    def points(self, curve: Curve, title: str, *, both: bool) -> list[charts.Point]:
        """The points of reads and of writes, or of the slower of them."""
        points: list[charts.Point] = []
        of = self.ceiling.of
        for place, load in enumerate(curve.loads):
            at = curve.at(load)
            iops = self.page.value(at.iops)
            keys: dict[SideName, metrics.Key] = {
                s: at.side(s).latency(of, response=curve.is_open) for s in _SIDES
            }
            found: dict[SideName, float | None] = {
                side: self.page.value(key) for side, key in keys.items()
            }
            sides: dict[SideName, float] = {side: value for side, value in found.items() if value}
            if not iops or not sides:
                continue
            if both and curve.is_mix:
                shown = {f"{title}: {_SIDES[side]}": value for side, value in sides.items()}
            else:
                shown = {title: max(sides.values())}
            label = str(load.depth) if not curve.is_open else load_title(load)
            for series, latency in shown.items():
                words = (
                    f"{series}, {load_title(load)}: {rounded(iops)} IOPS, "
                    f"{of} {rounded(latency)} ms"
                )
                points.append(charts.Point(series, place, label, iops, latency, words))
        return points

    def latency(
        self, points: list[charts.Point], what: str, size: Size, load: str = "queue depth"
    ) -> Figure:
        of = self.ceiling.of
        ceiling = rounded(self.ceiling.ms)
        most = max(points, key=lambda point: point.iops)
        which = f"{of} latency" if load == "queue depth" else f"{of} response time"
        alt = (
            f"{which} against IOPS{self.place.of} with increasing {load}. "
            f"Maximum IOPS: {most.words}. The ceiling is {ceiling} ms."
        )
        numbers = "the depth" if load == "queue depth" else "that"
        caption = (
            f"{what}: throughput against {which}{self.place.of}, a point for each {load} "
            f"(numbers: {numbers} of the first curve). The ceiling is {ceiling} ms."
        )
        return Figure(
            render(
                lambda width: charts.latency(points, self.ceiling.ms, which, width),
                size,
                alt,
            ),
            caption,
            keys([point.series for point in points], shapes=True),
        )

    def bars(self) -> list[bars.Bar]:
        return [
            bars.Bar(
                str(load.depth),
                curve.title,
                value,
                f"{value:,.0f}",
                f"{curve.title}, {load_title(load)}: {rounded(value)} MB/s",
            )
            for curve in sorted(self.curves, key=lambda curve: curve.name)
            if curve.pattern == "sequential"
            for load in curve.loads
            if (value := self.page.value(curve.at(load).mbps)) is not None
        ]

    def sequential(self, found: list[bars.Bar]) -> Figure:
        return Figure(
            render(
                lambda width: bars.upright(found, "Queue depth", "MB/s", width),
                Size(360),
                "Bars of sequential throughput in MB/s by queue depth: "
                + "; ".join(bar.words for bar in found),
            ),
            f"Sequential throughput{self.place.of} by queue depth, in MB/s (10⁶ bytes).",
            keys([bar.series for bar in found], shapes=False),
        )
