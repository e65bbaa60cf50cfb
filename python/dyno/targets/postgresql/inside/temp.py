"""The size of temporary files, from the folders that hold them."""

from __future__ import annotations

from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.inside.observer import rows

FUNCTIONS = ("pg_ls_dir(text, boolean, boolean)", "pg_stat_file(text, boolean)")
"""What the reading calls; only superusers may by default."""

_MAY = """SELECT has_function_privilege('pg_ls_dir(text, boolean, boolean)', 'EXECUTE')
AND has_function_privilege('pg_stat_file(text, boolean)', 'EXECUTE') AS may"""

# A folder of a tablespace has a folder per version. Parallel workers share files in a folder of
# their own there, which pg_ls_tmpdir leaves out. Files may vanish meanwhile.
_USED = """SELECT coalesce(sum((file).size), 0)::float8 AS used FROM (
    SELECT 'base/pgsql_tmp' AS folder
    UNION ALL
    SELECT 'pg_tblspc/' || t.oid || '/PG_' || current_setting('server_version_num')::int / 10000
        || '_' || c.catalog_version_no || '/pgsql_tmp'
    FROM pg_tablespace t, pg_control_system() c
    WHERE t.spcname NOT IN ('pg_default', 'pg_global')
) place
CROSS JOIN LATERAL pg_ls_dir(folder, true, false) AS name
CROSS JOIN LATERAL (
    SELECT folder || '/' || name AS path
    WHERE name NOT LIKE '%.fileset'
    UNION ALL
    SELECT folder || '/' || name || '/' || shared FROM pg_ls_dir(
        CASE WHEN name LIKE '%.fileset' THEN folder || '/' || name END, true, false) AS shared
) found
CROSS JOIN LATERAL (SELECT pg_stat_file(path, true) AS file) stat
WHERE NOT (file).isdir"""


def may_read(session: PostgresConnection) -> bool:
    """Whether this role may read the size of temporary files."""
    return bool(rows(session, _MAY)[0]["may"])


def used_bytes(session: PostgresConnection, process: int | None = None) -> float:
    """Bytes of all temporary files of the server, or of one process with its parallel workers."""
    # Names of files, and of folders for parallel workers, contain the session's process id.
    ours = "" if process is None else f" AND name LIKE 'pgsql\\_tmp{process}.%'"
    return float(rows(session, _USED + ours)[0]["used"])
