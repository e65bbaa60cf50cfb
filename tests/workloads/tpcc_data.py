"""A small order-entry database that satisfies all thirteen conditions, row by row in Python.

Far fewer customers and lines than a real one, but as many orders: condition 11 needs 2100
delivered ones in each district. The new ones have numbers above 3000, which only transactions
enter: condition 13 counts them.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

WAREHOUSES, DISTRICTS, CUSTOMERS = 2, 2, 20
DELIVERED, NEW = 2100, 4
FIRST = 3001 - DELIVERED
"""The number of each district's first order."""
ITEMS = 3
THEN = "2024-02-29 12:00:00"

DDL = """
CREATE TABLE warehouse (w_id integer PRIMARY KEY, w_ytd decimal(14, 2) NOT NULL);
CREATE TABLE district (
    d_id integer, d_w_id integer, d_ytd decimal(14, 2) NOT NULL, d_next_o_id integer NOT NULL,
    PRIMARY KEY (d_w_id, d_id)
);
CREATE TABLE customer (
    c_id integer, c_d_id integer, c_w_id integer, c_balance decimal(12, 2) NOT NULL,
    c_ytd_payment decimal(12, 2) NOT NULL, PRIMARY KEY (c_w_id, c_d_id, c_id)
);
CREATE TABLE history (
    h_c_id integer, h_c_d_id integer, h_c_w_id integer, h_d_id integer, h_w_id integer,
    h_amount decimal(6, 2) NOT NULL
);
CREATE TABLE orders (
    o_id integer, o_d_id integer, o_w_id integer, o_c_id integer NOT NULL, o_carrier_id integer,
    o_ol_cnt integer NOT NULL, PRIMARY KEY (o_w_id, o_d_id, o_id)
);
CREATE TABLE new_order (
    no_o_id integer, no_d_id integer, no_w_id integer, PRIMARY KEY (no_w_id, no_d_id, no_o_id)
);
CREATE TABLE order_line (
    ol_o_id integer, ol_d_id integer, ol_w_id integer, ol_number integer,
    ol_delivery_d timestamp, ol_amount decimal(6, 2) NOT NULL,
    ol_i_id integer NOT NULL, ol_supply_w_id integer NOT NULL, ol_quantity integer NOT NULL,
    PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)
);
CREATE TABLE stock (
    s_i_id integer, s_w_id integer, s_ytd integer NOT NULL, s_order_cnt integer NOT NULL,
    s_remote_cnt integer NOT NULL, PRIMARY KEY (s_w_id, s_i_id)
)
"""


def tables() -> dict[str, list[tuple[Any, ...]]]:
    """Rows of each table, columns as in ``DDL``. The fifth order of each district costs nothing."""
    paid_in: defaultdict[tuple[int, int], Decimal] = defaultdict(Decimal)
    paid_by: defaultdict[tuple[int, int, int], Decimal] = defaultdict(Decimal)
    delivered: defaultdict[tuple[int, int, int], Decimal] = defaultdict(Decimal)
    taken: defaultdict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    rows: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    districts = list(product(range(1, WAREHOUSES + 1), range(1, DISTRICTS + 1)))

    for (w, d), c in product(districts, range(1, CUSTOMERS + 1)):
        rows["history"].append((c, d, w, d, w, "10.00"))
        paid_in[w, d] += Decimal(10)
        paid_by[w, d, c] += Decimal(10)
        if c % 7 == 0:  # a payment in another warehouse
            other = w % WAREHOUSES + 1
            rows["history"].append((c, d, w, d, other, "1234.56"))
            paid_in[other, d] += Decimal("1234.56")
            paid_by[w, d, c] += Decimal("1234.56")

    for (w, d), o in product(districts, range(FIRST, FIRST + DELIVERED + NEW)):
        c, lines, done = o % CUSTOMERS + 1, o % 3 + 1, o < FIRST + DELIVERED
        rows["orders"].append((o, d, w, c, o % 10 + 1 if done else None, lines))
        if not done:
            rows["new_order"].append((o, d, w))
        for number in range(1, lines + 1):
            amount = Decimal(0) if o == FIRST + 4 else Decimal(o * number % 9973) / 100
            item, quantity = o % ITEMS + 1, o % 10 + 1
            supplier = w % WAREHOUSES + 1 if number == 2 else w
            rows["order_line"].append(
                (o, d, w, number, THEN if done else None, amount, item, supplier, quantity)
            )
            delivered[w, d, c] += amount if done else 0
            if not done:
                counters = taken[supplier, item]
                for at, more in enumerate((quantity, 1, int(supplier != w))):
                    counters[at] += more

    for w in range(1, WAREHOUSES + 1):
        rows["warehouse"].append((w, sum(paid_in[w, d] for d in range(1, DISTRICTS + 1))))
        rows["stock"] += [(item, w, *taken[w, item]) for item in range(1, ITEMS + 1)]
    for w, d in districts:
        rows["district"].append((d, w, paid_in[w, d], FIRST + DELIVERED + NEW))
        for c in range(1, CUSTOMERS + 1):
            paid = paid_by[w, d, c]
            rows["customer"].append((c, d, w, delivered[w, d, c] - paid, paid))
    return rows


# Columns of amounts, by their place.
_MONEY = {"warehouse": (1,), "district": (2,), "customer": (3, 4), "history": (5,),
          "order_line": (5,)}  # fmt: skip


def in_cents() -> Iterable[tuple[str, list[tuple[Any, ...]]]]:
    """Each table's rows with whole cents, as SQLite keeps them under transactions."""
    for table, rows in tables().items():
        money = _MONEY.get(table, ())
        yield (
            table,
            [
                tuple(int(Decimal(it) * 100) if at in money else it for at, it in enumerate(row))
                for row in rows
            ],
        )


def write(folder: Path) -> Iterable[tuple[str, Path]]:
    """Writes each table as CSV with a header; empty fields are null."""
    for table, rows in tables().items():
        path = folder / f"{table}.csv"
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([f"column{number}" for number in range(len(rows[0]))])
            writer.writerows(rows)
        yield table, path
