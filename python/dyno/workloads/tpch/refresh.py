"""The refresh functions: 1,500 new orders a scale factor, with their lines.

Loaded orders use 8 of each 32 keys: those with a remainder of 0 to 7. A pair's keys have one of
the other remainders and lie in a narrow range, which an index on the key finds.
"""

from __future__ import annotations

from typing import Any

from dyno.workloads.refresh import Refresh, RefreshPair

_GROUP, _QUARTER = 32, 8
_KEYS = {"orders": "o_orderkey", "lineitem": "l_orderkey"}

# Two primes: the sum of products of remainders notices keys that were exchanged for others of the
# same sum. Each product stays below 2^40, whatever the key.
_SUM = "SUM({key}), SUM(({key} % 1000003) * ({key} % 999983))"


def pair(scale: float, seed: int, number: int) -> RefreshPair:
    """Pair ``number`` (from 0) at a scale; ``seed`` decides which orders it has.

    Raises:
        UsageError: If there are not so many.
    """
    from dyno import _core
    from dyno.errors import error_of_kind

    try:
        orders, lines, first, last, slot = _core.refresh_pair(scale, seed, number)
    except _core.EngineError as error:
        raise error_of_kind(*error.args) from None
    rows = {"orders": orders, "lineitem": lines}

    def readers(control: Any) -> dict[str, Any]:
        return {table: _core.refresh_stream(table, scale, seed, number, control) for table in rows}

    return RefreshPair(
        number,
        rows,
        {table: _own(key, first, last, slot) for table, key in _KEYS.items()},
        {"first_key": first, "last_key": last},
        readers,
    )


def _own(key: str, first: int, last: int, slot: int) -> str:
    remainder = f"{key} % {_GROUP} BETWEEN {slot} AND {slot + _QUARTER - 1}"
    return f"{key} BETWEEN {first} AND {last} AND {remainder}"


REFRESH = Refresh(
    pair=pair,
    foreign={table: f"{_KEYS[table]} % {_GROUP} >= {_QUARTER}" for table in ("lineitem", "orders")},
    digests={
        "orders": f"COUNT(*), {_SUM.format(key='o_orderkey')}",
        "lineitem": (
            f"COUNT(*), {_SUM.format(key='l_orderkey')}, SUM(l_linenumber), "
            "SUM((l_orderkey % 1000003) * l_linenumber)"
        ),
    },
)
