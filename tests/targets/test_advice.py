"""What advice reads of live servers: planted faults, missing rights, and nothing changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dyno.contracts.advice import TERMS, Advised, Catalog, dialect
from dyno.decide.advise.kinds.practices import judged
from dyno.decide.advise.practices import rules
from dyno.decide.advise.rule import Verdict
from dyno.decide.advise.system import Database, Facts, System
from dyno.runner import advise
from dyno.targets import names
from dyno.targets.mysql.target import MysqlTarget
from tests.targets.conftest import ask, embedded_mariadb, public_folder
from tests.targets.debian import debian_server
from tests.targets.test_postgresql_inside_url import opened

RULES = {rule.name: rule for rule in rules()}
LINES = (
    "shared_preload_libraries = 'pg_stat_statements'",
    "full_page_writes = off",
    "autovacuum = off",
)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Debian's PostgreSQL with planted faults: no fsync, no statistics, indexes twice."""
    with public_folder() as folder, debian_server(folder, *LINES) as found:
        target = opened(found)
        ask(target, "CREATE EXTENSION pg_stat_statements")
        ask(target, 'CREATE SCHEMA "The shop"')
        ask(
            target,
            'CREATE TABLE "The shop".item AS SELECT i, i % 7 k FROM generate_series(1, 20000) i',
        )
        for name in ("one", "two"):
            ask(target, f'CREATE INDEX {name} ON "The shop".item (k)')
        ask(target, 'ALTER TABLE "The shop".item ADD PRIMARY KEY (i)')
        ask(target, 'CREATE UNLOGGED TABLE "The shop".cart AS SELECT 1 AS x')
        ask(target, "CREATE ROLE secretive LOGIN PASSWORD 'hunter2'")
        ask(target, "CREATE ROLE plain LOGIN")
        ask(target, 'SELECT count(*) FROM "The shop".item')
        yield found


def system_of(url: str) -> System:
    (found,) = advise.of_target(url, Path("/nowhere"), "oltp")
    return found


def verdict(system: System, name: str) -> Verdict:
    return RULES[name].judge(system)[0]


def test_planted_faults_are_found(url: str) -> None:
    system = system_of(url)
    wanted = {
        "flushed-log": "ALTER SYSTEM SET fsync = 'on';",
        "torn-pages": "ALTER SYSTEM SET full_page_writes = 'on';",
        "autovacuum": "ALTER SYSTEM SET autovacuum = 'on';",
        "table-statistics": 'ANALYZE "The shop".item;',
        "duplicate-indexes": 'DROP INDEX CONCURRENTLY "The shop".two;',
        "unlogged-tables": 'ALTER TABLE "The shop".cart SET LOGGED;',
    }
    for name, command in wanted.items():
        found = verdict(system, name)
        assert found.outcome == "violated", name
        assert command in found.commands


def test_the_commands_mend_what_they_are_about(url: str) -> None:
    """Those that need no restart, on a copy of the faults: then the rule is content."""
    system, target = system_of(url), opened(url)
    for name in ("table-statistics", "duplicate-indexes", "torn-pages"):
        for line in verdict(system, name).commands:
            ask(target, line)
    again = system_of(url)
    assert verdict(again, "duplicate-indexes").outcome == "fulfilled"
    assert '"The shop".item' not in verdict(again, "table-statistics").found
    ask(target, "ALTER SYSTEM RESET full_page_writes")
    ask(target, 'CREATE INDEX two ON "The shop".item (k)')


def test_reads_and_statements_of_a_server(url: str) -> None:
    system = system_of(url)
    assert system.uses.tables[0].name == "The shop.item"
    texts = [one.text for one in system.uses.statements]
    assert any('count(*) FROM "The shop".item' in text for text in texts)
    assert any(text.startswith("CREATE ROLE secretive") for text in texts)
    assert not any("hunter2" in text for text in texts)


