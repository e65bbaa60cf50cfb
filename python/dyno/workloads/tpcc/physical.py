"""Input of physical designs: references between tables, and ranges of columns."""

from __future__ import annotations

from typing import Any

from dyno.contracts.workload import ForeignKey

FOREIGN_KEYS = (
    ForeignKey("district", ("d_w_id",), "warehouse", ("w_id",)),
    ForeignKey("customer", ("c_w_id", "c_d_id"), "district", ("d_w_id", "d_id")),
    ForeignKey(
        "history", ("h_c_w_id", "h_c_d_id", "h_c_id"), "customer", ("c_w_id", "c_d_id", "c_id")
    ),
    ForeignKey("history", ("h_w_id", "h_d_id"), "district", ("d_w_id", "d_id")),
    ForeignKey(
        "new_order", ("no_w_id", "no_d_id", "no_o_id"), "orders", ("o_w_id", "o_d_id", "o_id")
    ),
    ForeignKey("orders", ("o_w_id", "o_d_id", "o_c_id"), "customer", ("c_w_id", "c_d_id", "c_id")),
    ForeignKey(
        "order_line", ("ol_w_id", "ol_d_id", "ol_o_id"), "orders", ("o_w_id", "o_d_id", "o_id")
    ),
    ForeignKey("order_line", ("ol_supply_w_id", "ol_i_id"), "stock", ("s_w_id", "s_i_id")),
    ForeignKey("stock", ("s_w_id",), "warehouse", ("w_id",)),
    ForeignKey("stock", ("s_i_id",), "item", ("i_id",)),
)


def _warehouses(scale: float, _days: int | None = None) -> tuple[Any, Any]:
    return (1, int(scale))


def _items(_scale: float, _days: int | None = None) -> tuple[Any, Any]:
    return (1, 100_000)


RANGES = {
    ("warehouse", "w_id"): _warehouses,
    ("district", "d_w_id"): _warehouses,
    ("customer", "c_w_id"): _warehouses,
    ("history", "h_w_id"): _warehouses,
    ("new_order", "no_w_id"): _warehouses,
    ("orders", "o_w_id"): _warehouses,
    ("order_line", "ol_w_id"): _warehouses,
    ("stock", "s_w_id"): _warehouses,
    ("item", "i_id"): _items,
}
