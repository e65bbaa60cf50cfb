"""``--limit``: processors, memory and I/O of an engine, for one run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dyno.cli._options import Decorator, collected
from dyno.confinement.limits_asked import WORDS

if TYPE_CHECKING:
    from dyno.confinement.run import Confinement
    from dyno.contracts.target import TargetUrl


@dataclass(frozen=True)
class Bounds:
    """What the command line holds of limits, unread."""

    limit: tuple[str, ...]

    def of(self, url: TargetUrl, out: Path) -> Confinement | None:
        """The limits of the engine at ``url``, checked before anything is touched.

        Raises:
            UsageError: If they make no sense, the engine is not Dyno's, or this process may not.
        """
        from dyno import targets
        from dyno.contracts.target import Limits

        if not self.limit:
            return None
        where = targets.limited(url)
        embedded = url.scheme == "embedded"
        paths = [out] if embedded else targets.open_target(url, out, Limits(1, 1)).data_paths()
        return self._confined(where == "process", paths)

    def of_volumes(self, paths: Iterable[Path]) -> Confinement | None:
        """The limits of Dyno's own storage engine on volumes.

        Raises:
            UsageError: If they make no sense, or this process may not.
        """
        return self._confined(True, list(paths)) if self.limit else None

    def _confined(self, shared: bool, paths: list[Path]) -> Confinement | None:
        from dyno.confinement.run import confine
        from dyno.host.files import ROOT
        from dyno.host.memory import memory_facts

        where = "process" if shared else "server"
        return confine(self.limit, where, paths, memory_facts(ROOT)["total_bytes"])


def _option(whom: str) -> Decorator:
    return click.option(
        "--limit",
        multiple=True,
        metavar="WORD=VALUE",
        help=f"Limit {whom}, as cpu=0.9; repeat. Words: {', '.join(WORDS)}.",
    )


options = collected(
    Bounds, "bounds", _option("the engine, where it is Dyno's own, and not the driver")
)
"""Adds ``--limit`` of an engine, and passes it as ``bounds``."""

own_options = collected(Bounds, "bounds", _option("Dyno's storage engine, in its own process"))
"""The same of ``dyno io``."""
