"""Refresh functions: RF1 inserts 1,500 orders per scale factor, RF2 deletes as many loaded ones.

Loaded orders use 8 of every 32 keys: those with a remainder of 0 to 7. A set's new keys have other
remainders. Both its new and its loaded keys are in a narrow range, which an index on the key finds.
The sets take the loaded orders in key order, like those of TPC's generator.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from dyno.contracts.refresh import Refresh, UpdateSet

_GROUP, _QUARTER = 32, 8
_KEYS = {"orders": "o_orderkey", "lineitem": "l_orderkey"}

# Two primes: the sum of products of remainders detects keys that were replaced by others with the
# same sum. Each product is below 2^40 for any key.
_SUM = "SUM({key}), SUM(({key} % 1000003) * ({key} % 999983))"


def update_set(scale: float, number: int) -> UpdateSet:
    """Returns update set ``number`` (from 0) at a scale.

    Raises:
        UsageError: If the scale is invalid.
    """
    from dyno import _core
    from dyno.errors import error_of_kind

    try:
        orders, lines, first, last, slot = _core.refresh_set(scale, number, loaded=False)
        *_, loaded_first, loaded_last, loaded_slot = _core.refresh_set(scale, number, loaded=True)
    except _core.EngineError as error:
        raise error_of_kind(*error.args) from None
    rows = {"orders": orders, "lineitem": lines}

    def readers(control: Any, *, loaded: bool) -> dict[str, Any]:
        return {
            table: _core.refresh_stream(table, scale, number, loaded, control) for table in rows
        }

    return UpdateSet(
        number,
        rows,
        {table: _of(key, first, last, slot) for table, key in _KEYS.items()},
        {table: _of(key, loaded_first, loaded_last, loaded_slot) for table, key in _KEYS.items()},
        {
            "first_key": first,
            "last_key": last,
            "first_deleted_key": loaded_first,
            "last_deleted_key": loaded_last,
        },
        partial(readers, loaded=False),
        partial(readers, loaded=True),
    )


def _of(key: str, first: int, last: int, slot: int) -> str:
    remainder = f"{key} % {_GROUP} BETWEEN {slot} AND {slot + _QUARTER - 1}"
    return f"{key} BETWEEN {first} AND {last} AND {remainder}"


REFRESH = Refresh(
    update_set=update_set,
    foreign={table: f"{_KEYS[table]} % {_GROUP} >= {_QUARTER}" for table in ("lineitem", "orders")},
    digests={
        "orders": f"COUNT(*), {_SUM.format(key='o_orderkey')}",
        "lineitem": (
            f"COUNT(*), {_SUM.format(key='l_orderkey')}, SUM(l_linenumber), "
            "SUM((l_orderkey % 1000003) * l_linenumber)"
        ),
    },
)
