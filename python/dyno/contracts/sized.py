"""The size of a workload's data in a target."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Sized(Protocol):
    """A target that knows the size of a workload's tables."""

    def data_bytes(self, workload: str) -> int | None:
        """Bytes of the workload's tables and indexes on storage.

        Returns:
            None without the right to query them.

        Raises:
            DynoError: If the server does not respond.
        """
        ...
