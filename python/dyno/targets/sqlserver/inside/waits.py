"""Class of what a session or thread waits for. Pure.

Source: Microsoft, "sys.dm_os_wait_stats (Transact-SQL)".
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dyno.bundle.inside import WaitClass

RUNNING: tuple[WaitClass, str] = ("cpu", "running")
SCHEDULED: tuple[WaitClass, str] = ("cpu", "runnable")
"""Ready to run, but without a CPU."""
TEMPDB = 2
"""The database of temporary data."""

_CLASSES: Mapping[str, WaitClass] = {
    "PAGEIOLATCH_": "data",
    "ASYNC_IO_COMPLETION": "data",
    # "generally represents nondata page I/Os": in a query, work files of sorts and hashes.
    "IO_COMPLETION": "temp",
    "WRITE_COMPLETION": "data",
    "DISKIO_SUSPEND": "data",
    "IMPPROV_IOWAIT": "data",
    "IO_QUEUE_LIMIT": "data",
    "IO_RETRY": "data",
    "SLEEP_BPOOL_FLUSH": "data",
    "BACKUPIO": "data",
    "BACKUPBUFFER": "data",
    "PREEMPTIVE_OS_WRITEFILE": "data",
    "PREEMPTIVE_OS_FLUSHFILEBUFFERS": "data",
    "PREEMPTIVE_OS_SETFILEVALIDDATA": "data",
    "PREEMPTIVE_OS_SETENDOFFILE": "data",
    "WRITELOG": "log",
    "LOGBUFFER": "log",
    "LOGMGR": "log",
    "LOG_RATE_GOVERNOR": "log",
    "POOL_LOG_RATE_GOVERNOR": "log",
    "INSTANCE_LOG_RATE_GOVERNOR": "log",
    "HADR_SYNC_COMMIT": "log",
    "LCK_M_": "lock",
    "PAGELATCH_": "latch",
    "LATCH_": "latch",
    "CXPACKET": "latch",
    "CXSYNC_": "latch",
    "CXROWSET_SYNC": "latch",
    "EXCHANGE": "latch",
    "EXECSYNC": "latch",
    "BMP": "latch",
    "BPSORT": "latch",
    "HTBUILD": "latch",
    "HTDELETE": "latch",
    "HTMEMO": "latch",
    "HTREINIT": "latch",
    "HTREPARTITION": "latch",
    "TRANSACTION_MUTEX": "latch",
    "TRAN_MARKLATCH_": "latch",
    "XACTLOCKINFO": "latch",
    "XACTWORKSPACE_MUTEX": "latch",
    "DIRTY_PAGE_TABLE_LOCK": "latch",
    "CMEMTHREAD": "latch",
    "SOS_SCHEDULER_YIELD": "cpu",
    "SOS_": "latch",
    "RESERVED_MEMORY_ALLOCATION_EXT": "latch",
    "FCB_REPLICA_": "latch",
    "ASYNC_DISKPOOL_LOCK": "latch",
    "ASYNC_NETWORK_IO": "client",
    "NETWORK_IO": "client",
    "NET_WAITFOR_PACKET": "client",
}
"""By the beginning of a wait type; the longest beginning counts. All others are ``other``, such as
RESOURCE_SEMAPHORE (work memory) and THREADPOOL (a worker).
"""
_LONGEST_FIRST = sorted(_CLASSES, key=len, reverse=True)

_BENIGN = re.compile(
    r"""
    (?:BROKER|CLR_AUTO_EVENT|CLR_MANUAL_EVENT|CLR_SEMAPHORE|DBMIRROR|FT_IFTS|FSAGENT|KSOURCE
      |PARALLEL_REDO|PWAIT|QDS|SNI|SP_SERVER|SQLTRACE|UCS|VDI|XE|PREEMPTIVE_XE|PREEMPTIVE_HADR|PREEMPTIVE_SP_SERVER|PVS|AZURE|PREEMPTIVE_OS_COM
      |PREEMPTIVE_OS_LIBRARY|PREEMPTIVE_OS_CRYPT|PREEMPTIVE_OS_PIPE|PREEMPTIVE_OS_GENERIC
      |PREEMPTIVE_OS_VERIFYTRUST|PREEMPTIVE_OS_DEVICE|PREEMPTIVE_OS_AUTH)_?\w*
    |SLEEP_(?!BPOOL_FLUSH|MEMORYPOOL|RETRY)\w*
    |HADR_(?!SYNC_COMMIT)\w*
    |WAIT_XTP_(?:RECOVERY|HOST_WAIT|OFFLINE_CKPT_NEW_LOG|CKPT_CLOSE)
    |WAITFOR|WAITFOR_TASKSHUTDOWN|WAIT_FOR_RESULTS|CHECKPOINT_QUEUE|CHKPT|CXCONSUMER
    |DIRTY_PAGE_POLL|DISPATCHER_QUEUE_SEMAPHORE|LAZYWRITER_SLEEP|LOGMGR_QUEUE
    |ONDEMAND_TASK_QUEUE|POPULATE_LOCK_ORDINALS|REDO_THREAD_PENDING_WORK
    |REQUEST_FOR_DEADLOCK_SEARCH|RESOURCE_QUEUE|SERVER_IDLE_CHECK|SOS_WORK_DISPATCHER
    |STARTUP_DEPENDENCY_MANAGER|MEMORY_ALLOCATION_EXT|EXTERNAL_SCRIPT_\w*
    """,
    re.VERBOSE,
)
"""Waits for work, of background threads and of consumers of a parallel plan: nobody is slower for
them.
"""

_LONGEST = 80


def is_benign(wait: str) -> bool:
    """Whether a thread in this wait has nothing to do."""
    return _BENIGN.fullmatch(wait) is not None


def is_parallel(wait: str) -> bool:
    """Whether a session waits for the other threads of its own plan."""
    return wait.startswith(("CX", "EXCHANGE"))


def of_wait(wait: str, database: int = 0) -> tuple[WaitClass, str]:
    """Class and name of a wait type.

    Args:
        wait: The wait type.
        database: The database of the page that it waits for, if any.
    """
    for start in _LONGEST_FIRST:
        if wait.startswith(start):
            known = _CLASSES[start]
            temporary = known == "data" and database == TEMPDB
            return ("temp" if temporary else known), wait[:_LONGEST]
    return "other", wait[:_LONGEST]
