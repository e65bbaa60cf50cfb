"""Candidates from predicates, their trial by a planner with known answers, and proofs beside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dyno import workloads
from dyno.contracts.advice import IndexFacts
from dyno.contracts.hypothetical import Planned, Table, Wish
from dyno.decide.advise.indexes import predicates
from dyno.decide.advise.indexes.candidates import WIDEST, candidates, covered
from dyno.decide.advise.indexes.predicates import Read, castable
from dyno.decide.advise.indexes.trial import Asked, IndexAdvice, Trial, read_all, saved, wanted
from dyno.decide.advise.kinds.indexes import KIND
from dyno.decide.advise.predicates import ORDERED, VALUES, Kind, Place, Predicate
from dyno.decide.advise.proven import WITHDRAWN, beside, document
from dyno.decide.advise.section import Asked as Wanted
from dyno.decide.advise.section import Section, Variant
from dyno.decide.advise.section import Table as Shown
from dyno.decide.advise.statements import UnreadableError
from dyno.decide.advise.system import Facts, System
from dyno.errors import TargetError
from dyno.studies.proofs import Proof

SALE = Table('"The shop".sale', "The shop", "sale", ("id", "buyer", "day", "state"), 10**6)
BUYER = Table("shop.buyer", "shop", "buyer", ("id", "region"), 10**5)
KNOWN = (SALE, BUYER)


def read(text: str, dialect: str = "postgres") -> Read:
    return predicates.read(text, dialect, KNOWN)


def asked(text: str) -> tuple[set[str], set[str], set[str]]:
    """What a statement selects sales by."""
    (own,) = [place for place in read(text).selected if place.table is SALE]
    return own.columns(*VALUES), own.columns("join"), own.columns(*ORDERED)


@pytest.mark.parametrize(
    ("text", "equal", "joined", "ranged"),
    [
        ("SELECT 1 FROM sale WHERE buyer = $1 AND day >= $2", "buyer", "", "day"),
        ("SELECT 1 FROM sale s WHERE s.day BETWEEN $1 AND $2", "", "", "day"),
        ("SELECT 1 FROM sale WHERE state IN ($1, $2)", "state", "", ""),
        ("SELECT 1 FROM sale JOIN buyer b ON b.id = buyer AND region = 1", "", "buyer", ""),
        ("SELECT 1 FROM sale WHERE buyer IN (SELECT id FROM buyer)", "", "buyer", ""),
        ("SELECT 1 FROM sale WHERE day < date $1 + interval $2 month", "", "", "day"),
        ("UPDATE sale SET state = 1 WHERE buyer = $1", "buyer", "", ""),
        ('DELETE FROM "The shop".sale WHERE day <= $1', "", "", "day"),
        # An alternative, a negation, and a function of a column ask for no index of it.
        ("SELECT 1 FROM sale WHERE buyer = 1 OR day = $1", "", "", ""),
        ("SELECT 1 FROM sale WHERE NOT (buyer = 1)", "", "", ""),
        ("SELECT 1 FROM sale WHERE lower(state) = $1", "", "", ""),
        ("SELECT 1 FROM sale WHERE buyer = state", "", "", ""),
        ("SELECT 1 FROM sale WHERE state LIKE '%x'", "", "", ""),
        ("SELECT buyer = 1 FROM sale", "", "", ""),
    ],
)
def test_predicates(text: str, equal: str, joined: str, ranged: str) -> None:
    assert asked(text) == ({*equal.split()}, {*joined.split()}, {*ranged.split()})


def test_a_column_belongs_to_the_nearest_block() -> None:
    found = read(
        "SELECT 1 FROM buyer b WHERE EXISTS (SELECT 1 FROM sale WHERE buyer = b.id AND state = 1)"
    )
    by = {one.table.table: one for one in found.selected}
    assert by["sale"].joined == {"b": {"buyer"}}
    assert by["sale"].columns(*VALUES) == {"state"}
    assert by["buyer"].joined == {"sale": {"id"}}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT * FROM nowhere", "nowhere"),
        ("SELECT evil(1) FROM sale", "evil"),
        ("CREATE TABLE x (a INT)", "no rows"),
        ("SELECT 1 FROM sale; DROP TABLE sale", "one statement"),
        ("SELECT 1 FROM sale WHERE state = 'cut o", "parsed"),
        ("SELECT 1", "no table"),
        ("(" * 5000, "parsed"),
        ("", "one statement"),
    ],
)
def test_what_cannot_be_read(text: str, reason: str) -> None:
    with pytest.raises(UnreadableError, match=reason):
        read(text)


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    for words in (text, f"SELECT 1 FROM sale WHERE {text}"):
        try:
            read(words)
        except UnreadableError as error:
            assert "\n" not in str(error)


def test_typed_parameters_become_casts() -> None:
    """What pg_stat_statements makes of typed literals is no valid statement."""
    text = "SELECT 1 FROM t WHERE d <= date $1 - interval $2 day AND x = '$3' AND y < interval $12"
    assert castable(text, "postgres") == (
        "SELECT 1 FROM t WHERE d <= $1::date - $2::interval AND x = '$3' AND y < $12::interval"
    )


def test_equality_comes_first_and_one_range_last() -> None:
    texts = (
        (0.7, "SELECT 1 FROM sale WHERE buyer = $1 AND state = $2 AND day > $3 AND id < $4"),
        (0.3, "SELECT 1 FROM sale WHERE state = $1"),
    )
    found = candidates(((share, read(text).selected) for share, text in texts), ())
    assert [one.columns for one in found] == [
        ("state", "buyer"), ("state", "buyer", "day"), ("state", "buyer", "id"), ("state",),
    ]  # fmt: skip


def test_small_tables_and_known_indexes_need_none() -> None:
    own = [(1.0, read("SELECT 1 FROM sale WHERE buyer = $1 AND state = $2").selected)]
    key = IndexFacts("x", SALE.name, ("state", '"buyer"', "day"))
    assert candidates(own, [key]) == []
    partial = IndexFacts("x", SALE.name, ("state", "buyer", "WHERE day IS NULL"))
    assert not covered(Wish(SALE.name, ("state", "buyer")), [partial])
    small = Table("s", "", "sale", SALE.columns, 10)
    few = predicates.read("SELECT 1 FROM sale WHERE buyer = 1", "postgres", [small])
    assert candidates([(1.0, few.selected)], ()) == []


COLUMNS = st.sets(st.sampled_from(SALE.columns))


@given(COLUMNS, COLUMNS, COLUMNS)
def test_candidates_name_each_column_once(
    equal: set[str], joined: set[str], ranged: set[str]
) -> None:
    kinds: dict[Kind, set[str]] = {"equality": equal, "join": joined, "low": ranged}
    found = [Predicate(one, kind, "b") for kind, own in kinds.items() for one in sorted(own)]
    place = Place(SALE, tuple(found))
    for wish in candidates([(1.0, [place])], ()):
        assert 0 < len(wish.columns) <= WIDEST
        assert len(set(wish.columns)) == len(wish.columns)
        assert sum(one in ranged - equal - joined for one in wish.columns) <= 1
        assert {*wish.columns} <= equal | joined | ranged


@pytest.mark.parametrize("query", workloads.get("tpch").queries, ids=lambda one: one.name)
def test_the_queries_of_a_workload_can_be_read(query: object) -> None:
    from dyno.contracts import schema

    tables = [
        Table(one["name"], "", one["name"], tuple(each["name"] for each in one["columns"]))
        for one in schema.tables("tpch")
    ]
    text = query.text(query.validation(1.0))  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
    assert predicates.read(str(text), "postgres", tables).selected  # pyright: ignore[reportUnknownArgumentType]


class Model:
    """A planner with costs that are known: an index on ``helps`` costs 1, all else 100."""

    how, dialect = "a model", "postgres"
    tables: Sequence[Table] = KNOWN
    indexes: Sequence[IndexFacts] = ()

    def __init__(self, helps: set[tuple[str, ...]], refuses: str = "") -> None:
        self.helps, self.refuses = helps, refuses

    def plan(self, statement: str, tables: Iterable[Table], wishes: Sequence[Wish]) -> Planned:
        if self.refuses and self.refuses in statement:
            raise TargetError("no type of $1.")
        names = {one.name for one in tables}
        used = [one for one in wishes if one.columns in self.helps and one.table in names]
        return Planned(1.0 if used else 100.0, frozenset(used[:1]))

    def size(self, wish: Wish) -> int:
        return 8192 * len(wish.columns)

    def define(self, wish: Wish, name: str) -> str:
        return f"CREATE INDEX {name} ON {wish.table};"


ASKED = (
    Asked("1", "SELECT 1 FROM sale WHERE buyer = $1 AND day > $2", 0.9),
    Asked("2", "SELECT 1 FROM buyer WHERE region = $1", 0.1),
    Asked("3", "COMMIT", 0.0),
)


def tried(model: Model) -> IndexAdvice:
    found, left_out = read_all(ASKED, "postgres", KNOWN)
    trial = Trial(model, found)
    proven = trial.run(wanted(found, ()))
    return IndexAdvice(proven, statements=len(found), how="a model", left_out={
        **left_out, **trial.left_out,
    })  # fmt: skip


def test_the_index_that_the_planner_uses_is_advised() -> None:
    found = tried(Model({("buyer", "day"), ("region",)}))
    assert [one.name for one in found.proven] == ["sale_by_buyer_day", "buyer_by_region"]
    first, second = found.proven
    assert first.saved == pytest.approx(0.9 * 0.99)
    assert second.saved == pytest.approx(0.1 * 0.99)
    assert [(one.name, one.before, one.after) for one in first.served] == [("1", 100.0, 1.0)]
    assert (first.bytes, first.definition) == (
        16384, 'CREATE INDEX sale_by_buyer_day ON "The shop".sale;',
    )  # fmt: skip
    assert found.left_out == {"3": "it selects no rows"}


def test_text_alone_advises_nothing() -> None:
    assert tried(Model(set())).proven == []


def test_a_statement_that_cannot_be_planned_is_left_out() -> None:
    found = tried(Model({("region",)}, refuses="sale"))
    assert [one.name for one in found.proven] == ["buyer_by_region"]
    assert found.left_out["1"] == "no type of $1"


@given(st.floats(0, 1e12), st.floats(0, 1e12))
def test_the_saved_share_is_a_share(before: float, after: float) -> None:
    wish = Wish("t", ("a",))
    share = saved(Planned(before), Planned(after, frozenset({wish})), wish)
    assert 0 <= share <= 1
    assert (share > 0) <= (after < before)
    assert saved(Planned(before), Planned(after), wish) == 0


def test_a_planner_without_costs_counts_scans() -> None:
    wish = Wish("t", ("a",))
    full, used = Planned(None, scanned=frozenset({"t"})), Planned(None, frozenset({wish}))
    assert saved(full, used, wish) == 1
    assert saved(Planned(None), used, wish) == 0


def section_of(indexes: IndexAdvice) -> Section:
    found = KIND.advise(System("x", Facts({}, ""), indexes=indexes), Wanted())
    assert found is not None
    return found


def test_without_a_planner_nothing_is_advised() -> None:
    section = section_of(IndexAdvice(obstacle="MariaDB plans no hypothetical indexes"))
    assert not section.tables
    assert not section.commands
    assert "MariaDB plans no hypothetical indexes" in section.sentences[0]
    assert KIND.advise(System("x", Facts({}, "")), Wanted()) is None


PROOF = Proof("worse", "tps", 5, Path("/x/studies/advice"), -12.0, -15.0, -9.0, 0.95)


def test_worse_advice_is_withdrawn() -> None:
    section = Section(
        "Best practices",
        tables=[Shown(("Severity", "Rule"), [("high", "a"), ("low", "b")], marks=["high", "low"])],
        commands={"a": ["x"], "a: /mnt": ["y"], "b": ["z"]},
        violated=["a", "b"],
        variants=[Variant("a", {"settings.memory": "1GB"}, "why")],
    )
    found = beside(section, {"a": PROOF})
    assert found.violated == ["b"]
    assert found.commands == {"b": ["z"]}
    assert found.tables[0].rows == [(WITHDRAWN, "a"), ("low", "b")]
    (row,) = found.tables[1].rows
    assert row[:2] == ("a", "worse")
    assert "-12" in row[2]
    assert "-15" in row[2]
    assert [line for line in found.closing if line.startswith("a:")]
    unsure = replace(PROOF, verdict="no difference found")
    assert [line for line in beside(section, {"a": unsure}).closing if "--pairs" in line]
    blunt = replace(unsure, high=30.0, smallest=17.25)
    (line,) = [line for line in beside(section, {"a": blunt}).closing if line.startswith("a:")]
    assert "17.2 %" in line
    assert "5 pairs" in line
    within = replace(unsure, high=1.0)
    assert not [line for line in beside(section, {"a": within}).closing if line.startswith("a:")]
    (shown,) = document(section, {"a": PROOF})
    assert shown["withdrawn"] is True
    assert shown["proof"]["low"] == -15.0
    assert shown["proof"]["folder"] == "/x/studies/advice"
    assert document(section, {})[0]["proof"] is None
    later = replace(section, commands={}, once_proven={"a": ["CREATE INDEX"]})
    assert beside(later, {"a": PROOF}).commands == {}
    assert beside(later, {"a": replace(PROOF, verdict="proven better")}).commands == {
        "a": ["CREATE INDEX"]
    }
    assert beside(section, {}) == section
