"""The curves of a storage profile: what each was about, and its best figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
        mix = f"{self.read_percent}/{100 - self.read_percent} mix"
        what = {100: "read", 0: "write"}.get(self.read_percent, mix)
        return f"{self.pattern.capitalize()} {what}"

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
    wanted = ["volume", "phase", "pattern", "read_percent", "block_bytes"]
    table = page.bundle.table("io")
    if any(name not in table.column_names for name in wanted):
        return []
    found: dict[str, Curve] = {}
    for row in table.select(wanted).to_pylist():
        name = str(row["phase"])
        if name in found or (volume and row["volume"] != volume):
            continue
        speed = page.value(f"{start}.{name}.best_mbps")
        rate = page.value(f"{start}.{name}.best_iops")
        about = "mbps" if speed is not None or row["pattern"] == "sequential" else "iops"
        found[name] = Curve(
            name=name,
            pattern=str(row["pattern"]),
            read_percent=int(row["read_percent"]),
            block_bytes=int(row["block_bytes"]),
            figure=about,
            best=speed if about == "mbps" else rate,
            depth=page.value(f"{start}.{name}.best_depth"),
        )
    return list(found.values())


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


def highest_of_kinds(found: Sequence[Curve]) -> list[Curve]:
    """Of each kind the curve with the highest figure; empty where block sizes do not vary."""
    if not is_grid(found):
        return []
    highest: dict[str, Curve] = {}
    for curve in found:
        before = highest.get(curve.kind)
        if curve.best is not None and (before is None or curve.best > (before.best or 0.0)):
            highest[curve.kind] = curve
    return list(highest.values())


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
