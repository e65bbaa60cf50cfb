"""What the rules look at: a bundle and the figures drawn from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from dyno.bundle import Bundle
from dyno.errors import UsageError
from dyno.model import Check, Estimate, Phase

MEASURED = frozenset({"io", "load", "index", "dss", "oltp"})
"""Kinds of phases whose figures are a result."""


@dataclass(frozen=True)
class Case:
    """A bundle with its estimates, as the rules ask for them."""

    bundle: Bundle
    estimates: tuple[Estimate, ...]

    @classmethod
    def of(cls, bundle: Bundle, estimates: Iterable[Estimate]) -> Case:
        """The case of ``bundle``."""
        return cls(bundle, tuple(estimates))

    @cached_property
    def _by_name(self) -> dict[str, Estimate]:
        return {figure.name: figure for figure in self.estimates}

    def figure(self, name: str) -> Estimate | None:
        """The estimate called ``name``, if there is one."""
        return self._by_name.get(name)

    def value(self, name: str) -> float | None:
        """Its value."""
        figure = self.figure(name)
        return None if figure is None else figure.value

    def phases(self, *kinds: str) -> list[Phase]:
        """Phases of these kinds; of all measured kinds if none is named."""
        wanted = kinds or MEASURED
        return [phase for phase in self.bundle.run.phases if phase.kind in wanted]

    def levels(self) -> list[tuple[Phase, str]]:
        """Phases of transactions, each with the start of the names of its figures.

        Of a search for the maximum only the windows of the maximum: that larger loads fail is what
        it looks for.
        """
        return self._levels("counted")

    def bounding(self) -> list[tuple[Phase, str]]:
        """The same, and of a search the windows of the smallest load that fails, too."""
        return self._levels("bounding")

    def _levels(self, those: str) -> list[tuple[Phase, str]]:
        pairs = [(phase, f"oltp.{phase.detail.get('level')}") for phase in self.phases("oltp")]
        kept = [phase.detail.get(those) for phase in self.phases("search")]
        if not kept:
            return pairs
        names = [name for listed in kept if isinstance(listed, list) for name in listed]
        return [(phase, name) for phase, name in pairs if phase.detail.get("level") in names]

    @cached_property
    def checks(self) -> list[Check]:
        """The proofs in the bundle.

        Raises:
            UsageError: If they cannot be read.
        """
        try:
            return self.bundle.checks()
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise UsageError(f"checks.json of {self.bundle.path} is damaged: {reason}.") from error
