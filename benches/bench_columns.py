"""The same data in rows and in columns: PostgreSQL and DuckDB with the same memory and threads.

The published finding to look for: a column store speeds most queries up several times over, and not
all of them alike.

    python benches/bench_columns.py [SCALE]
"""

from __future__ import annotations

import sys

from designs import Arm, compare

compare(
    [
        Arm("postgresql", "default", "rows"),
        Arm("duckdb", "columnar", "columns"),
    ],
    float(sys.argv[1]) if len(sys.argv) > 1 else 1.0,
)
