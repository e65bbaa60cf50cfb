"""Changes to the brokerage's orders that tests plant."""

from __future__ import annotations

from collections.abc import Callable

_UNFINISHED = "t_st_id IN ('PNDG', 'SBMT')"
_LATER = "'2100-01-01 00:00:00'"


def order_later(execute: Callable[[str], object]) -> None:
    """Dates unfinished orders in the future, as if the clock went back after they were given."""
    execute(
        f"UPDATE trade_history SET th_dts = {_LATER} "
        f"WHERE th_t_id IN (SELECT t_id FROM trade WHERE {_UNFINISHED})"
    )
    execute(f"UPDATE trade SET t_dts = {_LATER} WHERE {_UNFINISHED}")
