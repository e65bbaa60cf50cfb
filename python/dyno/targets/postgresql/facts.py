"""Version and settings, read back from the server."""

from __future__ import annotations

from dyno.bundle.model import TargetFacts
from dyno.contracts.target import Limits, TargetUrl
from dyno.servers.volume import VolumeFacts
from dyno.targets.postgresql.address import is_local
from dyno.targets.postgresql.advice import DIALECT
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.settings import settings

# The settings of the private server, and others that explain results or differ between versions.
NAMES = (
    *settings(Limits(1 << 30, 1), VolumeFacts(None, 1 << 30, 0), io_uring=False),
    "block_size",
    "data_checksums",
    "default_transaction_isolation",
    "hash_mem_multiplier",
    "huge_pages_status",
    "jit",
    "lc_collate",
    "server_encoding",
    "shared_preload_libraries",
    "wal_compression",
    "wal_segment_size",
    *(knob.name for knobs in DIALECT.knobs.values() for knob in knobs),
)


def read(session: PostgresConnection, url: TargetUrl) -> TargetFacts:
    """Version and settings of the live server, with the units that it shows.

    Settings that this version lacks or hides from this user are left out.
    """
    names = ", ".join(f"'{name}'" for name in NAMES)
    shown = session.execute(
        "SELECT lower(name), current_setting(name) FROM pg_settings "  # noqa: S608  (fixed names)
        f"WHERE lower(name) IN ({names}) ORDER BY 1"
    ).rows
    version = session.execute("SHOW server_version").rows[0][0]
    return TargetFacts(
        url=url.redacted,
        place="machine" if is_local(session.raw.info.hostaddr) else "elsewhere",
        version=f"PostgreSQL {version}",
        settings={
            **{str(name): str(value) for name, value in shown},
            # TLS costs time per round trip; the driver's sessions use the same.
            **({"tls": "on"} if session.raw.pgconn.ssl_in_use else {}),
        },
    )
