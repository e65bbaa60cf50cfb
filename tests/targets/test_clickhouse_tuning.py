"""Settings of ClickHouse in neutral words, and cold starts, on the real engine."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dyno import targets
from dyno.config import settings
from dyno.contracts import tuning
from dyno.errors import TargetError, UsageError
from dyno.targets.clickhouse import tuning as own
from dyno.targets.clickhouse.target import ClickhouseTarget
from tests.conftest import missing
from tests.targets.conftest import LIMITS

GIB = 1 << 30

WORDS = ("memory=300MB", "parallelism=1", "work_memory=16MB", "temp_limit=50MB")
WANTED = {
    "max_server_memory_usage": str(300 << 20),
    "max_memory_usage": str(300 << 20),
    "max_threads": "1",
    "max_bytes_before_external_sort": str(16 << 20),
    "max_bytes_before_external_group_by": str(16 << 20),
    "max_bytes_before_external_distinct": str(16 << 20),
    "max_bytes_before_external_join": str(16 << 20),
    "max_temporary_data_on_disk_size_for_query": str(50 << 20),
}
GROUPING = (
    "SELECT count(), sum(length(s)) FROM (SELECT sipHash64(number) AS h, "
    "any(toString(number)) AS s FROM numbers({rows}) GROUP BY h)"
)
SORT = (
    "SELECT count() FROM (SELECT toString(cityHash64(number)) AS s, number AS n "
    "FROM numbers(1500000) ORDER BY s, n LIMIT 900000, 1)"
)


@pytest.fixture
def target(out: Path) -> Iterator[ClickhouseTarget]:
    if lacks := targets.lacks("clickhouse"):
        missing(lacks)
    found = targets.open_target(targets.parse("embedded:clickhouse"), out, LIMITS)
    assert isinstance(found, ClickhouseTarget)
    yield found


def asked(*texts: str) -> list[settings.Setting]:
    return settings.parse(texts, None, 64 * GIB)


def shown(target: ClickhouseTarget) -> dict[str, str]:
    with closing(target.connect()) as session:
        rows = session.execute(
            "SELECT name, value FROM system.settings UNION ALL "
            "SELECT name, value FROM system.server_settings"
        ).rows
    return {name: value for name, value in rows if name in WANTED}


def spilled(target: ClickhouseTarget) -> int:
    with closing(target.connect()) as session:
        event = "event = 'ExternalProcessingUncompressedBytesTotal'"
        rows = session.execute(f"SELECT value FROM system.events WHERE {event}").rows
    return rows[0][0] if rows else 0


def test_every_word_is_applied_and_forgotten(target: ClickhouseTarget) -> None:
    assert [word.partition("=")[0] for word in WORDS] == list(tuning.knobs("clickhouse"))
    tuning.tune(target, asked(*WORDS))
    with target:
        assert shown(target) == WANTED
        applied = {item.name: item for item in target.tuned()}
        assert {name: item.found for name, item in applied.items()} == WANTED
        assert applied["max_threads"].before == "2"
        assert applied["max_memory_usage"].before == str(LIMITS.memory_bytes)
        assert applied["max_bytes_before_external_sort"].before == str(LIMITS.memory_bytes // 2)
        assert applied["max_temporary_data_on_disk_size_for_query"].before == "0"
        assert all(item.restored is None for item in applied.values())
        facts = target.facts().settings
        assert {name: facts[name] for name in WANTED} == WANTED
        # And they do what the words say.
        with closing(target.connect()) as session:
            assert session.execute(GROUPING.format(rows=300_000)).rows[0][0] == 300_000
            grouped = spilled(target)
            assert grouped > 0
            assert session.execute(SORT).rows == [(1,)]
            assert spilled(target) > grouped
            with pytest.raises(TargetError, match="temporary files") as caught:
                session.execute(GROUPING.format(rows=6_000_000))
            assert caught.value.kind == "disk_full"
            threads = "SELECT count() FROM numbers_mt(1000000) WHERE NOT ignore(number)"
            pipeline = session.execute(f"EXPLAIN PIPELINE {threads}").rows
            assert not any(" 2" in line or "× 2" in line for (line,) in pipeline)
    assert all(item.restored for item in target.tuned())
    target.tune([])
    with target:
        assert target.tuned() == ()
        plain = shown(target)
        assert plain["max_threads"] == "2"
        assert plain["max_server_memory_usage"] == str(LIMITS.memory_bytes)
        assert plain["max_bytes_before_external_join"] == "0"
        assert plain["max_temporary_data_on_disk_size_for_query"] == "0"


def test_the_rest_follows_the_memory(target: ClickhouseTarget) -> None:
    tuning.tune(target, asked("memory=512MB"))
    with target:
        assert shown(target)["max_bytes_before_external_sort"] == str(256 << 20)
        assert target.facts().settings["mark_cache_size"] == str(32 << 20)


def test_no_space_to_spill_is_not_no_limit(target: ClickhouseTarget) -> None:
    tuning.tune(target, asked("temp_limit=0", "work_memory=1MB"))
    with target, closing(target.connect()) as session:
        note = target.tuned()[-1].note
        assert "means no limit" in note
        with pytest.raises(TargetError, match="temporary files"):
            session.execute(GROUPING.format(rows=300_000))


def test_too_little_memory_is_refused_at_once(target: ClickhouseTarget, out: Path) -> None:
    with pytest.raises(UsageError, match="ClickHouse is 64MB"):
        tuning.tune(target, asked("memory=1MB"))
    assert not list(out.iterdir())


def test_an_older_clickhouse_says_what_it_lacks(
    target: ClickhouseTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(own.KNOBS, "parallelism", "no_such_limit")
    tuning.tune(target, asked("parallelism=1"))
    with (
        pytest.raises(UsageError, match=r"no_such_limit, which ClickHouse \d+\.\S+ does not have"),
        target,
    ):
        pass
    assert target.process_ids() == []


def test_what_was_given_but_is_not_there_is_an_error(
    target: ClickhouseTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    tuning.tune(target, asked("parallelism=1"))
    monkeypatch.setattr(target, "_ours", lambda: {"max_threads": 2})
    with pytest.raises(TargetError, match=r"parallelism=1 was not applied.*reports 2"), target:
        pass
    assert target.process_ids() == []


def test_a_cold_start_is_proven_and_keeps_the_settings(target: ClickhouseTarget) -> None:
    tuning.tune(target, asked("parallelism=1"))
    with target:
        with closing(target.connect()) as session:
            session.execute("CREATE TABLE kept (x UInt64, s String) ENGINE = MergeTree ORDER BY x")
            session.execute(
                "INSERT INTO kept SELECT number, randomPrintableASCII(50) FROM numbers(300000)"
            )
            session.execute("SELECT sum(length(s)) FROM kept")
        (before,) = target.process_ids()
        emptied = target.cool()
        assert emptied.left_share <= 0.01
        assert emptied.before_bytes > emptied.bytes / 2 > 5_000_000
        assert target.process_ids() != [before]
        assert shown(target)["max_threads"] == "1"
        with closing(target.connect()) as session:
            hits = "SELECT sum(value) FROM system.events WHERE event = 'MarkCacheHits'"
            assert session.execute(hits).rows[0][0] in {0, None}
            assert session.execute("SELECT count() FROM kept").rows == [(300_000,)]


def test_a_directory_that_somebody_else_holds_is_not_called_cold(
    target: ClickhouseTarget, out: Path
) -> None:
    with target:
        target.cool()
        lock = target.data_paths()[0] / "status"
        target._close()
        with lock.open("wb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            with pytest.raises(TargetError, match=r"Cannot start cold.*open in another process"):
                target.cool()
        assert target.cool().left_share <= 0.01
