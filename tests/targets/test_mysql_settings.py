"""Every neutral word on a real MariaDB: applied, read back, and gone afterwards."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dyno import _core
from dyno.contracts import tuning
from dyno.contracts.target import LoadPlan
from dyno.errors import DynoError, TargetError, UsageError
from dyno.targets.mysql import readback
from dyno.targets.mysql.target import MysqlTarget
from dyno.targets.mysql.tuning import changes
from dyno.targets.mysql.version import Version
from tests.process import wait_until
from tests.targets.conftest import embedded_mariadb, load_only
from tests.targets.test_mysql import at
from tests.targets.test_tuning import asked, by_name

MIB = 1 << 20
WORDS = {
    "memory=300MB": {"innodb_buffer_pool_size": 300 * MIB},
    "work_memory=6MB": {
        "sort_buffer_size": 6 * MIB,
        "join_buffer_size": 6 * MIB,
        "tmp_table_size": 6 * MIB,
        "max_heap_table_size": 6 * MIB,
        "join_buffer_space_limit": 24 * MIB,
    },
    "temp_limit=1GB": {"tmp_disk_table_size": 1 << 30},
    "large_pages=try": {"large_pages": 1},
    "commit=relaxed": {"innodb_flush_log_at_trx_commit": 0},
    "checkpoint_size=40MB": {"innodb_log_file_size": 40 * MIB},
    "table_counts=on": {"performance_schema": 1},
}
USUAL = {
    "innodb_buffer_pool_size": 128 * MIB,
    "sort_buffer_size": 4 * MIB,
    "join_buffer_space_limit": 16 * MIB,
    "tmp_disk_table_size": (1 << 64) - 1,
    "large_pages": 0,
    "innodb_flush_log_at_trx_commit": 1,
    "performance_schema": 0,
}


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MysqlTarget]:
    """A running server that tests may not change."""
    with embedded_mariadb(tmp_path_factory.mktemp("my")) as target:
        yield target


def shown(target: MysqlTarget, names: object) -> dict[str, int | None]:
    with closing(target.connect()) as session:
        found = readback.read(session, list(names))  # type: ignore[call-overload]
    return {name: readback.amount(text) for name, text in found.items()}


def test_the_private_server_takes_every_word_and_forgets_it(public_out: Path) -> None:
    words = {text.partition("=")[0] for text in WORDS} | {"temp_path"}
    assert words == set(tuning.knobs("mysql"))
    wanted = {name: value for each in WORDS.values() for name, value in each.items()}
    spill = public_out / "spill"
    spill.mkdir(mode=0o755)
    spill.chmod(0o755)
    target = embedded_mariadb(public_out)
    log = public_out / "engines" / "mysql" / "data" / "ib_logfile0"
    tuning.tune(target, asked(*WORDS, f"temp_path={spill}"))
    with target:
        assert shown(target, wanted) == wanted
        applied = by_name(target)
        assert {name: readback.amount(applied[name].found) for name in wanted} == wanted
        assert {name: readback.amount(applied[name].before) for name in USUAL} == USUAL
        assert applied["large_pages"].note.startswith("huge pages in use: ")
        assert Path(applied["tmpdir"].found).is_relative_to(spill)
        assert applied["tmpdir"].before == str(public_out / "engines" / "mysql" / "tmp")
        assert all(item.restored is None for item in applied.values())
        assert log.stat().st_size == 40 * MIB
        # What is spilled really goes there: a sort that is larger than its memory.
        with closing(target.connect()) as session:
            session.execute("SET SESSION sort_buffer_size = 32768")
            session.execute(
                "SELECT COUNT(*) FROM (SELECT DISTINCT CONCAT(seq, REPEAT('x', 99)) AS x "
                "FROM mysql.seq_1_to_200000 ORDER BY x DESC LIMIT 150000) AS sorted"
            )
    assert all(item.restored for item in target.tuned())
    assert list(spill.iterdir()) == []
    with embedded_mariadb(public_out) as plain:
        assert plain.tuned() == ()
        assert shown(plain, USUAL) == USUAL
        size = shown(plain, ["innodb_log_file_size"])["innodb_log_file_size"]
        assert log.stat().st_size == size != 40 * MIB


def test_a_killed_server_leaves_nothing_set(public_out: Path) -> None:
    spill = public_out / "spill"
    spill.mkdir(mode=0o755)
    spill.chmod(0o755)
    target = embedded_mariadb(public_out)
    tuning.tune(target, asked("commit=relaxed", f"temp_path={spill}"))
    with pytest.raises(TargetError, match="killed"), target:
        (pid,) = target.process_ids()
        session = target.connect()
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not target.process_ids(), "the end of the server")
        session.execute("SELECT 1")
    assert all(item.restored for item in target.tuned())
    assert list(spill.iterdir()) == []
    with embedded_mariadb(public_out) as plain:
        assert shown(plain, ["innodb_flush_log_at_trx_commit"]) == {
            "innodb_flush_log_at_trx_commit": 1
        }


def test_missing_large_pages_are_reported(out: Path) -> None:
    lines = Path("/proc/meminfo").read_text().splitlines()
    huge = [line for line in lines if line.startswith("HugePages_Free")]
    if int(huge[0].split()[1]) > 0:
        pytest.skip("this machine has large pages set aside")
    target = embedded_mariadb(out)
    tuning.tune(target, asked("large_pages=on"))
    with pytest.raises(TargetError, match=r"vm.nr_hugepages=\d+"), target:
        pass
    assert target.process_ids() == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("memory=1MB", "innodb_buffer_pool_size is 8MB"),
        ("work_memory=1kB", "sort_buffer_size is 32kB"),
        ("temp_limit=1kB", "tmp_disk_table_size is 1MB"),
        ("checkpoint_size=1MB", "innodb_log_file_size is 8MB"),
    ],
)
def test_values_beyond_the_server_are_refused_at_once(out: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        tuning.tune(embedded_mariadb(out), asked(text))
    assert not list(out.iterdir())


def test_the_least_values_are_ones_that_it_starts_with(out: Path) -> None:
    target = embedded_mariadb(out)
    words = ("memory=8MB", "work_memory=32kB", "temp_limit=1MB", "checkpoint_size=8MB")
    tuning.tune(target, asked(*words))
    with target:
        assert by_name(target)["innodb_buffer_pool_size"].found == str(8 * MIB)


def test_a_server_of_others_is_set_in_dynos_sessions_only(mariadb: MysqlTarget) -> None:
    remote = at(mariadb)
    wanted = {**WORDS["work_memory=6MB"], **WORDS["temp_limit=1GB"]}
    usual = shown(mariadb, wanted)
    # The memory that it has already is no change.
    tuning.tune(
        remote, asked("work_memory=6MB", "temp_limit=1GB", "memory=128MB", "commit=durable")
    )
    with remote:
        assert shown(remote, wanted) == wanted
        assert shown(mariadb, wanted) == usual
        applied = by_name(remote)
        assert applied["sort_buffer_size"].how == "in each session"
        assert applied["sort_buffer_size"].before == str(usual["sort_buffer_size"])
        assert applied["innodb_buffer_pool_size"].how == "the server's value"
    assert all(item.restored for item in remote.tuned())


def test_the_loaders_own_sessions_have_them_too(
    mariadb: MysqlTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = at(mariadb)
    tuning.tune(remote, asked("work_memory=6MB"))
    with remote:
        assert remote.wire("tpch")["settings"]["sort_buffer_size"] == 6 * MIB
        remote.create_tables("tpch", replace=True)
        # Without the load's journal, which is another session's.
        monkeypatch.setattr(remote, "_done", lambda plan: [])
        remote._tuning.sessions["tx_read_only"] = "1"
        with pytest.raises(_core.EngineError, match="READ ONLY"):
            load_only(remote, LoadPlan("tpch", 0.01, 1, 1), "region")


def test_a_value_finer_than_its_unit_is_rounded_with_a_note(mariadb: MysqlTarget) -> None:
    remote = at(mariadb)
    tuning.tune(remote, asked("work_memory=100000"))
    with remote:
        item = by_name(remote)["tmp_table_size"]
    assert (item.value, item.found) == ("98304", "98304")
    assert "rounded down to a multiple of 16kB" in by_name(remote)["sort_buffer_size"].note


def test_the_limit_of_spilled_data_is_kept(mariadb: MysqlTarget) -> None:
    remote = at(mariadb)
    tuning.tune(remote, asked("temp_limit=1MB", "work_memory=32kB"))
    groups = (
        "SELECT COUNT(*) FROM (SELECT CONCAT(seq, REPEAT('x', 99)) AS x, COUNT(*) "
        "FROM mysql.seq_1_to_50000 GROUP BY x) AS gathered"
    )
    with remote, closing(remote.connect()) as session:
        with pytest.raises(DynoError) as caught:
            session.execute(groups)
        assert caught.value.kind == "disk_full"
    with closing(mariadb.connect()) as session:
        assert session.execute(groups).rows == [(50_000,)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("memory=256MB", f"SET GLOBAL innodb_buffer_pool_size = {256 * MIB};"),
        ("large_pages=try", r"put large_pages = ON into my.cnf and restart"),
        ("commit=relaxed", "SET GLOBAL innodb_flush_log_at_trx_commit = 0;"),
        ("checkpoint_size=40MB", "innodb_log_file_size"),
        ("temp_path=/var", "put tmpdir = /var into my.cnf"),
        ("table_counts=on", "put performance_schema = ON into my.cnf and restart"),
    ],
)
def test_the_configuration_of_others_is_never_changed(
    mariadb: MysqlTarget, text: str, message: str
) -> None:
    remote = at(mariadb)
    tuning.tune(remote, asked(text))
    with pytest.raises(UsageError, match=message), remote:
        pass


def test_what_was_given_but_is_not_there_is_an_error(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = embedded_mariadb(out)
    tuning.tune(target, asked("commit=relaxed"))
    assert target._server is not None
    monkeypatch.setattr(target._server, "override", lambda *_: {})
    with pytest.raises(TargetError, match=r"commit=relaxed was not applied.*has 1"), target:
        pass
    assert target.process_ids() == []


def test_names_follow_the_product_and_its_version() -> None:
    def names(version: str, *texts: str) -> list[str]:
        now = {"log_bin": 1, "join_buffer_space_limit": 1}.get
        return [item.name for item in changes(asked(*texts), Version.parse(version), now)]

    texts = ("temp_limit=1GB", "checkpoint_size=1GB")
    assert names("10.11.1-MariaDB", *texts) == ["tmp_disk_table_size", "innodb_log_file_size"]
    assert names("11.8.2-MariaDB", *texts)[0] == "max_tmp_session_space_usage"
    assert names("8.4.0", *texts)[1] == "innodb_redo_log_capacity"
    assert names("8.0.29", *texts)[1] == "innodb_log_file_size"
    assert "join_buffer_space_limit" in names("10.6.0-MariaDB", "work_memory=1GB")
    assert "join_buffer_space_limit" not in names("8.0.44", "work_memory=1GB")
    assert names("8.0.44", "commit=relaxed") == ["innodb_flush_log_at_trx_commit", "sync_binlog"]


def test_a_pool_that_was_rounded_up_to_chunks_says_so() -> None:
    (item,) = changes(asked("memory=300MB"))
    chunks = {"innodb_buffer_pool_chunk_size": str(128 * MIB), "innodb_buffer_pool_instances": "1"}
    found = readback._rounding(item, str(384 * MIB), chunks)
    assert found == "the server rounded it up to a multiple of 128MB"
    assert readback._rounding(item, str(512 * MIB), chunks) == ""
