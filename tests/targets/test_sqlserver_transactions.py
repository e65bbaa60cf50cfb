"""The procedures of SQL Server do to a row what those of PostgreSQL do, and return the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from dyno import _core
from dyno.contracts import schema
from dyno.contracts.target import Connection, Target
from dyno.targets.insert import insert_values
from dyno.targets.mark import schema_of
from dyno.targets.postgresql.target import PostgresTarget
from dyno.targets.sqlserver.connection import literal
from dyno.workloads.brokerage.conditions import CONDITIONS
from dyno.workloads.conditions import check_all
from tests.babelfish import alone
from tests.targets.test_sqlserver import target_of

Call = tuple[str, tuple[Any, ...]]
SCALES: dict[str, tuple[float, int | None]] = {"tpcc": (1, None), "brokerage": (0.1, 1)}
ITEMS, CUSTOMERS = 100, 20
"""Of each warehouse and district."""
_FRACTION = re.compile(r"(\d\d:\d\d:\d\d)\.(\d*?)0*(?=\D|$)")


@pytest.fixture
def both(
    postgres: PostgresTarget, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[PostgresTarget, Target]]:
    with alone() as url, target_of(url, tmp_path_factory.mktemp("mssql")) as target:
        for one in (postgres, target):
            one.remove()
        yield postgres, target
        for one in (postgres, target):
            one.remove()


def generated(workload: str) -> dict[str, pa.Table]:
    """The workload's tables at a small scale, without rows that no transaction here needs."""
    scale, days = SCALES[workload]
    found: dict[str, pa.Table] = {}
    for table in schema.table_names(workload):
        stream = _core.arrow_stream(workload, table, scale, 1, 1, _core.Control(), days=days)
        found[table] = pa.RecordBatchReader.from_stream(stream).read_all()
    if workload == "brokerage":
        days_kept = sorted(set(found["daily_market"]["dm_date"].to_pylist()))[-3:]
        found["daily_market"] = kept(found["daily_market"], "dm_date", days_kept)
        used = found["address"]["ad_zc_code"].to_pylist()
        found["zip_code"] = kept(found["zip_code"], "zc_code", used)
        return found
    for table, column, most in (
        ("item", "i_id", ITEMS), ("stock", "s_i_id", ITEMS), ("customer", "c_id", CUSTOMERS),
        ("orders", "o_c_id", CUSTOMERS), ("history", "h_c_id", CUSTOMERS),
    ):  # fmt: skip
        found[table] = kept(found[table], column, range(1, most + 1))
    orders = found["orders"].select(["o_d_id", "o_id"])
    for table, prefix in (("order_line", "ol"), ("new_order", "no")):
        keys = [f"{prefix}_d_id", f"{prefix}_o_id"]
        found[table] = found[table].join(orders, keys, ["o_d_id", "o_id"], "left semi")
    return found


def kept(table: pa.Table, column: str, values: Any) -> pa.Table:
    """The rows with one of these values."""
    return table.filter(pc.field(column).isin(list(values)))


@pytest.mark.long
def test_transactions_of_tpcc(both: tuple[PostgresTarget, Target]) -> None:
    compare(both, "tpcc", lambda _session: orders_and_payments(Random(5)))


@pytest.mark.long
def test_transactions_of_brokerage(both: tuple[PostgresTarget, Target]) -> None:
    compare(both, "brokerage", lambda session: trades(Random(5), session))
    with closing(both[1].connect("brokerage")) as session:
        checks = check_all("sqlserver", session, CONDITIONS, "run")
    assert [check.message for check in checks if check.passed is False] == []


