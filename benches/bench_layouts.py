"""PostgreSQL with and without eight partitions of lineitem: loads, steps, and each query.

The published finding to look for: partitions need not speed queries up. The queries without
lineitem show how much noise is left in the results.

    python benches/bench_layouts.py [SCALE]
"""

from __future__ import annotations

import sys

from designs import Arm, compare

compare(
    [
        Arm("postgresql", "default", "default"),
        Arm("postgresql", "partitioned-8", "partitioned-8"),
    ],
    float(sys.argv[1]) if len(sys.argv) > 1 else 1.0,
)
