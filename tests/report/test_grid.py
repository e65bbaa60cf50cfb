"""A storage profile of several block sizes: a matrix in report, summary and document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dyno.report import document, summary
from tests.bundle_rows import io_row
from tests.bundles import SECOND, Builder
from tests.judged import Judged, judged
from tests.report.conftest import report_of

RATES = {(8, 100): 60_000.0, (64, 100): 16_000.0, (8, 70): 50_000.0, (64, 70): 40_000.0}


def grid(out: Path, *more: dict[str, Any]) -> Judged:
    """Random reads and a 70/30 mix of 8 and 64 KiB; the mix of 64 KiB is beyond the ceiling."""
    builder = Builder(out / "20261120T150000Z-cd34", verb="io").machine()
    rows = builder.tables.setdefault("io", [])
    metric_of: dict[str, str] = {}
    for (kib, reads), iops in RATES.items():
        name = f"random_{reads}_{kib}k"
        metric_of[name] = "iops"
        for depth in (1, 8):
            median = 90.0 if (kib, reads) == (64, 70) else 0.3
            row = io_row("mixed" if reads == 70 else "random_read", depth, iops / (9 - depth), 1.5,
                         20.0, median)  # fmt: skip
            row |= {
                "phase": name,
                "block_bytes": kib << 10,
                "t_ns": builder.now + len(rows) * SECOND,
            }
            rows.append(row)
    rows += [row | {"t_ns": builder.now + len(rows) * SECOND} for row in more]
    detail = {"volume": "/srv/dyno-runs", "file_bytes": 1 << 30, "ceiling_ms": 20.0,
              "engine": "io_uring", "direct": True, "notes": [], "figures": metric_of}  # fmt: skip
    builder.phase("io", "Storage profile", "io", 20.0, detail=detail)
    return judged(builder.write())


@pytest.mark.usefixtures("drawn")
def test_a_grid(tmp_path: Path) -> None:
    found = grid(tmp_path)
    lines = summary(found.bundle, found.estimates, found.findings)
    assert all(len(line) <= 80 for line in lines)
    at = next(place for place, line in enumerate(lines) if line.startswith("Storage"))
    assert [line.split() for line in lines[at : at + 3]] == [
        ["Storage", "IOPS,", "p95", "<=", "20", "ms", "8", "KiB", "64", "KiB"],
        ["Random", "read", "60,000", "16,000"],
        ["Random", "70/30", "mix", "50,000", "–"],
    ]
    made = document(found.bundle, found.estimates, found.findings)
    curves = {curve["name"]: curve for curve in made["io"]["curves"]}
    assert curves["random_100_64k"]["best"] == 16_000
    assert curves["random_100_64k"]["best_depth"] == 8
    assert curves["random_70_64k"]["best"] is None

    report = report_of(found)
    headlines = report.page.section("headlines").text
    assert "Random 70/30 mix" in headlines and "50,000" in headlines
    captions = [figure.text for figure in report.page.section("storage").all("figure")]
    assert sum("Maximum IOPS" in text for text in captions) == 1
    assert sum("slower of reads and writes" in text for text in captions) == 1
    squares = [item.text for item in report.page.section("storage").all("title")]
    assert "Random read, 64 KiB: 16,000 IOPS" in squares
    assert "Random 70/30 mix, 64 KiB: none" in squares


def test_a_list_of_ones_own(tmp_path: Path) -> None:
    """Curves of any name, the first about I/Os though it is sequential, and one of mixed blocks."""
    builder = Builder(tmp_path / "20261120T150000Z-cd34", verb="io").machine()
    rows = builder.tables.setdefault("io", [])
    for name, kind, block in (
        ("mine", "sequential_read", 16 << 10),
        ("other", "mixed", 16 << 10),
        ("blend", "random_read", None),
    ):
        row = io_row(kind, 8, 1000.0, 1.5, 20.0, 0.3)
        rows.append(row | {"phase": name, "t_ns": builder.now, "block_bytes": block})
    detail = {"volume": "/srv/dyno-runs", "ceiling_ms": 20.0, "figures": {"mine": "iops"}}
    builder.phase("io", "Storage profile", "io", 20.0, detail=detail)
    found = judged(builder.write())
    lines = summary(found.bundle, found.estimates, found.findings)
    assert "Storage       read 1,000; mixed read 1,000; 16K 70/30 1,000 IOPS" in lines
    made = document(found.bundle, found.estimates, found.findings)["io"]["curves"]
    assert [(curve["name"], curve["figure"], curve["best"]) for curve in made] == [
        ("mine", "iops", 1000), ("other", "iops", 1000), ("blend", "iops", 1000),
    ]  # fmt: skip
    cards = report_of(found).page.section("headlines").text
    assert "Sequential read" in cards and "Random 70/30 mix" in cards


def test_curves_outside_the_matrix_are_shown_beside_it(tmp_path: Path) -> None:
    found = grid(tmp_path, io_row("sequential_read", 16, 4000.0, 1.5, 20.0))
    lines = summary(found.bundle, found.estimates, found.findings)
    assert "              read 1,049 MB/s" in lines