def compare(
    both: tuple[PostgresTarget, Target],
    workload: str,
    calls: Callable[[Connection], Iterator[Call]],
) -> None:
    """Makes the same calls on both, and compares answers and tables."""
    reference, target = both
    rows = generated(workload)
    for one, quoted in ((reference, plain), (target, literal)):
        one.create_tables(workload, replace=False)
        with closing(one.connect(workload)) as session:
            insert_values(session, {name: rows[name].to_reader() for name in rows}, quoted)
        one.program(workload)  # pyright: ignore[reportAttributeAccessIssue]
    names = schema.table_names(workload)
    with (
        closing(reference.connect(workload)) as expected,
        closing(target.connect(workload)) as found,
    ):
        counted = expected.execute(
            "SELECT proname, cardinality(proallargtypes) FROM pg_proc "
            f"WHERE pronamespace = '{schema_of(workload)}'::regnamespace"
        )
        arguments: dict[str, int] = dict(counted.rows)
        before = contents(expected, names)
        assert contents(found, names) == before
        called: set[str] = set()
        for name, given in calls(expected):
            nulls = ["NULL"] * (arguments[name] - len(given))
            texts = [constant(value) for value in given]
            call = f"CALL {schema_of(workload)}.{name}({', '.join(texts + nulls)})"
            answer = expected.execute(call).rows
            own = found.execute(f"EXECUTE dbo.{name} {', '.join(texts)}").rows
            assert normal(own) == normal(answer), (name, given)
            called.add(name)
        inner = {"dyno_past_trades", "dyno_trade_details"}  # which the others call
        assert called == set(arguments) - inner
        assert contents(found, names) != before
        assert contents(expected, names) == contents(found, names)


def orders_and_payments(draw: Random) -> Iterator[Call]:
    """Of one warehouse; each tenth order has an unknown item."""
    now = datetime(2026, 1, 1)
    for step in range(60):
        now += timedelta(microseconds=1_234_567)
        district, number = draw.randint(1, 10), draw.randint(1, CUSTOMERS)
        count = draw.randint(5, 15)
        lines = [(draw.randint(1, ITEMS), 1, draw.randint(1, 10)) for _ in range(count)]
        if step % 10 == 0:
            lines[-1] = (200_000, 1, 5)
        order = sorted(range(1, count + 1), key=lambda line: lines[line - 1])
        listed = ",".join(f"{item},{supplier},{pieces}" for item, supplier, pieces in lines)
        yield "dyno_new_order", (1, district, number, now, listed, ",".join(map(str, order)))
        paid = Decimal(draw.randint(100, 500_000)) / 100
        yield "dyno_payment", (1, district, 1, draw.randint(1, 10), number, None, paid, now)
        # The first customers have the names of their numbers: BARBARBAR is number 1.
        yield "dyno_payment", (1, district, 1, district, None, "BARBARBAR", paid, now)
        yield "dyno_order_status", (1, district, number, None)
        yield "dyno_stock_level", (1, district, draw.randint(10, 20))
        if step % 6 == 0:
            yield "dyno_delivery", (1, draw.randint(1, 10), now)


