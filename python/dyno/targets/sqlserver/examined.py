"""What a connected server lacks of a job (see :mod:`dyno.contracts.needs`)."""

from __future__ import annotations

from dyno.contracts.needs import Needs
from dyno.targets.sqlserver import maintenance, provision, rights
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.tuned import Tuning


def lacks(session: Session, server: str, needs: Needs) -> str | None:
    """Why the server cannot do the maintenance; None if it can, or if there is none.

    Raises:
        UsageError: If it cannot have the settings or the layout.
        TargetError: If the login has no right to create the workload's tables.
    """
    Tuning(needs.settings).require(session, server)
    if needs.layout is not None:
        rights.require(session, server, needs.workload)
        provision.require(session, needs.workload, needs.layout)
    if needs.maintenance is None:
        return None
    return maintenance.lacks(session.version, needs.maintenance)
