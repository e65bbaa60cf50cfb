"""Every neutral word on real engines: applied, read back, and gone afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dyno import targets
from dyno.bundle.model import Applied
from dyno.config import settings
from dyno.contracts import tuning
from dyno.contracts.target import LoadPlan
from dyno.errors import TargetError, UsageError
from dyno.targets.duckdb.target import DuckdbTarget
from dyno.targets.postgresql import binaries
from dyno.targets.postgresql.target import PostgresTarget
from tests.process import wait_until
from tests.targets.conftest import LIMITS, embedded, load_only
from tests.targets.test_connection import at

GIB = 1 << 30

POSTGRESQL = {
    "memory=300MB": {"shared_buffers": "300MB", "effective_cache_size": "300MB"},
    "parallelism=9": {
        "max_parallel_workers_per_gather": "9",
        "max_parallel_maintenance_workers": "9",
        "max_parallel_workers": "9",
        "max_worker_processes": "13",
    },
    "work_memory=1500KB": {"work_mem": "1500kB"},
    "temp_limit=10GB": {"temp_file_limit": "10GB"},
    "large_pages=off": {"huge_pages": "off"},
    "checksums=off": {"data_checksums": "off"},
    "commit=relaxed": {"synchronous_commit": "off"},
    "checkpoint_interval=30s": {"checkpoint_timeout": "30s"},
    "checkpoint_size=40MB": {"max_wal_size": "40MB", "min_wal_size": "40MB"},
}
USUAL = {
    "shared_buffers": "128MB",
    "max_parallel_workers_per_gather": "2",
    "temp_file_limit": "-1",
    "huge_pages": "try",
    "data_checksums": "on",
    "synchronous_commit": "on",
    "checkpoint_timeout": "10min",
}


def asked(*texts: str) -> list[settings.Setting]:
    return settings.parse(texts, None, 64 * GIB)


def shown(target: Any, names: Any) -> dict[str, str]:
    with closing(target.connect()) as session:
        return {
            name: str(session.execute(f"SELECT current_setting('{name}')").rows[0][0])
            for name in names
        }


def by_name(target: tuning.Tunable) -> dict[str, Applied]:
    return {item.name: item for item in target.tuned()}


def checksums(out: Path) -> str:
    """What the data folder itself says, with nothing running."""
    data = out / "engines" / "postgresql" / "data"
    done = subprocess.run(
        [binaries.find().program("pg_controldata"), "-D", str(data)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    (line,) = [line for line in done.stdout.splitlines() if "checksum version" in line]
    return "off" if line.endswith(" 0") else "on"


def test_the_private_postgresql_takes_every_word_and_forgets_it(out: Path) -> None:
    words = {text.partition("=")[0] for text in POSTGRESQL}
    assert words == set(tuning.knobs("postgresql"))
    wanted = {name: value for each in POSTGRESQL.values() for name, value in each.items()}
    target = embedded(out)
    tuning.tune(target, asked(*POSTGRESQL))
    conf = out / "engines" / "postgresql" / "data" / "postgresql.conf"
    journal = out / "engines" / "postgresql" / "settings.journal"
    with target:
        assert shown(target, wanted) == wanted
        applied = by_name(target)
        assert {name: item.found for name, item in applied.items()} == wanted
        assert {name: applied[name].before for name in USUAL} == USUAL
        assert "hash_mem_multiplier" in applied["work_mem"].note
        assert "in use: off" in applied["huge_pages"].note
        assert all(item.restored is None for item in applied.values())
        assert checksums(out) == "off"
        assert journal.exists()
        # A restart for a cold start keeps them.
        assert target.cool().left_share <= 0.01
        assert shown(target, wanted) == wanted
    assert all(item.restored for item in target.tuned())
    assert checksums(out) == "on"
    assert not journal.exists()
    assert "shared_buffers = '128MB'" in conf.read_text()
    assert "temp_file_limit" not in conf.read_text()
    with embedded(out) as plain:
        assert plain.tuned() == ()
        assert shown(plain, USUAL) == USUAL


@pytest.mark.long
def test_they_are_restored_when_the_server_was_killed(out: Path) -> None:
    target = embedded(out)
    tuning.tune(target, asked("checksums=off"))
    with pytest.raises(TargetError, match="killed"), target:
        (pid,) = target.process_ids()
        session = target.connect()
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not target.process_ids(), "the end of the server")
        session.execute("SELECT 1")
    assert all(item.restored for item in target.tuned())
    assert checksums(out) == "on"
    assert not (out / "engines" / "postgresql" / "settings.journal").exists()


def test_missing_large_pages_are_reported(out: Path) -> None:
    target = embedded(out)
    tuning.tune(target, asked("large_pages=on"))
    lines = Path("/proc/meminfo").read_text().splitlines()
    huge = [line for line in lines if line.startswith("HugePages_Free")]
    if int(huge[0].split()[1]) > 0:
        pytest.skip("this machine has large pages set aside")
    with pytest.raises(TargetError, match=r"vm.nr_hugepages=\d+"), target:
        pass


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("memory=64kB", "shared_buffers is 128kB"),
        ("work_memory=1kB", "work_mem is 64kB"),
        ("checkpoint_interval=5s", "is 30s to 86400s"),
        ("checkpoint_size=1MB", "is 32MB"),
    ],
)
def test_values_beyond_postgresql_are_refused_at_once(out: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        tuning.tune(embedded(out), asked(text))
    assert not list(out.iterdir())


def test_a_value_finer_than_a_page_is_rounded_with_a_note(postgres: PostgresTarget) -> None:
    remote = at(postgres)
    tuning.tune(remote, asked("work_memory=100000"))
    with remote:
        (item,) = remote.tuned()
    assert (item.value, item.found) == ("97kB", "97kB")
    assert "rounded down to a multiple of 1kB" in item.note


def test_a_server_of_others_is_set_in_dynos_sessions_only(postgres: PostgresTarget) -> None:
    remote = at(postgres)
    usual = shown(postgres, ["work_mem", "synchronous_commit", "max_parallel_workers_per_gather"])
    wanted = {
        "work_mem": "7MB",
        "synchronous_commit": "off",
        "max_parallel_workers_per_gather": "0",
    }
    # The memory that it has already is no change.
    words = ("work_memory=7MB", "commit=relaxed", "parallelism=1", "temp_limit=1GB", "memory=128MB")
    tuning.tune(remote, asked(*words))
    with remote:
        assert shown(remote, wanted) == wanted
        assert shown(postgres, wanted) == usual
        applied = by_name(remote)
        assert applied["work_mem"].how == "in each session"
        assert applied["work_mem"].before == usual["work_mem"]
        assert applied["shared_buffers"].how == "the server's value"
        assert remote.wire("tpch")["settings"]["work_mem"] == "7MB"
    assert all(item.restored for item in remote.tuned())


def test_the_drivers_own_sessions_have_them_too(
    empty_postgres: PostgresTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = pytest.importorskip("dyno._core")
    remote = at(empty_postgres)
    with remote:
        remote.create_tables("tpch", replace=True)
        # Without the load's journal, which is another session's.
        monkeypatch.setattr(remote, "_done", lambda plan: [])
        remote._tuning.sessions["default_transaction_read_only"] = "on"
        with pytest.raises(core.EngineError, match="read-only"):
            load_only(remote, LoadPlan("tpch", 0.01, 1, 1), "region")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("memory=256MB", "SET shared_buffers = '256MB'; restart it"),
        ("large_pages=on", "SET huge_pages = 'on'; restart it"),
        ("checkpoint_interval=60s", r"SET checkpoint_timeout = '60s'; SELECT pg_reload_conf\(\)"),
        ("parallelism=64", "SET max_worker_processes = '64'; restart it"),
        ("checksums=off", "pg_checksums --disable"),
    ],
)
def test_the_configuration_of_others_is_never_changed(
    postgres: PostgresTarget, text: str, message: str
) -> None:
    remote = at(postgres)
    tuning.tune(remote, asked(text))
    with pytest.raises(UsageError, match=message), remote:
        pass


def test_a_missing_right_is_shown_as_its_grant(postgres: PostgresTarget) -> None:
    with closing(postgres.connect()) as owner:
        owner.execute('DROP ROLE IF EXISTS "a b"')
        owner.execute('CREATE ROLE "a b" LOGIN')
        remote = at(postgres, user="a%20b")
        tuning.tune(remote, asked("temp_limit=1GB", "work_memory=8MB"))
        with pytest.raises(TargetError) as caught, remote:
            pass
        assert caught.value.kind == "denied"
        grant = 'GRANT SET ON PARAMETER temp_file_limit TO "a b";'
        assert grant in str(caught.value)
        owner.execute(grant)
        with remote:
            assert shown(remote, ["temp_file_limit"]) == {"temp_file_limit": "1GB"}
        owner.execute('DROP OWNED BY "a b"; DROP ROLE "a b"')


@pytest.fixture
def column(out: Path) -> Iterator[DuckdbTarget]:
    target = targets.open_target(targets.parse("embedded:duckdb"), out, LIMITS)
    assert isinstance(target, DuckdbTarget)
    yield target


def test_duckdb_takes_every_word_and_forgets_it(column: DuckdbTarget, tmp_path: Path) -> None:
    words = [
        "memory=300MB",
        "parallelism=1",
        "work_memory=64MB",
        "temp_limit=1500MB",
        f"temp_path={tmp_path}",
        "checkpoint_size=5MB",
    ]
    assert [word.partition("=")[0] for word in words] == list(tuning.knobs("duckdb"))
    tuning.tune(column, asked(*words))
    with column:
        applied = by_name(column)
        spill = applied["temp_directory"].value
        assert spill.startswith(f"{tmp_path}/dyno-spill-")
        wanted = {
            "memory_limit": "300.0 MiB",
            "threads": "1",
            "operator_memory_limit": "64.0 MiB",
            "max_temp_directory_size": "1.4 GiB",
            "temp_directory": spill,
            "checkpoint_threshold": "5.0 MiB",
        }
        assert shown(column, wanted) == wanted
        assert {name: item.found for name, item in applied.items()} == wanted
        assert applied["memory_limit"].before == "256.0 MiB"
        assert applied["threads"].before == "2"
        assert column.cool().left_share <= 0.01
        assert shown(column, wanted) == wanted
    assert all(item.restored for item in column.tuned())
    assert not Path(spill).exists()
    column.tune([])
    with column:
        assert shown(column, ["threads", "memory_limit"]) == {
            "threads": "2",
            "memory_limit": "256.0 MiB",
        }


def test_an_older_duckdb_says_what_it_lacks(
    column: DuckdbTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dyno.targets.duckdb import tuning as own

    monkeypatch.setitem(own.KNOBS, "work_memory", "no_such_limit")
    tuning.tune(column, asked("work_memory=64MB"))
    with pytest.raises(
        UsageError, match=f"no_such_limit, which DuckDB {duckdb.__version__} does not have"
    ):
        column.__enter__()


def test_a_file_that_is_still_open_is_not_called_cold(column: DuckdbTarget) -> None:
    with column:
        (file,) = column.data_paths()
        with file.open("rb"), pytest.raises(TargetError, match="still open"):
            column.cool()
        assert column.cool().left_share <= 0.01


def test_what_was_given_but_is_not_there_is_an_error(
    column: DuckdbTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dyno.targets.duckdb import tuning as own

    tuning.tune(column, asked("parallelism=1"))
    monkeypatch.setattr(own, "config", lambda _: {"threads": 2})
    with pytest.raises(TargetError, match=r"parallelism=1 was not applied.*reports 2"):
        column.__enter__()
