"""The curves of a storage profile: what each was about, and its best figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dyno.profiles.figure import recorded
from dyno.report.page import Page
from dyno.report.words import bytes_text, figure

UNITS = {"iops": "IOPS", "mbps": "MB/s"}


@dataclass(frozen=True)
class Curve:
    """A curve and the best of its steps.

    Attributes:
        figure: What it is about: ``iops`` inside the ceiling, or ``mbps``.
        best: None if no step was inside the ceiling, or none was without failed I/Os.
    """

    name: str
    pattern: str
    read_percent: int
    block_bytes: int
    figure: str
    best: float | None
    depth: float | None

    @property
    def kind(self) -> str:
        """``Sequential read``, ``Random 70/30 mix``."""
        return f"{self.pattern.capitalize()} {self.what}{' mix' * self.is_mix}"

    @property
    def what(self) -> str:
        """``read``, ``write`` or ``70/30``."""
        mix = f"{self.read_percent}/{100 - self.read_percent}"
        return {100: "read", 0: "write"}.get(self.read_percent, mix)

    @property
    def is_mix(self) -> bool:
        """Whether it has reads and writes."""
        return 0 < self.read_percent < 100

    @property
    def title(self) -> str:
        """``Random read, 8 KiB``."""
        return f"{self.kind}, {bytes_text(self.block_bytes)}"

    @property
    def unit(self) -> str:
        """Of its best figure."""
        return UNITS[self.figure]


@dataclass(frozen=True)
class Matrix:
    """Best figures by kind and block size.

    Attributes:
        curves: By kind and block size; a profile need not have all.
    """

    figure: str
    kinds: tuple[str, ...]
    blocks: tuple[int, ...]
    curves: dict[tuple[str, int], Curve]

    @property
    def unit(self) -> str:
        """Of all its figures."""
        return UNITS[self.figure]


def curves(page: Page, start: str = "io", volume: str = "") -> list[Curve]:
    """The curves of a volume in the order in which they ran.

    Args:
        page: The run.
        start: How the names of the volume's estimates start.
        volume: The volume, where there are several.
    """
    found: list[Curve] = []
    for (where, name), (pattern, reads, block) in page.io_shapes.items():
        if volume and where != volume:
            continue
        about = recorded(page.run, where, name, pattern)
        found.append(
            Curve(
                name=name,
                pattern=pattern,
                read_percent=reads,
                block_bytes=block,
                figure=about,
                best=page.value(f"{start}.{name}.best_{about}"),
                depth=page.value(f"{start}.{name}.best_depth"),
            )
        )
    return found


def matrices(found: Iterable[Curve]) -> list[Matrix]:
    """The curves as matrices, one for each kind of figure; only where block sizes vary."""
    listed = list(found)
    made: list[Matrix] = []
    for about in dict.fromkeys(curve.figure for curve in listed):
        own = [curve for curve in listed if curve.figure == about]
        blocks = tuple(sorted({curve.block_bytes for curve in own}))
        if len(blocks) < 2:
            continue
        kinds = tuple(dict.fromkeys(curve.kind for curve in own))
        made.append(Matrix(about, kinds, blocks, {(one.kind, one.block_bytes): one for one in own}))
    return made


def is_grid(found: Sequence[Curve]) -> bool:
    """Whether block sizes vary within a kind of curve, so that a matrix says more than a list."""
    return len({curve.kind for curve in found}) < len(found)


def headlines(found: Sequence[Curve]) -> list[Curve]:
    """The curves to tell first, those about MB/s before those about IOPS, reads before writes.

    Where block sizes vary within a kind, only the one with the highest figure.
    """
    highest: dict[tuple[str, str], Curve] = {}
    for curve in found:
        key = (curve.kind, curve.figure)
        if curve.best is not None and curve.best > (
            highest[key].best or 0 if key in highest else 0
        ):
            highest[key] = curve
    order = {"mbps": 0, "iops": 1}
    return sorted(highest.values(), key=lambda one: (order[one.figure], -one.read_percent))


def lines(found: Sequence[Curve], ceiling_ms: float | None) -> list[str]:
    """The curves as text of at most 66 columns: matrices where block sizes vary, else one line."""
    grids = matrices(found) if is_grid(found) else []
    told = {curve.name for grid in grids for curve in grid.curves.values()}
    text = _list([curve for curve in found if curve.name not in told])
    return [line for grid in grids for line in matrix_lines(grid, ceiling_ms)] + [text] * bool(text)


def _list(found: Sequence[Curve]) -> str:
    """``read 1,585, write 921 MB/s; 8K read 85,300; 70/30 50,700 IOPS``."""
    parts: list[str] = []
    size = ""
    for about, joint in (("mbps", ", "), ("iops", "; ")):
        words: list[str] = []
        for curve in headlines([one for one in found if one.figure == about]):
            own = "" if curve.pattern == "sequential" else f"{curve.block_bytes / 1024:g}K "
            words.append(f"{own if own != size else ''}{curve.what} {figure(curve.best)}")
            size = own
        if words:
            parts.append(f"{joint.join(words)} {UNITS[about]}")
    return "; ".join(parts)


def matrix_lines(matrix: Matrix, ceiling_ms: float | None) -> list[str]:
    """A matrix as text of at most 66 columns: a head, then a line for each kind."""
    columns = [bytes_text(block) for block in matrix.blocks]
    what = "MB/s"
    if matrix.figure == "iops":
        what = f"IOPS, p95 <= {figure(ceiling_ms)} ms"
    lines = [f"{what:<20}" + "".join(f"{column:>9}" for column in columns)]
    for kind in matrix.kinds:
        cells = (matrix.curves.get((kind, block)) for block in matrix.blocks)
        texts = [figure(None if cell is None else cell.best) for cell in cells]
        lines.append(f"{kind:<20}" + "".join(f"{text:>9}" for text in texts))
    return lines
