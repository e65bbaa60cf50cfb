"""Whether an account may create a workload's database and tables."""

from __future__ import annotations

from dyno.errors import TargetError
from dyno.targets import mark
from dyno.targets.mysql.connection import MysqlConnection, literal
from dyno.targets.mysql.errors import grant

# Grants use patterns, so the name is matched with LIKE. Privileges of a role are not listed under
# the account: with an active role, the server decides at the load.
_CREATES = """
SELECT EXISTS (SELECT 1 FROM information_schema.user_privileges
               WHERE grantee = {account} AND privilege_type = 'CREATE')
    OR EXISTS (SELECT 1 FROM information_schema.schema_privileges
               WHERE grantee = {account} AND privilege_type = 'CREATE'
                 AND {database} LIKE table_schema)
    OR coalesce(CURRENT_ROLE(), 'NONE') <> 'NONE'
"""


def require(session: MysqlConnection, server: str, workload: str) -> None:
    """Rejects an account that may not create the workload's tables.

    Raises:
        TargetError: With the statement that grants what Dyno needs.
    """
    database, account = mark.schema_of(workload), session.account()
    question = _CREATES.format(account=literal(account), database=literal(database))
    if not account or session.execute(question).rows[0][0]:
        return
    raise TargetError(
        f"{server}: the account {account} has no right to create the {workload} tables; "
        f"an administrator must run: {grant(database, account)}",
        kind="denied",
    )
