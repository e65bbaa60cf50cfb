"""What a target offers that can start with empty caches (``Capabilities.cold``)."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from dyno.host.pagecache import Emptied


@runtime_checkable
class Coolable(Protocol):
    """A target that can be restarted with none of its data in memory."""

    def cool(self) -> Emptied:
        """Ends what runs, empties the page cache of the data, and starts again.

        All sessions must be closed; its settings stay.

        Raises:
            UsageError: If it is beyond reach, with the reason.
            TargetError: If it cannot be proven that the caches are empty.
        """
        ...
