"""Version and settings, read back from the server."""

from __future__ import annotations

from dyno.bundle.model import TargetFacts
from dyno.contracts.target import Limits, TargetUrl
from dyno.servers.volume import VolumeFacts
from dyno.targets.mysql.address import Address
from dyno.targets.mysql.advice import DIALECT
from dyno.targets.mysql.connection import MysqlConnection
from dyno.targets.mysql.settings import LOCK_WAIT_S, LOCK_WAITS, SESSION_NAMES, settings

# The settings of the private server, and others that explain or distinguish results.
NAMES = (
    *settings(Limits(1 << 30, 1), VolumeFacts(None, 1 << 30, 0)),
    *SESSION_NAMES,
    "binlog_format",
    "datadir",
    "default_storage_engine",
    "innodb_adaptive_hash_index",
    "innodb_buffer_pool_instances",
    "innodb_change_buffering",
    "innodb_dedicated_server",
    "innodb_checksum_algorithm",
    "innodb_deadlock_detect",
    "innodb_file_per_table",
    "innodb_lock_wait_timeout",
    "innodb_log_group_home_dir",
    "innodb_page_size",
    "innodb_read_io_threads",
    "innodb_redo_log_capacity",
    "innodb_snapshot_isolation",
    "innodb_use_native_aio",
    "innodb_write_io_threads",
    "internal_tmp_mem_storage_engine",
    "large_pages",
    "log_bin",
    "max_execution_time",
    "max_statement_time",
    "max_tmp_session_space_usage",
    "slow_query_log",
    "sync_binlog",
    "thread_handling",
    "temptable_max_mmap",
    "temptable_max_ram",
    "tmp_disk_table_size",
    "tmpdir",
    "transaction_isolation",
    "tx_isolation",
    "version_comment",
    "version_compile_machine",
    "version_compile_os",
    *(knob.name for knobs in DIALECT.knobs.values() for knob in knobs),
)


def read(session: MysqlConnection, url: TargetUrl, address: Address) -> TargetFacts:
    """Version and settings of the live server in Dyno's sessions, sizes in bytes.

    Settings that this product or version lacks are left out.
    """
    names = ", ".join(f"'{name}'" for name in sorted(set(NAMES)))
    shown = session.execute(f"SHOW SESSION VARIABLES WHERE Variable_name IN ({names})").rows
    text = str(session.execute("SELECT VERSION()").rows[0][0])
    least = ", ".join(f"LEAST(@@GLOBAL.{name}, {LOCK_WAIT_S})" for name in LOCK_WAITS)
    waits = session.execute(f"SELECT {least}").rows[0]
    return TargetFacts(
        url=url.redacted,
        place="machine" if address.is_local else "elsewhere",
        version=f"{session.version.product} {text.replace('-MariaDB', '')}",
        settings={
            **{str(name).lower(): str(value) for name, value in sorted(shown)},
            # In seconds, as the driver's sessions set them.
            **{f"driver_{name}": str(wait) for name, wait in zip(LOCK_WAITS, waits, strict=True)},
        },
    )
