"""The resource governor, whose workload group ``default`` limits the work memory of a query.

ALTER WORKLOAD GROUP changes the stored configuration, and RECONFIGURE puts all of it into effect:
that of others, too. While the governor is off, its groups have their defaults.
"""

from __future__ import annotations

from dyno.errors import DynoError, error_of_kind
from dyno.targets.sqlserver import editions
from dyno.targets.sqlserver.connection import Session

RIGHT = "USE [master]; GRANT CONTROL SERVER"
_NUMERIC = 15
"""SQL Server 2019 made the share a fraction, and added a column for it."""

STATE = """SELECT CAST(c.is_enabled AS int), c.classifier_function_id,
CAST(d.is_reconfiguration_pending AS int),
(SELECT COUNT(*) FROM sys.resource_governor_resource_pools AS p WHERE p.pool_id > 2
OR p.pool_id = 2 AND (p.max_memory_percent < 100 OR p.max_cpu_percent < 100
OR p.cap_cpu_percent < 100 OR p.min_iops_per_volume > 0 OR p.max_iops_per_volume > 0))
+ (SELECT COUNT(*) FROM sys.resource_governor_resource_pool_affinity AS a WHERE a.pool_id = 2)
+ (SELECT COUNT(*) FROM sys.resource_governor_workload_groups AS g WHERE g.group_id = 2
AND (g.max_dop > 0 OR g.group_max_requests > 0 OR g.request_max_cpu_time_sec > 0
OR g.request_memory_grant_timeout_sec > 0))
FROM sys.resource_governor_configuration AS c
CROSS JOIN sys.dm_resource_governor_configuration AS d"""
SHARE = """SELECT CAST(s.{column} AS FLOAT), CAST(u.{column} AS FLOAT), CAST(c.is_enabled AS int)
FROM sys.resource_governor_workload_groups AS s
JOIN sys.dm_resource_governor_workload_groups AS u ON u.group_id = s.group_id
CROSS JOIN sys.resource_governor_configuration AS c WHERE s.name = N'default'"""


def share(session: Session) -> tuple[str, str, str]:
    """The share of the group ``default`` as stored and in effect, and whether the governor is on.

    Raises:
        DynoError: If this user may not read them.
    """
    column = "request_max_memory_grant_percent"
    if session.version.major >= _NUMERIC:
        column += "_numeric"
    rows = session.execute(SHARE.format(column=column), RIGHT).rows
    if not rows:
        raise _hidden(session)
    stored, used, enabled = rows[0]
    return _plain(stored), _plain(used), str(enabled)


def refusal(session: Session) -> str:
    """Why Dyno does not change it on this server; a clause, empty if it may.

    Raises:
        DynoError: If this user may not read its state.
    """
    if editions.lacks_governor(session.version):
        return f"{session.version.edition} has no resource governor"
    rows = session.execute(STATE, RIGHT).rows
    if not rows:
        raise _hidden(session)
    enabled, classifier, pending, others = map(int, rows[0])
    if classifier:
        return "a classifier function assigns sessions to workload groups"
    if pending:
        return "the resource governor has pending changes; apply or revert them first"
    if others and not enabled:
        return "the resource governor is off, and turning it on would also apply its stored limits"
    return ""


def _hidden(session: Session) -> DynoError:
    return error_of_kind(
        "denied",
        "The login cannot see the resource governor; an administrator must run: "
        f"{RIGHT} TO {session.account()}.",
    )


def _plain(share: float) -> str:
    return f"{share:.10f}".rstrip("0").rstrip(".")
