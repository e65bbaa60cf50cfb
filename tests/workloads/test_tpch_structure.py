"""The structure of the 22 queries is TPC-H's: nothing helps a planner beyond what it specifies.

What is known of each query here is from the specification's functional definitions: the tables of
its FROM clauses in their order, joins by conditions of WHERE, nested queries where it nests them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from dyno import targets, workloads
from dyno.contracts.target import Limits, Target
from dyno.contracts.variants import variants
from dyno.targets.dialect import translate

QUERIES = {query.name: query for query in workloads.get("tpch").queries}

SOURCES = {
    "q01": ["lineitem"],
    "q02": ["part supplier partsupp nation region", "partsupp supplier nation region"],
    "q03": ["customer orders lineitem"],
    "q04": ["orders", "lineitem"],
    "q05": ["customer orders lineitem supplier nation region"],
    "q06": ["lineitem"],
    "q07": ["()", "supplier lineitem orders customer nation nation"],
    "q08": ["()", "part supplier lineitem orders customer nation nation region"],
    "q09": ["()", "part supplier lineitem partsupp orders nation"],
    "q10": ["customer orders lineitem nation"],
    "q11": ["partsupp supplier nation", "partsupp supplier nation"],
    "q12": ["orders lineitem"],
    "q13": ["()", "customer orders"],
    "q14": ["lineitem part"],
    "q15": ["supplier revenue", "lineitem", "revenue"],
    "q16": ["partsupp part", "supplier"],
    "q17": ["lineitem part", "lineitem"],
    "q18": ["customer orders lineitem", "lineitem"],
    "q19": ["lineitem part"],
    "q20": ["supplier nation", "partsupp", "part", "lineitem"],
    "q21": ["supplier lineitem orders nation", "lineitem", "lineitem"],
    "q22": ["()", "customer", "customer", "orders"],
}
"""The tables of each SELECT, outer ones first; ``()`` is a query in the place of a table."""

CONDITIONS = {
    "q01": 1, "q02": 8, "q03": 5, "q04": 3, "q05": 9, "q06": 4, "q07": 7, "q08": 10, "q09": 7,
    "q10": 6, "q11": 3, "q12": 6, "q14": 3, "q15": 2, "q16": 5, "q17": 4, "q18": 3, "q19": 1,
    "q20": 3, "q21": 8,
}  # fmt: skip
"""Conditions, joined by AND, of the SELECT with most tables; the same as in the specification."""

NESTED = {
    "q02": {exp.EQ: 1},  # of a scalar
    "q04": {exp.Exists: 1},
    "q11": {exp.GT: 1},
    "q15": {exp.EQ: 1},
    "q16": {exp.In: 1},
    "q17": {exp.LT: 1},
    "q18": {exp.In: 1},
    "q20": {exp.In: 2, exp.GT: 1},
    "q21": {exp.Exists: 2},
    "q22": {exp.GT: 1, exp.Exists: 1},
}
"""Conditions that hold a query of their own, by their kind."""

each_query = pytest.mark.parametrize("name", list(QUERIES))


def tree(name: str) -> exp.Expr:
    return sqlglot.parse_one(QUERIES[name].text(), read="postgres")


def selects(root: exp.Expr) -> Iterator[exp.Select]:
    return root.find_all(exp.Select, bfs=True)


def joins(select: exp.Select) -> list[exp.Join]:
    return select.args.get("joins") or []


def source_names(select: exp.Select) -> str:
    source = select.args["from_"].this
    parts = [source, *(join.this for join in joins(select))]
    return " ".join(part.name if isinstance(part, exp.Table) else "()" for part in parts)


def conditions(select: exp.Select) -> list[exp.Expr]:
    where = select.args.get("where")
    return [] if where is None else list(operands(where.this, exp.And))


def operands(node: exp.Expr, kind: type[exp.Connector]) -> Iterator[exp.Expr]:
    node = node.unnest()
    if isinstance(node, kind):
        yield from operands(node.left, kind)
        yield from operands(node.right, kind)
    else:
        yield node


@each_query
def test_tables_stand_in_the_order_of_the_specification(name: str) -> None:
    assert sorted(map(source_names, selects(tree(name)))) == sorted(SOURCES[name])
    assert source_names(next(selects(tree(name)))) == SOURCES[name][0]


@each_query
def test_tables_are_joined_by_conditions_but_for_the_outer_join(name: str) -> None:
    for select in selects(tree(name)):
        for join in joins(select):
            if name == "q13" and source_names(select) == "customer orders":
                assert (join.side, join.kind) == ("LEFT", "OUTER")
                assert {column.name for column in join.args["on"].find_all(exp.Column)} == {
                    "o_custkey", "c_custkey", "o_comment",
                }  # fmt: skip
            else:
                assert not (join.side or join.kind or join.args.get("on") or join.args.get("using"))


@pytest.mark.parametrize("name", list(CONDITIONS))
def test_no_condition_is_added_or_left_out(name: str) -> None:
    widest = max(selects(tree(name)), key=lambda select: len(joins(select)))
    assert len(conditions(widest)) == CONDITIONS[name], widest.sql()


@each_query
def test_queries_are_nested_where_the_specification_nests_them(name: str) -> None:
    found: dict[type[exp.Expr], int] = {}
    for kind in (exp.EQ, exp.GT, exp.LT, exp.In, exp.Exists):
        for node in tree(name).find_all(kind):
            own = node.args.get("query") or node.args.get("expression") or node.this
            if isinstance(own, exp.Subquery | exp.Select):
                found[kind] = found.get(kind, 0) + 1
    assert found == NESTED.get(name, {})
    assert not [node for node in tree(name).walk() if isinstance(node, exp.Hint)]


@each_query
def test_only_what_the_specification_names_is_a_query_in_from_or_before(name: str) -> None:
    assert bool(tree(name).find(exp.With)) == (name == "q15"), "which TPC-H allows in its place"
    for select in selects(tree(name)):
        assert not select.args.get("distinct")


def test_all_branches_of_q19_repeat_what_they_share() -> None:
    (condition,) = conditions(next(selects(tree("q19"))))
    branches = [list(operands(one, exp.And)) for one in operands(condition, exp.Or)]
    assert len(branches) == 3
    for branch in branches:
        assert len(branch) == 8
        texts = {one.sql() for one in branch}
        assert texts >= {
            "p_partkey = l_partkey",
            "l_shipmode IN ('AIR', 'AIR REG')",
            "l_shipinstruct = 'DELIVER IN PERSON'",
        }


def test_the_or_of_q7_stays_over_both_nations() -> None:
    inner = max(selects(tree("q07")), key=lambda select: len(joins(select)))
    ors = [one for one in conditions(inner) if isinstance(one, exp.Or)]
    (one,) = ors
    assert [len(list(operands(branch, exp.And))) for branch in operands(one, exp.Or)] == [2, 2]
    assert len(list(inner.find_all(exp.Or))) == 1


def test_q12_compares_priorities_one_by_one() -> None:
    cases = list(tree("q12").find_all(exp.Case))
    kinds = [type(case.args["ifs"][0].this) for case in cases]
    assert kinds == [exp.Or, exp.And]


def test_q21_nests_one_query_that_exists_and_one_that_does_not() -> None:
    exists = list(tree("q21").find_all(exp.Exists))
    assert [isinstance(one.parent, exp.Not) for one in exists] in ([True, False], [False, True])


def shape(root: exp.Expr) -> object:
    """What of a statement is structure: its SELECTs' tables and joins, and its conditions."""
    return sorted(
        (
            source_names(select),
            [join.side + join.kind for join in joins(select)],
            len(conditions(select)),
            len(list(select.find_all(exp.Or))),
            len(list(select.find_all(exp.EQ))),
        )
        for select in selects(root)
    )


def opened(name: str, out: Path) -> Target:
    return targets.open_target(targets.parse(targets.about(name)[1][0]), out, Limits(1 << 30, 1))


@pytest.mark.parametrize("target", [name for name in targets.names() if name != "null"])
def test_what_a_target_changes_it_declares(target: str, tmp_path: Path) -> None:
    found = opened(target, tmp_path)
    dialect = {"postgresql": "postgres", "sqlserver": "tsql"}.get(target, target)
    declared = variants(found, "tpch")
    changed: set[str] = set()
    for name, query in QUERIES.items():
        own = sqlglot.parse_one(found.sql("tpch", name, query.text()), read=dialect)
        plain = sqlglot.parse_one(translate(query.text(), dialect), read=dialect)
        if shape(own) != shape(plain):
            changed.add(name)
    assert changed == set(declared)
    assert (found.capabilities.neutral is True) == (not declared)
    assert all(len(words) > 15 for words in declared.values())
    if declared:
        neutral = str(found.capabilities.neutral)
        assert all(f"Q{int(name[1:])}" in neutral for name in declared)
