"""T-SQL of the queries and procedures, without a server."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
import sqlglot
from sqlglot import exp

from dyno import workloads
from dyno.contracts.target import QueryResult
from dyno.contracts.workload import Query
from dyno.targets import procedures
from dyno.targets.sqlserver import procedures as sqlserver
from dyno.targets.sqlserver.queries import own
from dyno.workloads.brokerage.conditions import CONDITIONS as OF_BROKERAGE
from dyno.workloads.conditions import Condition, check_all
from dyno.workloads.tpcc.conditions import CONDITIONS as OF_TPCC
from tests.scriptdom import mistakes, require_scriptdom

QUERIES = [
    (workload, query) for workload in ("tpch", "ch") for query in workloads.get(workload).queries
]
_PARAMETER = re.compile(r"@(\w+) (?:int|bigint|date|datetime2|decimal|char|varchar)\b")


@pytest.mark.parametrize(
    ("neutral", "expected"),
    [
        (
            "SELECT COUNT(*) FROM orders",
            "SELECT COUNT_BIG(*) FROM orders",
        ),
        (
            "SELECT * FROM (SELECT w_id FROM warehouse) AS violations LIMIT 5",
            "SELECT TOP 5 * FROM (SELECT w_id AS w_id FROM warehouse) AS violations",
        ),
        (
            "SELECT SUM(ol_quantity), AVG(ol_quantity), SUM(ol_amount), AVG(ol_amount) "
            "FROM order_line",
            "SELECT SUM(CAST(ol_quantity AS BIGINT)), AVG(CAST(ol_quantity AS NUMERIC(19, 0))), "
            "SUM(ol_amount), AVG(ol_amount) FROM order_line",
        ),
        (
            "SELECT SUM(lt_vol), SUM((lt_vol % 7) * 3) FROM last_trade",
            "SELECT SUM(CAST(lt_vol AS NUMERIC(38, 0))), "
            "SUM(CAST((lt_vol % 7) * 3 AS NUMERIC(38, 0))) FROM last_trade",
        ),
        (
            "SELECT SUM(CASE WHEN o_carrier_id IN (1, 2) THEN 1 ELSE 0 END) FROM orders",
            "SELECT SUM(CAST(CASE WHEN o_carrier_id IN (1, 2) THEN 1 ELSE 0 END AS BIGINT)) "
            "FROM orders",
        ),
        (
            "SELECT SUM(ol_amount) / 7.0 FROM order_line",
            "SELECT CAST(SUM(ol_amount) AS FLOAT) / 7.0 FROM order_line",
        ),
        (
            "SELECT (MAX(ol_quantity) + 1) / 2 FROM order_line WHERE ol_quantity / 2 > 1",
            "SELECT (MAX(ol_quantity) + 1) / 2 FROM order_line WHERE ol_quantity / 2 > 1",
        ),
        (
            "SELECT 1 FROM orders WHERE o_entry_d < DATE '1998-12-01' - INTERVAL '90' DAY",
            "SELECT 1 FROM orders WHERE o_entry_d < DATEADD(DAY, -90, CAST('1998-12-01' AS DATE))",
        ),
        (
            "SELECT CASE WHEN ol_number > 1 THEN 'b' ELSE 'a' END AS place, ol_quantity "
            "FROM order_line GROUP BY place, ol_quantity ORDER BY place",
            "SELECT CASE WHEN ol_number > 1 THEN 'b' ELSE 'a' END AS place, ol_quantity "
            "FROM order_line GROUP BY CASE WHEN ol_number > 1 THEN 'b' ELSE 'a' END, ol_quantity "
            "ORDER BY place",
        ),
    ],
)
def test_statements(neutral: str, expected: str) -> None:
    assert own(neutral) == expected


def test_a_column_of_a_union_has_the_type_of_all_its_branches() -> None:
    sides = (
        "SELECT 0 AS paid, 0 AS counted FROM district UNION ALL SELECT d_ytd, d_id FROM district"
    )
    assert own(f"SELECT SUM(paid) FROM ({sides}) AS sides").startswith("SELECT SUM(paid) ")
    counted = own(f"SELECT SUM(counted) FROM ({sides}) AS sides")
    assert counted.startswith("SELECT SUM(CAST(counted AS BIGINT)) ")


@pytest.mark.parametrize(
    ("workload", "query"), QUERIES, ids=lambda item: getattr(item, "name", item)
)
def test_queries_are_t_sql(workload: str, query: Query) -> None:
    text = own(query.text())
    tree = sqlglot.parse_one(text, read="tsql")
    assert isinstance(tree, exp.Query)
    assert [column for column in tree.named_selects if column] == list(query.columns)
    for foreign in (exp.Interval, exp.Limit):
        assert tree.find(foreign) is None or "TOP" in text
    assert not re.search(r"\b(INTERVAL|LIMIT|EXTRACT|DATE ')", text)


def _shown(condition: Condition) -> str:
    return f"SELECT * FROM ({condition.sql}) AS violations LIMIT 5"


@pytest.mark.parametrize("condition", [*OF_TPCC, *OF_BROKERAGE], ids=lambda item: item.title)
def test_conditions_are_t_sql(condition: Condition) -> None:
    text = own(_shown(condition))
    tree = sqlglot.parse_one(text, read="tsql")
    assert text.startswith("SELECT TOP 5 * FROM (")
    # A derived table has to name its columns.
    for inner in tree.find_all(exp.Subquery):
        assert all(inner.this.named_selects), text


def test_checks_translate_their_statements() -> None:
    sent: list[str] = []

    class Recorder:
        def own(self, neutral: str) -> str:
            return own(neutral)

        def execute(self, sql: str) -> QueryResult:
            sent.append(sql)
            return QueryResult(["d_id"], [(3,)])

        def cancel(self) -> None: ...

        def close(self) -> None: ...

    (check,) = check_all("sqlserver", Recorder(), [OF_TPCC[2]], "run")
    assert check.passed is False
    assert check.detail["violations"] == 3
    assert sent[0].startswith("SELECT COUNT_BIG(*) FROM (SELECT no_w_id")
    assert sent[1].startswith("SELECT TOP 5 * FROM (SELECT no_w_id")


@pytest.mark.parametrize("workload", ["tpcc", "brokerage"])
def test_procedures_take_what_those_of_mariadb_take(workload: str) -> None:
    found = {}
    for batch in sqlserver.batches(procedures.text(sqlserver.__name__, workload)):
        code = re.sub(r"--.*", "", batch)
        head, _, _ = code.partition("\nAS\n")
        name = re.search(r"CREATE PROCEDURE \{place\}\.(\w+)", head)
        assert name is not None, batch
        found[name[1]] = _PARAMETER.findall(head)
    expected = {}
    text = re.sub(r"--.*", "", procedures.text("dyno.targets.mysql.procedures", workload))
    for name, head in re.findall(
        r"CREATE PROCEDURE \{place\}\.(\w+)\((.*?)\)\s*(?:READS|MODIFIES)", text, re.DOTALL
    ):
        expected[name] = re.findall(
            r"(\w+) (?:INT|BIGINT|DATE|DATETIME|DECIMAL|CHAR|VARCHAR|TEXT)\b", head
        )
    assert set(found) == set(expected)
    inner = {"dyno_past_trades", "dyno_trade_details"}  # which only the others call
    assert {name: found[name] for name in set(found) - inner} == {
        name: expected[name] for name in set(expected) - inner
    }
    assert {"dyno_new_order", "dyno_trade_cleanup"} & set(found)


def test_microsofts_grammar_accepts_all() -> None:
    require_scriptdom()
    texts = [
        batch.format(place="[dbo]")
        for workload in ("tpcc", "brokerage")
        for batch in sqlserver.batches(procedures.text(sqlserver.__name__, workload))
    ]
    texts += [own(query.text()) for _, query in QUERIES]
    texts += [own(_shown(condition)) for condition in (*OF_TPCC, *OF_BROKERAGE)]
    found = dict(zip(texts, mistakes(texts), strict=True))
    assert {text: wrong for text, wrong in found.items() if wrong} == {}


def test_a_line_with_go_ends_a_batch() -> None:
    text = "SELECT 1;\nGO\n\nSELECT 'GO';\n  go \nGOTO there;\nGO\n"
    assert sqlserver.batches(text) == ["SELECT 1;", "SELECT 'GO';", "GOTO there;"]
    assert files("dyno.targets.sqlserver.procedures").joinpath("tpcc.sql").is_file()
