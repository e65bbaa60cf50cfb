"""Drafts from what a server counts and from logs, without a server."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.contracts.advice import ColumnFacts, TableFacts
from dyno.contracts.captured import Captured
from dyno.errors import UsageError
from dyno.targets.mysql.captured import CAPTURED as MYSQL
from dyno.targets.postgresql.captured import CAPTURED
from dyno.targets.sqlserver.captured import CAPTURED as SQLSERVER
from dyno.workloads.own import spec, sql
from dyno.workloads.own.draft.draft import Draft, Ran, Together, draft
from dyno.workloads.own.draft.values import Value
from dyno.workloads.own.draft.written import text_of
from tests.process import dyno
from tests.replay.logs import as_csv, shop, written

ITEM = TableFacts(
    "public.item",
    rows=500,
    columns=(
        ColumnFacts("id", "number", "integer"),
        ColumnFacts("stock", "number", "integer"),
        ColumnFacts("name", "text", "character varying(20)"),
        ColumnFacts("at", "time", "timestamp without time zone"),
        ColumnFacts("tags", "other", "text[]"),
    ),
    keys={"item_pkey": ("id",)},
    primary_key="item_pkey",
)
TABLES = {"item": ITEM}


def drafted(*together: Together, with_values: bool = False, top: int = 20) -> Draft:
    return draft(together, TABLES, CAPTURED, top, with_values=with_values)


def counted(*texts: str) -> Draft:
    return drafted(*(Together(10 - place, (Ran(text),)) for place, text in enumerate(texts)))


def test_parameters_are_drawn_from_their_columns() -> None:
    made = counted(
        "SELECT stock FROM item i WHERE i.id = $1 AND stock BETWEEN $2 AND $3 LIMIT $4",
        "UPDATE item SET name = $1, at = $2 WHERE id = $3",
        "SELECT id FROM item WHERE id IN ($1)",
    )
    assert not made.open
    look, change, several = made.transactions
    assert (look.weight, look.name) == (10, "select_item")
    assert ":id" in look.statements[0][0]
    assert ":stock AND :stock + :width" in look.statements[0][0]
    assert "LIMIT :limit" in look.statements[0][0]
    assert "CAST(:at AS timestamp" in change.statements[0][0]
    assert several.name == "select_item_2"
    assert made.draws["id"].draw["query"].startswith("select id from public.item")
    assert made.draws["at"].draw["query"].startswith("select cast(at as text)")
    text = text_of(made, "shop", "Shop", ["A draft."])
    assert spec.read(text, "the draft", "shop").transactions.keys() == {
        "select_item", "update_item", "select_item_2",
    }  # fmt: skip


def test_lists_are_guesses_of_one_value() -> None:
    texts = ("SELECT id FROM item WHERE stock = ANY($1)",
             "SELECT id FROM item WHERE id IN ($1 /*, ... */)")  # fmt: skip
    made = counted(*texts)
    assert not made.open
    assert "ANY(ARRAY[:stock])" in made.transactions[0].statements[0][0]
    assert all("list" in made.draws[name].note for name in ("stock", "id"))
    cast = counted("SELECT id FROM item WHERE stock = ANY($1::int[])")
    assert "ANY(ARRAY[:stock]::int[])" in cast.transactions[0].statements[0][0]
    assert "list" in cast.draws["stock"].note
    shortened = Together(1, (Ran("SELECT id FROM item WHERE id IN (...)"),))
    assert "list" in draft([shortened], TABLES, MYSQL, 20).draws["id"].note


def test_a_backslash_in_a_literal_of_postgresql_is_one() -> None:
    made = counted(r"SELECT id FROM item WHERE name LIKE $1 ESCAPE '\' OR name LIKE $2 ESCAPE '\'")
    (text,) = made.transactions[0].statements
    assert ":name_2" in text[0]


def test_values_of_what_names_a_secret_are_never_stored() -> None:
    text = "SELECT pgp_sym_decrypt(name, $1) FROM item WHERE id = $2"
    made = drafted(Together(1, (Ran(text, True, ("K3y", "7")),)), with_values=True)
    assert "K3y" not in str(made)
    assert counted("SELECT id FROM item WHERE token = $1").transactions


def test_the_amount_by_which_a_column_changes_is_a_guess() -> None:
    """Drawn from the column, it would double the stock again and again."""
    changes = ("UPDATE item SET stock = stock - $1 WHERE id = $2 AND stock >= $3",
               "UPDATE item i SET stock = $1 + (i.stock)")  # fmt: skip
    made = counted(*changes)
    assert not made.open
    assert made.draws["stock"].draw == {"constant": 1}
    assert "public.item.stock" in made.draws["stock"].note
    assert "stock - :stock WHERE" in made.transactions[0].statements[0][0]
    assert "stock >= :stock_2" in made.transactions[0].statements[0][0]
    assert made.draws["stock_2"].draw["query"].startswith("select stock from public.item")
    assert made.transactions[1].statements[0][0].startswith("UPDATE item i SET stock = :stock +")
    assert counted("UPDATE item SET at = at + $1").open == ["at"]
    kept = drafted(Together(1, (Ran(changes[0], True, ("3", "7", "3")),)), with_values=True)
    assert kept.draws["stock"].draw == {"constant": "3"}


def test_the_amount_of_an_upsert_is_a_guess() -> None:
    rows = "INSERT INTO item (id, stock) VALUES ($1, $2) "
    made = counted(
        rows + "ON CONFLICT (id) DO UPDATE SET stock = item.stock + $3, name = $4 "
        "WHERE item.stock < $5"
    )
    assert "stock + :stock_2" in made.transactions[0].statements[0][0]
    assert made.draws["stock_2"].draw == {"constant": 1}
    assert made.draws["name"].draw["query"].startswith("select name")
    assert made.draws["stock_3"].draw["query"].startswith("select stock")
    text = "INSERT INTO item (id, stock) VALUES (?, ?) ON DUPLICATE KEY UPDATE stock = stock + ?"
    upsert = draft([Together(1, (Ran(text),))], TABLES, MYSQL, 20)
    assert "stock + :stock_2" in upsert.transactions[0].statements[0][0]
    assert upsert.draws["stock_2"].draw == {"constant": 1}


SLICES = ("{}[{}:{}]", "{}[:{}]", "{}[{}:]", "{}[{} + id:stock + {}]", "{}[{}][{}:{}]")


@pytest.mark.parametrize("written_as", SLICES)
def test_bounds_of_slices_are_parameters(written_as: str) -> None:
    """``a[:low::high]`` would be a cast."""
    count = written_as.count("{}") - 1
    for bounds, example in ((("$1", "$2", "$3"), False), (("2", "3", "4"), True)):
        text = f"SELECT {written_as.format('tags', *bounds)} FROM item"
        (made,) = drafted(Together(1, (Ran(text, example),))).transactions
        ((slice_, _),) = made.statements
        parsed = sql.parsed(slice_, "the statement")
        assert "::" not in parsed.sql
        assert "CAST" not in parsed.sql
        assert len(parsed.names) == count


def test_a_sample_is_as_large_as_what_may_be_drawn() -> None:
    """A limit that cuts it would leave out the end of the table."""
    for product in (CAPTURED, MYSQL, SQLSERVER):
        for rows in (100_001, 300_000, 12_345_678_901):
            table = {"item": replace(ITEM, rows=rows)}
            text = f"SELECT stock FROM item WHERE id = {'$1' if product.numbered else '?'}"
            made = draft([Together(1, (Ran(text),))], table, product, 20)
            query = made.draws["id"].draw["query"]
            found = re.search(r"system \(([\d.e-]+)\)|< ([\d.e-]+)|\(([\d.e-]+) percent", query)
            assert found is not None, query
            share = float(found[2]) if found[2] else float(found[1] or found[3]) / 100
            assert 0.85 * 100_000 < share * rows < 0.95 * 100_000


def test_a_range_keeps_its_width() -> None:
    """Two bounds drawn apart would be a third of the table, or nothing."""
    sums = "SELECT SUM(stock) FROM item WHERE id BETWEEN {} AND {}"
    made = counted(sums.format("$1", "$2"), "SELECT id FROM item WHERE at BETWEEN $1 AND $2")
    assert "BETWEEN :id AND :id + :width" in made.transactions[0].statements[0][0]
    assert made.draws["width"].draw == {"constant": 99}
    assert "CAST(:at_2 AS" in made.transactions[1].statements[0][0], "no number"
    ran = Together(1, (Ran(sums.format("417", "436"), True),))
    assert drafted(ran).draws["width"].draw == {"constant": 99}
    assert drafted(ran, with_values=True).draws["width"].draw == {"constant": 19}
    ran = Together(1, (Ran(sums.format("-7", "- 2"), True),))
    assert drafted(ran, with_values=True).draws["width"].draw == {"constant": 5}


def test_the_sign_of_a_number_belongs_to_its_value() -> None:
    ran = Together(1, (Ran("SELECT name FROM item WHERE id = -5 LIMIT 1", True),))
    made = drafted(ran, with_values=True)
    assert "id = :id" in made.transactions[0].statements[0][0]


def test_tables_are_spelled_as_in_the_catalog() -> None:
    """MySQL counts a table that is named like one of its words in capitals."""
    found = replace(ITEM, name="`public`.`exchange`")
    text = (
        "SELECT EXCHANGE . `stock` FROM EXCHANGE JOIN `Other` ON `id` = ? WHERE EXCHANGE . `id` = ?"
    )
    made = draft([Together(1, (Ran(text),))], {"exchange": found}, MYSQL, 20, with_values=False)
    (only,) = made.transactions
    (statement,) = only.statements
    assert "FROM `exchange` JOIN `Other`" in statement[0]
    assert "`exchange`.`id` = :id" in statement[0]
    assert "EXCHANGE" not in statement[0]


def test_values_that_are_unknown_are_refused_until_they_are_filled_in() -> None:
    made = counted("INSERT INTO item (id, stock, tags) VALUES ($1, $2, $3)", "SELECT f($1)")
    assert set(made.open) == {"id", "tags", "value"}
    text = text_of(made, "shop", "Shop", [])
    assert "# fill in: a new key" in text
    with pytest.raises(UsageError, match=r"draws\.id has no way"):
        spec.read(text, "the draft", "shop")
    filled = (
        text.replace("id = {}", "id = { sequence = 1000 }")
        .replace("tags = {}", "tags = { constant = '{}' }")
        .replace("value = {}", "value = { constant = 1 }")
    )
    assert spec.read(filled, "the draft", "shop").draws["id"].sequence == 1000


def test_a_long_statement_is_written_in_lines_and_read_as_it_was() -> None:
    columns = ", ".join(f'\'a  {number}\\ "\' AS "c {number}"' for number in range(20))
    made = drafted(example(f"SELECT {columns} FROM item WHERE name = 'it''s'"))
    text = text_of(made, "shop", "Shop", [])
    assert max(map(len, text.splitlines())) <= 100
    (read,) = tomllib.loads(text)["transactions"].values()
    assert read["statements"] == [made.transactions[0].statements[0][0]]


def test_what_cannot_be_drafted_is_left_out_with_its_reason() -> None:
    made = counted(
        "SELECT 1", "VACUUM item", "ALTER ROLE u PASSWORD 'hunter2'", "COMMIT",
        "SELECT * FROM pg_catalog.pg_class", "SELECT interval $1 year to month",
        "SELECT " + "x" * 20_000, "<insufficient privilege>",
    )  # fmt: skip
    assert len(made.transactions) == 1
    text = text_of(made, "shop", "Shop", [])
    assert "hunter2" not in text
    assert len(made.left_out) >= 5
    assert sum(made.left_out.values()) == 9 + 8 + 7 + 6 + 5 + 4 + 3


def example(*statements: str, count: int = 5) -> Together:
    return Together(count, tuple(Ran(one, example=True) for one in statements), explicit=True)


BOUGHT = example(
    "SELECT stock FROM item WHERE id = 41",
    "UPDATE item SET stock = 977 WHERE id = 41",
    "SELECT f('private value')",
)


def test_the_same_value_of_a_transaction_is_the_same_draw() -> None:
    made = drafted(BOUGHT)
    (one,) = made.transactions
    assert [text for text, _ in one.statements][:2] == [
        "SELECT stock FROM item WHERE id = :id",
        "UPDATE item SET stock = :stock WHERE id = :id",
    ]
    assert made.open == ["value"]


NOTATIONS: dict[str, tuple[Captured, tuple[str, ...]]] = {
    "postgresql": (
        CAPTURED,
        (
            "'{}'", r"E'a\'{}'", "$${}$$", "$t${}$t$", "N'{}'", "U&'{}'", "'a' '{}'", "x'{}'",
            "b'{}'", "interval '{}'", "interval '{}' day", "date '{}'", "'{}'::text",
            "cast('{}' as date)", "tags -> '{}'", "tags ->> '{}'", "tags['{}']",
            "date_trunc('{}', at)", "to_char(at, '{}')",
            "string_agg(name, '{}')", "array['{}']", "'{}'::bit(3)", "at at time zone '{}'",
        ),
    ),
    "mysql": (
        MYSQL,
        (
            "'{}'", '"{}"', r"'a\'{}'", "N'{}'", "_utf8'{}'", "_binary '{}'", "x'{}'", "'a' '{}'",
            "b'{}'", "interval '{}' day", "date '{}'", "tags -> '$.{}'", "tags ->> '$.{}'",
            "group_concat(name separator '{}')", "date_format(at, '{}')",
            "name like 'a' escape '{}'", "convert('{}' using utf8)",
            "match(name) against ('{}' in boolean mode)",
        ),
    ),
}  # fmt: skip
PLACES = (
    "select {} from item", "select id from item where name = {}", "update item set name = {}",
    "select id from item order by {}", "select id from item group by 1, {}", "select f({})",
    "insert into item (name) values ({}), ('b')", "delete from item where name in ('a', {})",
    "select /*+ set_var(a = {}) */ id from item -- {}", "select id from item limit {}",
    "with x as (select {} as a) select a from x", "select id, {} from item union all select 1, {}",
    "select sum(id) over (order by {} rows between {} preceding and current row) from item",
    "insert into item (id) values (1) on conflict (id) do update set name = {}",
    "insert into item (id) values (1) on duplicate key update name = {}",
)  # fmt: skip
SECRETS = st.from_regex(r"card[a-z0-9]{3,8}|35 days|4111[0-9]{4,12}", fullmatch=True)


@pytest.mark.parametrize("product", NOTATIONS)
@given(data=st.data(), place=st.sampled_from(PLACES), value=SECRETS)
def test_no_notation_of_a_value_is_stored(product: str, data: st.DataObject, place: str,
                                          value: str) -> None:  # fmt: skip
    server, notations = NOTATIONS[product]
    notation: str = data.draw(st.sampled_from([*notations, *(["{}"] if value.isdigit() else [])]))
    written = place.replace("{}", notation.replace("{}", value))
    made = draft([Together(1, (Ran(written, True),))], TABLES, server, 20)
    # What a draft says in words of its own has numbers, too.
    texts = [text.lower() for one in made.transactions for text, _ in one.statements]
    assert not any(value.lower() in text for text in texts), written
    assert not any(value in str(one.draw) for one in made.draws.values()), written
    assert not any("'" in text for text in texts), written


AS_WRITTEN = (
    (MYSQL, "select stock from item where id = 5 for update skip locked",
     "select stock from item where id = :id for update skip locked"),
    (MYSQL, "select stock from item where id=5 lock in share mode",
     "select stock from item where id = :id lock in share mode"),
    (MYSQL, "select id from item where name rlike '^1' limit 5, 3",
     "select id from item where name rlike :value limit :limit, :limit_2"),
    (MYSQL, "update item set stock=stock-1 where id in (1,2)",
     "update item set stock = stock-:stock where id in (:id,:id_2)"),
    (SQLSERVER, "select top 5 id from item where id = 1 option (maxdop 2)",
     "select top (:limit) id from item where id = :id option (maxdop 2)"),
    (MYSQL, "replace into item (name, stock) values ('a', 1 )",
     "replace into item (name, stock) values (:name, :stock)"),
    (MYSQL, "select straight_join id /* alice */ from item where at > now() - interval 5 day",
     "select straight_join id from item where at > now() - interval :interval day"),
    (MYSQL, "select /*+ MAX_EXECUTION_TIME(1000) */ id from item where name = _utf8'a' 'b'",
     "select /*+ MAX_EXECUTION_TIME(1000) */ id from item where name = :name"),
    (CAPTURED, "/*+ IndexScan(item) */ select stock from item where id = 5 -- alice",
     "select /*+ IndexScan(item) */ stock from item where id = :id"),
    (CAPTURED, "select /*+ IndexScan(item) */ stock from item where id = 5 limit 1;",
     "select /*+ IndexScan(item) */ stock from item where id = :id limit :limit"),
    (CAPTURED, "select id from item where name ~ 'a' and stock != 1::int8 and at > date '2020'",
     "select id from item where name ~ :value and stock != :stock::int8 "
     "and at > CAST(:at AS date)"),
    (CAPTURED, "select id from item where at > timestamp with time zone '2020-01-01 00:00Z'",
     "select id from item where at > CAST(:at AS timestamp with time zone)"),
)  # fmt: skip


@pytest.mark.parametrize(("server", "text", "kept"), AS_WRITTEN)
def test_a_statement_stays_as_the_server_ran_it(server: Captured, text: str, kept: str) -> None:
    """Other words may mean something else, or nothing, to the server."""
    made = draft([Together(1, (Ran(text, True),))], TABLES, server, 20)
    ((found, _),) = made.transactions[0].statements
    assert re.sub(r"CAST\(:at AS timestamp without time zone\)", ":at", found) == kept
    assert sql.parsed(found, "the statement").names


def test_what_must_be_a_literal_is_left_out() -> None:
    texts = "select name->'$.a' from item", "select group_concat(name separator 'a') from item"
    for text in texts:
        made = draft([example(text)], TABLES, MYSQL, 20)
        assert not made.transactions
        assert sum(made.left_out.values()) == 5


@pytest.mark.parametrize("server", [MYSQL, CAPTURED])
def test_a_comment_that_servers_run_is_not_dropped(server: Captured) -> None:
    made = draft([example("select /*!50001 straight_join */ id from item")], TABLES, server, 20)
    assert not made.transactions
    assert sum(made.left_out.values()) == 5


def test_notations_of_values_are_drawn_like_others() -> None:
    made = drafted(
        example(
            r"UPDATE item SET name = E'Bob\'s card 4111' WHERE id = 1",
            "INSERT INTO item (name) VALUES ($$Bob's card 4111$$)",
            "SELECT x'4111AA', N'Eve', U&'Bob', B'1001'",
            "SELECT id FROM item WHERE at > now() - interval '35 days' ORDER BY 1, 'abc'",
            "SELECT date_trunc('day', at) FROM item",
            "SELECT date_trunc('Bob', at) FROM item",
        )
    )
    (one,) = made.transactions
    texts = [text for text, _ in one.statements]
    assert texts[0].startswith("UPDATE item SET name = :name")
    assert texts[1].startswith("INSERT INTO item (name) VALUES (:name")
    assert texts[2] == "SELECT :value, :value_2, :value_3, :value_4"
    assert "CAST(:interval AS interval) ORDER BY 1, :value" in texts[3]
    assert made.draws["interval"].draw == {"constant": "1 day"}
    assert texts[4] == "SELECT date_trunc('day', at) FROM item"
    assert texts[5].startswith("SELECT date_trunc(:value")
    assert not made.left_out
    mysql = draft(
        [example("SELECT date_add(at, interval 5 hour), 0x4111 FROM item")], TABLES, MYSQL, 20
    )
    assert "4111" not in mysql.transactions[0].statements[0][0]
    assert mysql.draws["interval"].draw == {"constant": 1}


def test_values_that_were_asked_for_are_those_of_the_log() -> None:
    text = (
        "SELECT $$a'b$$, N'Eve', tags -> 'key', E'a\\nb', x'4111', to_char(at, 'YYYY'), "
        "interval '35 days' FROM item"
    )
    made = drafted(example(text), with_values=True)
    kept = [one.draw.get("constant") for one in made.draws.values()]
    assert set(kept) == {"a'b", "Eve", "key", "YYYY", None, "35 days"}
    assert len(made.open) == 2


def test_counted_statements_lose_what_is_left_of_their_literals() -> None:
    """A server may count a statement before it replaced its literals."""
    made = counted("SELECT id FROM item WHERE name = 'Bob' AND id = $1 AND at > $2 - interval $3")
    ((text, _),) = made.transactions[0].statements
    assert "Bob" not in text
    assert "CAST(:interval AS interval)" in text


def test_what_a_file_cannot_have_is_left_out_with_a_note() -> None:
    values = ", ".join(str(number) for number in range(1, 300))
    wide = drafted(example(f"SELECT f({values})", "SELECT id FROM item WHERE id = 1"))
    assert len(wide.transactions[0].statements) == 1
    assert set(wide.draws) == {"id"}
    (reason,) = wide.left_out
    assert "256 parameters" in reason
    several = Together(3, tuple(Ran("SELECT stock FROM item WHERE id = 1", True, runs=100.0)
                                for _ in range(4)))  # fmt: skip
    long = drafted(several)
    assert [repeat for _, repeat in long.transactions[0].statements] == [100, 100]
    assert sum(long.left_out.values()) == 6
    shared = drafted(example(*["SELECT stock, f(1, 2) FROM item WHERE id = 7"] * 100))
    assert not shared.left_out
    for made in (long, shared):
        text = text_of(made, "s", "S", []).replace(" = {}", " = { constant = 1 }")
        assert spec.read(text, "the draft", "s")
    into = drafted(example("SELECT id INTO copied FROM item"))
    assert not into.transactions
    assert sum(into.left_out.values()) == 5


def test_a_select_that_locks_begins_as_in_the_log() -> None:
    for explicit in (True, False):
        one = Together(2, (Ran("SELECT id FROM item FOR UPDATE", example=True),), explicit)
        (made,) = drafted(one).transactions
        assert made.begin is (None if explicit else False)


@pytest.mark.parametrize("with_values", [False, True])
def test_values_are_stored_only_if_asked_for(with_values: bool) -> None:
    text = text_of(drafted(BOUGHT, with_values=with_values), "shop", "Shop", [])
    assert ("private value" in text) is with_values
    assert "41" not in text
    assert "977" not in text


def test_positions_and_types_keep_their_numbers() -> None:
    made = drafted(
        example("SELECT cast(stock AS numeric(12, 2)) FROM item GROUP BY 1 ORDER BY 1 DESC LIMIT 5")
    )
    text = made.transactions[0].statements[0][0]
    assert "12, 2" in text
    assert "ORDER BY 1" in text
    assert "GROUP BY 1" in text
    assert ":limit" in text


def test_the_same_statement_is_drafted_once() -> None:
    made = counted("SELECT stock FROM item WHERE id = $1", "SELECT stock FROM item WHERE id=$2")
    assert [one.weight for one in made.transactions] == [19]


def test_less_frequent_transactions_are_left_out() -> None:
    made = drafted(example("SELECT 1", count=9), example("SELECT id FROM item", count=4), top=1)
    assert made.left_out == {"beyond --top": 4}


def test_statements_are_added_up_before_the_rarest_are_left_out() -> None:
    tenants = [Together(9, (Ran("SELECT stock FROM item WHERE id = $1"),)) for _ in range(3)]
    rare = Together(4, (Ran("SELECT id FROM item WHERE name = $1"),))
    made = drafted(*tenants, rare, top=2)
    assert [one.weight for one in made.transactions] == [27, 4]
    assert not made.left_out
    made = drafted(*tenants, rare, top=1)
    assert [one.weight for one in made.transactions] == [27]
    assert made.left_out == {"beyond --top": 4}
    assert set(made.draws) == {"id"}


@given(st.text(), st.text())
def test_any_text_is_a_string_of_toml(note: str, value: str) -> None:
    made = Draft((), {"x": Value({"constant": value}, note)}, {note: 3})
    text = text_of(made, "n", value, [note])
    assert tomllib.loads(text)["draws"]["x"]["constant"] == value


def test_wrong_use(tmp_path: Path) -> None:
    log = written(tmp_path, as_csv(shop(8)))
    german = written(tmp_path, log.read_text().replace("statement: ", "Anweisung: "), "de.log")
    there = written(tmp_path, "x", "there.toml")
    for words, message in (
        (("postgresql://h/d", "--from", "performance_schema"), "belongs to mysql"),
        (("postgresql://h/d", "--from", "nothing"), "the path of a log"),
        (("postgresql://h/d", "--from", log, "--for", "5s"), "--for"),
        (("mysql://h/d", "--from", log), "another product"),
        (("postgresql://h/d", "--from", german), "lc_messages"),
        (("postgresql://h/d", "--from", "pg_stat_statements", "--with-values"), "--with-values"),
        (("postgresql://h/d", "--from", "pg_stat_statements", "--out", there), "exists"),
        (("postgresql://h/d", "--from", "pg_stat_statements", "--out", "x.csv"), ".toml"),
    ):
        done = dyno("capture", *words)
        assert done.returncode == 2, done.stderr
        assert message in done.stderr