def trades(draw: Random, session: Connection) -> Iterator[Call]:
    """Orders, their results, market feeds, and everything that reads or corrects."""

    def column(query: str) -> list[Any]:
        return [row[0] for row in session.execute(query).rows]

    accounts = column("SELECT ca_id FROM customer_account ORDER BY 1")
    customers = session.execute("SELECT c_id, c_tax_id FROM customer ORDER BY 1").rows
    symbols = column("SELECT s_symb FROM security ORDER BY 1")
    companies = session.execute("SELECT co_id, co_name FROM company ORDER BY 1").rows
    brokers, sectors = column("SELECT b_name FROM broker"), column("SELECT sc_name FROM sector")
    days = column("SELECT DISTINCT dm_date FROM daily_market ORDER BY 1")
    industries = column("SELECT in_name FROM industry ORDER BY 1")
    past = column("SELECT t_id FROM trade ORDER BY 1")
    ((first, now),) = session.execute("SELECT MIN(t_dts), MAX(t_dts) FROM trade").rows
    yield "dyno_trade_cleanup", (past[-1], now)
    for step in range(48):
        now += timedelta(microseconds=61_234_567)
        account, symbol, company = (
            draw.choice(accounts),
            draw.choice(symbols),
            draw.choice(companies),
        )
        number, tax = draw.choice(customers)
        since = first + timedelta(seconds=draw.randint(0, 20_000))
        kind = ("TMB", "TMS", "TLB", "TLS", "TSL")[step % 5]
        ((owner, broker, tier, status),) = session.execute(
            "SELECT ca_c_id, ca_b_id, c_tier, ca_tax_st FROM customer_account "
            f"JOIN customer ON c_id = ca_c_id WHERE ca_id = {account}"
        ).rows
        own = column(f"SELECT hs_s_symb FROM holding_summary WHERE hs_ca_id = {account} ORDER BY 1")
        held = draw.choice(own or symbols)
        (price,) = column(f"SELECT lt_price FROM last_trade WHERE lt_s_symb = '{held}'")
        yield "dyno_trade_order", (
            account, (None, step)[step % 2], kind, symbol, (None, company[1])[step % 3 == 0],
            (None, "COMMON")[step % 3 == 0],
        )  # fmt: skip
        order = (
            past[-1] + 1 + step, account, owner, broker, tier, kind, held,
            draw.choice((100, 200, 400, 800)), price, step % 2, draw.randint(0, 1),
        )  # fmt: skip
        yield "dyno_trade_order_entry", (*order, "Some Body", 0, now)
        if kind in ("TMB", "TMS"):
            yield "dyno_trade_result", (*order, status, now, now.date() + timedelta(days=2))
        feed = [(each, price_of(column, each, draw)) for each in draw.sample(symbols, 10)]
        for each, at in (*feed, (held, price)):
            yield "dyno_market_feed", (now, each, at, draw.randint(1, 9) * 100)
        watched = [(number, None, None), (None, account, None), (None, None, industries[step])]
        ends = (companies[0][0], companies[-1][0]) if step % 3 == 2 else (None, None)
        yield "dyno_market_watch", (*watched[step % 3], *ends, days[-1])
        listed = ",".join(map(str, sorted({draw.choice(past) for _ in range(20)})))
        for name, how in (("dyno_trade_lookup", step % 4 + 1), ("dyno_trade_update", step % 3 + 1)):
            found = {
                1: (1, listed, None, None, None), 2: (2, "", account, None, since),
                3: (3, "", None, symbol, since), 4: (4, "", account, None, since),
            }[how]  # fmt: skip
            yield name, found
        yield "dyno_broker_volume", (draw.choice(sectors), *draw.choices(brokers, k=30))
        yield "dyno_customer_position", (number, (None, tax)[step % 2], (None, step)[step % 3 > 0])
        yield "dyno_security_detail", (symbol, days[0], step % 2)
        yield "dyno_trade_status", (account,)
        yield "dyno_data_maintenance", (
            step % 12, number, account, company[0], symbol, days[-1], now, now.date(),
        )  # fmt: skip
    yield "dyno_trade_cleanup", (past[-1], now)


def price_of(column: Callable[[str], list[Any]], symbol: str, draw: Random) -> Decimal:
    (price,) = column(f"SELECT lt_price FROM last_trade WHERE lt_s_symb = '{symbol}'")
    return max(price + Decimal(draw.randint(-300, 300)) / 100, Decimal("1.00"))


def contents(session: Connection, names: list[str]) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables."""
    return {
        name: sorted(normal(session.execute(f"SELECT * FROM {name}").rows), key=repr)
        for name in names
    }


def normal(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [tuple(map(_normal, row)) for row in rows]


def _normal(value: Any) -> Any:
    """Times without trailing zeros; the parts of a list sorted, as not all have an order."""
    if isinstance(value, str):
        text = _FRACTION.sub(lambda at: f"{at[1]}.{at[2]}" if at[2] else at[1], value).rstrip()
        return sorted(re.split("[;,]", text)) if text else None
    return value.normalize() if isinstance(value, Decimal) else value


def plain(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def constant(value: Any) -> str:
    """A constant that both understand."""
    if value is None:
        return "NULL"
    return plain(str(value)) if isinstance(value, (str, date)) else str(value)
