"""The list of inputs of a sizing: each with its source, in the order of use."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from dyno.decide.size.evidence import Input
from dyno.decide.size.lot import spread
from dyno.decide.size.wants import WORDS, Wants
from dyno.statistics.paired import Floats

ASKED = "asked for"
ASSUMED = "assumption: "

_UNITS = {
    "users": "users", "tps": "1/s", "queries_per_h": "1/h", "tb": "TB", "growth": "a year",
    "years": "years", "p95_ms": "ms", "mean_ms": "ms", "think_s": "s", "io_per_tx": "I/Os",
    "device_tb": "TB",
}  # fmt: skip


@dataclass
class Inputs:
    """Collects inputs and caveats."""

    listed: list[Input] = field(default_factory=list[Input])
    caveats: list[str] = field(default_factory=list[str])

    def wants(self, wants: Wants) -> None:
        """Adds all that the user asked for."""
        names = {word.field: name for name, word in WORDS.items()}
        for one in fields(wants):
            value = getattr(wants, one.name)
            if value is not None:
                self.add(names[one.name], float(value), _UNITS.get(one.name, ""), ASKED)

    def add(self, name: str, value: float, unit: str, source: str) -> float:
        """Adds a value and returns it."""
        self.listed.append(Input(name, value, unit, source))
        return value

    def assumed(self, name: str, value: float, unit: str, why: str) -> float:
        """Adds a named assumption and returns its value."""
        return self.add(name, value, unit, f"{ASSUMED}{why}")

    def drawn(
        self, name: str, values: Floats, unit: str, source: str, value: float | None = None
    ) -> Floats:
        """Adds a value with its 90 % interval and returns its draws.

        Args:
            name: Its name.
            values: Its draws.
            unit: Its unit.
            source: Where it comes from.
            value: As measured; None: the median of the draws.
        """
        of_it = spread(values)
        shown = of_it.mid if value is None else value
        self.listed.append(Input(name, shown, unit, source, of_it.low, of_it.high))
        return values

    def caveat(self, text: str) -> None:
        """Adds a caveat."""
        if text not in self.caveats:
            self.caveats.append(text)
