"""Classes of waits in MariaDB and MySQL, and rates from the growth of their counters."""

from __future__ import annotations

import pytest

from dyno.bundle.inside import Inside
from dyno.targets.mysql.inside.sessions import classified
from dyno.targets.mysql.inside.status import rates
from dyno.targets.mysql.inside.waits import of_event, of_state


@pytest.mark.parametrize(
    ("state", "known"),
    [
        ("Commit", "log"),
        ("waiting for handler commit", "log"),
        ("Waiting for prior transaction to commit", "log"),
        ("Waiting for table metadata lock", "lock"),
        ("Waiting for backup lock", "lock"),
        ("Converting HEAP to Aria", "temp"),
        ("Copying to tmp table on disk", "temp"),
        ("Writing to net", "client"),
        ("User sleep", "other"),
        ("Waiting for work from SQL thread", "other"),
        ("Updating", "cpu"),
        ("", "cpu"),
    ],
)
def test_a_state_has_a_class(state: str, known: str) -> None:
    assert of_state(state) == (known, "running" if known == "cpu" else state)


@pytest.mark.parametrize(
    ("event", "known"),
    [
        ("wait/io/file/innodb/innodb_data_file", ("data", "io/file/innodb/innodb_data_file")),
        ("wait/io/file/innodb/innodb_log_file", ("log", "io/file/innodb/innodb_log_file")),
        ("wait/io/file/innodb/innodb_temp_file", ("temp", "io/file/innodb/innodb_temp_file")),
        ("wait/io/file/sql/binlog", ("log", "io/file/sql/binlog")),
        ("wait/io/file/sql/io_cache", ("temp", "io/file/sql/io_cache")),
        ("wait/io/file/sql/FRM", ("data", "io/file/sql/FRM")),
        ("wait/io/socket/sql/client_connection", ("client", "io/socket/sql/client_connection")),
        ("wait/lock/metadata/sql/mdl", ("lock", "lock/metadata/sql/mdl")),
        ("wait/synch/mutex/innodb/buf_pool_mutex", ("latch", "synch/mutex/innodb/buf_pool_mutex")),
        (
            "wait/synch/cond/sql/MYSQL_BIN_LOG::COND_done",
            ("log", "synch/cond/sql/MYSQL_BIN_LOG::COND_done"),
        ),
        ("wait/io/table/sql/handler", None),
        ("idle", None),
    ],
)
def test_an_event_has_a_class(event: str, known: tuple[str, str] | None) -> None:
    assert of_event(event) == known


def test_a_session_counts_once_with_its_innermost_event() -> None:
    table, file = "wait/io/table/sql/handler", "wait/io/file/innodb/innodb_data_file"
    active = [(1, "Updating", table), (1, "Updating", file), (2, "Commit", ""), (3, "Update", "")]
    expected = {("data", file[5:]): 1, ("log", "Commit"): 1, ("cpu", "running"): 1}
    assert classified(active, 0) == expected
    assert classified(reversed(active), 0) == expected


def test_row_locks_hold_those_that_would_run_and_no_more() -> None:
    active = [(1, "Updating", ""), (2, "Updating", ""), (3, "Commit", "")]
    assert classified(active, 1) == {
        ("lock", "row lock"): 1,
        ("cpu", "running"): 1,
        ("log", "Commit"): 1,
    }
    # The count is read a moment later, when more may wait.
    assert classified(active, 9) == {("lock", "row lock"): 2, ("log", "Commit"): 1}
    assert classified([], 9) == {}


def test_rates_are_of_the_period() -> None:
    grown = {
        "innodb_buffer_pool_read_requests": 1000.0,
        "innodb_buffer_pool_reads": 50.0,
        "innodb_pages_read": 60.0,
        "innodb_data_read": 4e6,
        "created_tmp_files": 3.0,
        "created_tmp_disk_tables": 1.0,
        "log_write_count": 10.0,
        "log_write_ps": 25e9,
        "log_flush_count": 0.0,
        "log_flush_ps": 0.0,
    }
    assert rates(2.0, grown) == {
        Inside.logical_reads: 500,
        Inside.physical_reads: 30,
        Inside.hit_ratio: pytest.approx(95),
        Inside.read_mbps: 2,
        Inside.temp_files: 2,
        Inside.log_write: pytest.approx(2.5),
    }
    assert Inside.hit_ratio not in rates(1.0, {"innodb_buffer_pool_read_requests": 0.0})
