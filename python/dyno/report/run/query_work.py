"""Resource use by query: bytes read and spilled, rows, memory."""

from __future__ import annotations

import json
from typing import Any

from dyno.report.kit.blocks import Cell, Column, Table
from dyno.report.kit.formats import bytes_text, decimal_bytes, query_title, rounded
from dyno.report.run.page import Page

METRICS = ("bytes_read", "temp_bytes", "peak_memory_bytes")
_LABELS = {
    "bytes_read": "Read",
    "temp_bytes": "Spilled",
    "peak_memory_bytes": "Peak memory",
}


def work_table(page: Page) -> Table | None:
    """A row per query and target of the power test; None if no engine reports any metric."""
    found = power_rows(page)
    if not any(row[name] is not None for row in found for name in METRICS):
        return None
    columns = [Column("Query"), Column("Target"), Column("Rows", numeric=True)]
    columns += [Column(_LABELS[name], numeric=True) for name in METRICS]
    rows: list[list[str | Cell]] = []
    sources: dict[str, dict[str, None]] = {}
    for row in found:
        known = meter_sources(row["meter"])
        cells: list[str | Cell] = [
            query_title(row["query"]),
            page.title(row["target"]),
            rounded(row["rows"]),
        ]
        for name in METRICS:
            write = bytes_text if name == "peak_memory_bytes" else decimal_bytes
            cells.append(write(row[name]))
            if name in known:
                words = f"{_LABELS[name].lower()} on {page.title(row['target'])}: {known[name]}"
                sources.setdefault(words, {})
        rows.append(cells)
    note = f"Sources, or why a value is missing: {'; '.join(sources)}."
    return Table("Resource use by query", columns, rows, note, page.query_notice, folded=True)


def power_rows(page: Page) -> list[dict[str, Any]]:
    """The measured queries of the power test, by query and target."""
    table = page.bundle.table("queries").to_pylist()
    kept = [row for row in table if row["stream"] == 0 and row["query"] and row["target"]]
    return sorted(kept, key=lambda row: (row["query"], row["target"]))


def meter_sources(text: str | None) -> dict[str, str]:
    """The source of each metric; empty if the bundle has none."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: str(found[name]) for name in METRICS if name in found}
