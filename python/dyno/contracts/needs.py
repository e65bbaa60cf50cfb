"""What a job needs of a server that only the connected server can refuse.

A target's capabilities say what its product can do. A server at a URL may be of a version, an
edition or a compatible product that lacks a part of it. Such a target is :class:`Examinable`, so
that a job can ask before it loads or measures anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from dyno.config.settings import Setting
from dyno.contracts.layout import Layout
from dyno.contracts.maintenance import Maintenance


@dataclass(frozen=True)
class Needs:
    """What a load or a run needs.

    Attributes:
        workload: The workload.
        layout: The design to load it in; None for a run.
        settings: The settings to apply.
        maintenance: The maintenance during the run, if any.
    """

    workload: str
    layout: Layout | None = None
    settings: Sequence[Setting] = ()
    maintenance: Maintenance | None = None


@runtime_checkable
class Examinable(Protocol):
    """A server at a URL that may lack a part of what its product can do."""

    def examine(self, needs: Needs) -> None:
        """Connects, and refuses what this server cannot do. Changes nothing.

        Raises:
            UsageError: With the reason.
            TargetError: If the server cannot be used, or the account lacks a right.
        """
        ...
