"""SQLite's settings and cold starts: in every session, read back, proven, gone again."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dyno import targets
from dyno.bundle.model import Applied
from dyno.config import settings
from dyno.contracts import tuning
from dyno.contracts.target import LoadPlan
from dyno.errors import TargetError, UsageError
from dyno.host.pagecache import resident_bytes
from dyno.targets.sqlite import tuning as own
from dyno.targets.sqlite.file import spilled
from dyno.targets.sqlite.target import SqliteTarget
from tests.maintained import fill
from tests.targets.conftest import LIMITS, load_only

GIB = 1 << 30


def asked(*texts: str) -> list[settings.Setting]:
    return settings.parse(texts, None, 64 * GIB)


def opened(out: Path, *texts: str) -> SqliteTarget:
    target = targets.open_target(targets.parse(f"sqlite://{out}/x.db"), out, LIMITS)
    assert isinstance(target, SqliteTarget)
    tuning.tune(target, asked(*texts))
    return target


def shown(target: SqliteTarget, workload: str = "") -> dict[str, object]:
    with closing(target.connect(workload)) as session:
        return {name: own.read(session.raw, name) for name in own.KNOBS.values()}


def by_name(target: SqliteTarget) -> dict[str, Applied]:
    return {item.name: item for item in target.tuned()}


def test_every_word_is_applied_and_forgotten(out: Path, tmp_path: Path) -> None:
    words = [
        "memory=300MB",
        "parallelism=4",
        f"temp_path={tmp_path}",
        "commit=relaxed",
        "checkpoint_size=41200000",
    ]
    assert [word.partition("=")[0] for word in words] == list(tuning.knobs("sqlite"))
    wanted = {
        "cache_size": -300 * 1024,
        "threads": 3,
        "temp_store_directory": str(tmp_path),
        "synchronous": 1,
        "wal_autocheckpoint": 10_000,
    }
    target = opened(out, *words)
    with target:
        assert shown(target) == shown(target, "tpch") == wanted
        applied = by_name(target)
        assert {name: item.found for name, item in applied.items()} == {
            name: str(value) for name, value in wanted.items()
        }
        assert applied["synchronous"].before == "2"
        assert applied["cache_size"].before == str(-(LIMITS.memory_bytes // 4 // 1024))
        assert applied["temp_store_directory"].how == "in the whole process"
        assert "with a rollback journal it still does" in applied["synchronous"].note
        assert all(item.restored is None for item in applied.values())
        facts = target.facts().settings
        assert facts["temp_directory"] == str(tmp_path)
        assert facts["loader.cache_size"] == str(-300 * 1024)
        assert facts["loader.synchronous"] == "normal"
    assert all(item.restored for item in target.tuned())
    target.tune([])
    with target:
        assert target.tuned() == ()
        assert shown(target)["temp_store_directory"] is None
        assert shown(target)["synchronous"] == 2
        assert shown(target)["wal_autocheckpoint"] == 1000


def test_the_loader_has_them_too(out: Path) -> None:
    with opened(out, "memory=77MB", "commit=durable") as target:
        target.create_tables("tpch", replace=False)
        # It reads each setting back itself and refuses another value.
        outcome = load_only(target, LoadPlan("tpch", 0.01, 1, 1), "region")
        assert outcome.rows == 5
        assert target.facts().settings["loader.synchronous"] == "extra"


SORT = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200000) "
    "SELECT hex(randomblob(20)) AS x FROM n ORDER BY x"
)


def test_what_is_spilled_goes_where_it_was_sent(out: Path, tmp_path: Path) -> None:
    def places(target: SqliteTarget) -> tuple[set[str], int]:
        with closing(target.connect()) as session, closing(session.raw.execute(SORT)) as cursor:
            cursor.fetchone()  # the sort is done, and its runs are read from now on
            links = [
                link.readlink()
                for link in Path("/proc/self/fd").iterdir()
                if link.exists() or link.is_symlink()
            ]
            found = {str(link.parent) for link in links if link.name.startswith("etilqs_")}
            return found, spilled()

    with opened(out, "memory=64kB", f"temp_path={tmp_path}") as target:
        folders, size = places(target)
        assert folders == {str(tmp_path)}
        assert size > 4_000_000
    with opened(out, "memory=64kB") as target:
        assert str(tmp_path) not in places(target)[0]
    assert spilled() == 0
    assert not list(tmp_path.glob("etilqs_*"))


def test_the_log_grows_to_its_limit(out: Path) -> None:
    def log_after_writing(*texts: str) -> int:
        with opened(out, *texts) as target, closing(target.connect()) as session:
            session.execute("PRAGMA journal_mode = WAL")
            session.execute("CREATE TABLE IF NOT EXISTS t (x)")
            for _ in range(40):
                session.execute("INSERT INTO t VALUES (randomblob(100000))")
            return (out / "x.db-wal").stat().st_size

    assert log_after_writing("checkpoint_size=500kB") < 1_000_000
    assert log_after_writing("checkpoint_size=100MB") > 4_000_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("memory=4kB", "cache_size is 64kB to"),
        ("parallelism=1000", "has at most 8 helpers; use 1 to 9"),
        ("checkpoint_size=4kB", "whole pages; use at least 66kB"),
    ],
)
def test_values_beyond_sqlite_are_refused_at_once(out: Path, text: str, message: str) -> None:
    if "parallelism" in text and own.most_helpers() != 8:
        message = f"has at most {own.most_helpers()} helpers"
    with pytest.raises(UsageError, match=message):
        opened(out, text)
    assert not list(out.iterdir())


def test_serial_means_no_helper_and_a_value_finer_than_a_kib_has_a_note(out: Path) -> None:
    with opened(out, "parallelism=1", "memory=100000") as target:
        assert shown(target)["threads"] == 0
        (memory, _) = target.tuned()
        assert (memory.found, "rounded down" in memory.note) == ("-97", True)


def test_a_folder_that_cannot_be_written_is_refused(out: Path, tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    target = opened(out, f"temp_path={folder}")
    folder.rmdir()
    with pytest.raises(UsageError, match="not a writable directory"):
        target.__enter__()
    with closing(sqlite3.connect(":memory:")) as session:
        assert own.read(session, own.FOLDER) is None


def test_what_was_given_but_is_not_there_is_an_error(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = opened(out, "memory=300MB")
    monkeypatch.setattr(own.Change, "value", lambda self, size: "3000000000000")
    with pytest.raises(TargetError, match=r"memory=300MB was not applied.*cache_size"):
        target.__enter__()


def test_a_cold_start_is_proven_and_keeps_the_settings(out: Path) -> None:
    with opened(out, "memory=9MB") as target:
        fill(target)
        (file,) = target.data_paths()
        size = file.stat().st_size
        with closing(target.connect("tpch")) as session:
            session.execute("SELECT count(*) FROM lineitem NOT INDEXED")
            assert resident_bytes([file]) > size / 2
            with pytest.raises(TargetError, match="another session has"):
                target.cool()
        emptied = target.cool()
        assert emptied.bytes == size
        assert emptied.before_bytes > size / 2
        assert emptied.left_share <= 0.01
        assert resident_bytes([file]) <= 0.01 * size
        assert shown(target)["cache_size"] == -9 * 1024
        with file.open("rb"), pytest.raises(TargetError, match="still open"):
            target.cool()


def test_a_cold_start_takes_in_the_log_that_others_left(out: Path) -> None:
    with opened(out) as target:
        fill(target)
        (file,) = target.data_paths()
        log = Path(f"{file}-wal")
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("UPDATE part SET p_comment = 'x'")
        content = log.read_bytes()
        other.close()
        log.write_bytes(content)  # as a killed writer leaves it
        whole = file.stat().st_size + len(content)
        emptied = target.cool()
        assert (emptied.files, emptied.bytes) == (2, whole)
