"""Targets that check, before anything is created, whether the account may create it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Granting(Protocol):
    """A server whose accounts may lack rights."""

    def require_rights(self, workload: str) -> None:
        """Refuses an account that may not create the workload's tables. Changes nothing.

        Raises:
            TargetError: With the GRANT that an administrator must run.
        """
        ...
