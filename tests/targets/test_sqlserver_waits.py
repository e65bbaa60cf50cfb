"""Classes of SQL Server's waits, and growth of counters across resets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.bundle.inside import WAIT_CLASSES
from dyno.targets.sqlserver.inside.deltas import grown_alone, growth
from dyno.targets.sqlserver.inside.sessions import Request, database_of, waits_of
from dyno.targets.sqlserver.inside.waits import is_benign, is_parallel, of_wait
from dyno.targets.sqlserver.inside.waitstats import by_class

WORDS = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", min_size=1, max_size=60)
KNOWN = ["WRITELOG", "LCK_M_S", "PAGEIOLATCH_EX", "SOS_SCHEDULER_YIELD", "XE_TIMER_EVENT"]
COUNTS = st.dictionaries(
    st.one_of(WORDS, st.sampled_from(KNOWN)), st.tuples(*[st.integers(0, 10**12)] * 3), max_size=20
)


@pytest.mark.parametrize(
    ("wait", "known"),
    [
        ("PAGEIOLATCH_SH", "data"),
        ("WRITE_COMPLETION", "data"),
        ("IO_COMPLETION", "temp"),
        ("WRITELOG", "log"),
        ("LOGBUFFER", "log"),
        ("LOGMGR_RESERVE_APPEND", "log"),
        ("HADR_SYNC_COMMIT", "log"),
        ("LCK_M_IX", "lock"),
        ("LCK_M_RX_X", "lock"),
        ("PAGELATCH_UP", "latch"),
        ("LATCH_EX", "latch"),
        ("CXPACKET", "latch"),
        ("SOS_SCHEDULER_YIELD", "cpu"),
        ("SOS_PHYS_PAGE_CACHE", "latch"),
        ("ASYNC_NETWORK_IO", "client"),
        ("RESOURCE_SEMAPHORE", "other"),
        ("THREADPOOL", "other"),
        ("OLEDB", "other"),
        ("HTTP_START", "other"),
        ("HTBUILD", "latch"),
        ("PREEMPTIVE_OS_WRITEFILEGATHER", "data"),
        ("PREEMPTIVE_OS_FLUSHFILEBUFFERS", "data"),
        ("WAITFOR", "other"),
        ("A_WAIT_OF_A_LATER_VERSION", "other"),
    ],
)
def test_a_wait_has_a_class(wait: str, known: str) -> None:
    assert of_wait(wait) == (known, wait)


@pytest.mark.parametrize(
    "wait",
    [
        *("LAZYWRITER_SLEEP", "SLEEP_TASK", "SLEEP_SYSTEMTASK", "CHECKPOINT_QUEUE", "LOGMGR_QUEUE"),
        *("REQUEST_FOR_DEADLOCK_SEARCH", "XE_DISPATCHER_WAIT", "XE_TIMER_EVENT", "CXCONSUMER"),
        *("BROKER_TASK_STOP", "BROKER_TO_FLUSH", "CLR_AUTO_EVENT", "DIRTY_PAGE_POLL"),
        *("HADR_FILESTREAM_IOMGR_IOCOMPLETION", "QDS_PERSIST_TASK_MAIN_LOOP_SLEEP", "WAITFOR"),
        *("SQLTRACE_INCREMENTAL_FLUSH_SLEEP", "SP_SERVER_DIAGNOSTICS_SLEEP", "QDS_ASYNC_QUEUE"),
        *("SOS_WORK_DISPATCHER", "ONDEMAND_TASK_QUEUE", "DISPATCHER_QUEUE_SEMAPHORE"),
        *("PWAIT_ALL_COMPONENTS_INITIALIZED", "PARALLEL_REDO_WORKER_WAIT_WORK", "FT_IFTS_RWLOCK"),
    ],
)
def test_waits_for_work_are_benign(wait: str) -> None:
    assert is_benign(wait)


@pytest.mark.parametrize(
    "wait",
    [
        *("WRITELOG", "LCK_M_X", "PAGEIOLATCH_SH", "PAGELATCH_EX", "CXPACKET", "HADR_SYNC_COMMIT"),
        *("SLEEP_BPOOL_FLUSH", "SOS_SCHEDULER_YIELD", "THREADPOOL", "RESOURCE_SEMAPHORE"),
        *("ASYNC_NETWORK_IO", "LOGBUFFER", "IO_COMPLETION", "PREEMPTIVE_OS_WRITEFILE", "EXECSYNC"),
        "PREEMPTIVE_OS_FLUSHFILEBUFFERS",
    ],
)
def test_waits_of_the_work_are_not(wait: str) -> None:
    assert not is_benign(wait)


def test_a_page_of_tempdb_is_temporary_data() -> None:
    assert of_wait("PAGEIOLATCH_SH", database_of("2:1:104"))[0] == "temp"
    assert of_wait("PAGEIOLATCH_SH", database_of("5:1:104"))[0] == "data"
    assert of_wait("PAGELATCH_SH", database_of("2:1:104"))[0] == "latch"
    assert database_of("KEY: 5:72057594043105280 (8194443284a0)") == 0
    assert database_of("") == 0


def test_a_parallel_request_counts_once_with_the_waits_of_its_threads() -> None:
    parallel = Request(1, "suspended", "CXPACKET", "")
    data, latch = of_wait("PAGEIOLATCH_SH"), of_wait("LATCH_EX")
    assert waits_of([parallel], {1: [latch, data, data]}) == {data: 1}
    assert waits_of([parallel], {}) == {("cpu", "running"): 1}
    two = [Request(1, "running", "", ""), Request(1, "suspended", "WRITELOG", "")]
    for order in (two, two[::-1]):
        assert waits_of(order, {}) == {("log", "WRITELOG"): 1}


@given(WORDS)
def test_every_wait_has_exactly_one_class(wait: str) -> None:
    known, name = of_wait(wait)
    assert known in WAIT_CLASSES
    assert wait.startswith(name)
    assert isinstance(is_benign(wait), bool)
    assert not (is_parallel(wait) and known == "other" and wait.startswith("CXPACKET"))


@given(COUNTS, st.floats(0.1, 100))
def test_classes_add_up_to_all_waits_that_are_not_benign(
    grown: dict[str, tuple[int, int, int]], seconds: float
) -> None:
    grown = {wait: (n, max(a, b), min(a, b)) for wait, (n, a, b) in grown.items()}
    total = sum(own[1] for wait, own in grown.items() if not is_benign(wait)) / 1000 / seconds
    assert sum(by_class(grown, seconds).values()) == pytest.approx(total, rel=1e-9, abs=1e-9)


@given(COUNTS, COUNTS)
def test_growth_is_never_negative_and_nothing_after_a_reset(
    before: dict[str, tuple[int, ...]], added: dict[str, tuple[int, ...]]
) -> None:
    after = dict(before)
    for name, more in added.items():
        old = before.get(name, (0, 0, 0))
        after[name] = tuple(one + other for one, other in zip(old, more, strict=True))
    found = growth(before, after)
    assert found is not None
    for name, counts in found.items():
        assert counts == tuple(added.get(name, (0, 0, 0)))
    # A restart: every counter begins at 0 again, and some have not appeared yet.
    back = growth(after, before)
    changed = any(any(counts) for counts in added.values()) or added.keys() - before.keys()
    assert (back is None) == bool(changed)
    assert all(min(counts) >= 0 for counts in grown_alone(after, before).values())


@given(COUNTS, COUNTS)
def test_counters_that_are_reset_alone_lose_only_themselves(
    before: dict[str, tuple[int, ...]], after: dict[str, tuple[int, ...]]
) -> None:
    found = grown_alone(before, after)
    for name in before.keys() & after.keys():
        fell = any(new < old for new, old in zip(after[name], before[name], strict=True))
        assert (name in found) == (not fell)
    assert found.keys() <= before.keys() & after.keys()