def test_a_role_without_rights_is_told_what_is_missing(url: str) -> None:
    ask(opened(url), "REVOKE CONNECT ON DATABASE template1 FROM PUBLIC")
    system = system_of(url.replace("user=dyno", "user=plain"))
    found = {name: verdict(system, name) for name in ("statement-counts", "temp-space")}
    assert found["statement-counts"].outcome == "not readable"
    assert 'GRANT pg_read_all_settings TO "plain";' in found["statement-counts"].reason
    assert found["temp-space"].outcome == "not readable"
    assert 'GRANT pg_read_all_stats TO "plain";' in found["temp-space"].reason
    assert any("GRANT pg_read_all_stats" in note for note in system.uses.notes)
    log = verdict(system, "log-device")
    assert log.outcome == "not readable"
    assert 'GRANT "pg_read_all_settings" TO "plain";' in log.reason
    # What every role may see is judged all the same.
    assert verdict(system, "flushed-log").outcome == "violated"
    assert verdict(system, "duplicate-indexes").outcome == "violated"
    for one in judged(system):
        assert one.verdict.outcome != "not readable" or one.verdict.reason


def test_it_changes_nothing(url: str) -> None:
    target = opened(url)
    counted = (
        "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_all_tables "
        "WHERE schemaname = 'The shop'"
    )
    listed = "SELECT count(*), max(oid) FROM pg_class"
    settings = "SELECT md5(string_agg(name || setting, ',' ORDER BY name)) FROM pg_settings"
    before = [ask(target, question) for question in (counted, listed, settings)]
    assert isinstance(target, Advised)
    target.catalog()
    assert [ask(target, question) for question in (counted, listed, settings)] == before


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MysqlTarget]:
    with embedded_mariadb(tmp_path_factory.mktemp("advice")) as target:
        ask(target, "CREATE DATABASE `a shop`")
        ask(
            target,
            "CREATE TABLE `a shop`.item (i INT PRIMARY KEY, k INT, KEY one (k), KEY two (k))",
        )
        ask(target, "INSERT INTO `a shop`.item VALUES (1, 1), (2, 2)")
        yield target


def mariadb_system(target: MysqlTarget, catalog: Catalog) -> System:
    facts = target.facts()
    words = dialect("mysql")
    own = Database("mysql", facts.url, facts.version, catalog.settings, words, True, catalog)
    return System("MariaDB", Facts({}, "unknown"), database=own)


def test_mariadb_in_its_own_words(mariadb: MysqlTarget) -> None:
    ask(mariadb, "SET GLOBAL innodb_flush_log_at_trx_commit = 2")
    try:
        system = mariadb_system(mariadb, mariadb.catalog())
    finally:
        ask(mariadb, "SET GLOBAL innodb_flush_log_at_trx_commit = 1")
    found = verdict(system, "durable-commit")
    assert found.outcome == "violated"
    assert found.commands[0] == "SET GLOBAL innodb_flush_log_at_trx_commit = 1;"
    twice = verdict(system, "duplicate-indexes")
    assert twice.commands == ("ALTER TABLE `a shop`.`item` DROP INDEX `two`;",)
    ask(mariadb, twice.commands[0])
    again = mariadb_system(mariadb, mariadb.catalog())
    assert verdict(again, "duplicate-indexes").outcome == "fulfilled"
    ask(mariadb, "ALTER TABLE `a shop`.item ADD KEY two (k)")
    assert verdict(again, "data-growth").outcome == "fulfilled"
    assert verdict(again, "autovacuum").outcome == "not applicable"
    assert again.counter("databases_bytes") > 0


@pytest.mark.parametrize("name", names())
def test_a_target_translates_known_terms_only(name: str) -> None:
    found = dialect(name)
    if found is None:
        return
    assert {*found.knobs, *found.lacks, *found.rebuild} <= {*TERMS}
    assert not {*found.knobs} & {*found.lacks}


def terms(name: str) -> set[str]:
    found = dialect(name)
    assert found is not None
    return {*found.knobs} | {*found.lacks}


def test_a_server_has_every_term_or_a_reason() -> None:
    # Most terms of SQL Server are of parts that no other product has.
    assert terms("sqlserver") == {*TERMS}
    assert terms("postgresql") == terms("mysql") >= {"cache", "durable_commit", "work_memory"}
