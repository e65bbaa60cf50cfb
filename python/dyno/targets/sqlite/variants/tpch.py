"""TPC-H queries with a fixed join order, or with spelled-out implications of ORs."""

from __future__ import annotations

from dyno.targets.sqlite.variants import Variants

_ORDER = "the order of its joins is given (CROSS JOIN)"
_IMPLIED = "what its ORs imply of each table is added"

VARIANTS = Variants(
    reasons={
        "q05": _ORDER,
        "q07": f"{_ORDER}, and {_IMPLIED}",
        "q08": _ORDER,
        "q10": _ORDER,
        "q19": f"{_IMPLIED}, and what all its branches repeat stands before them",
    },
    orders={
        "q05": ("orders", "customer", "nation", "region", "lineitem", "supplier"),
        "q07": (
            "lineitem", "supplier", "supplier_nation", "orders", "customer", "customer_nation",
        ),
        "q08": (
            "part", "lineitem", "orders", "customer", "customer_nation", "region", "supplier",
            "supplier_nation",
        ),
        "q10": ("orders", "lineitem", "customer", "nation"),
    },
)  # fmt: skip
