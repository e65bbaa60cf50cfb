"""The parameters of the model, from the target's URL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from dyno.contracts.target import TargetUrl
from dyno.errors import UsageError, unknown

DISTRIBUTIONS = ("fixed", "exponential", "uniform")
_NAMES = (
    "mean_us",
    "distribution",
    "servers",
    "stall_every_ms",
    "stall_ms",
    "seed",
    "scale",
)


@dataclass(frozen=True)
class NullModel:
    """The parameters of the modelled server.

    Attributes:
        mean_us: Mean service time of a transaction, µs; 0 answers at once.
        distribution: Shape of the service time's distribution.
        servers: Maximum concurrent transactions, others queue; None for no limit.
        stall_every_ms: Period of regular pauses, 0 for none.
        stall_ms: Length of each pause, at the end of its period.
        seed: Seed of the service times.
        scale: Scale of the data that it pretends to hold.
    """

    mean_us: float = 0.0
    distribution: str = "fixed"
    servers: int | None = None
    stall_every_ms: float = 0.0
    stall_ms: float = 0.0
    seed: int = 0
    scale: float = 1.0

    @classmethod
    def parse(cls, url: TargetUrl) -> NullModel:
        """Parses the model from a URL such as ``null:?mean_us=500&servers=4``.

        Raises:
            UsageError: If a name or a value is invalid.
        """
        parts = urlsplit(url.text)
        if parts.netloc or parts.path:
            raise UsageError("The null target has no address: write null: or null:?mean_us=500.")
        given: dict[str, str] = {}
        for name, value in parse_qsl(parts.query, keep_blank_values=True):
            if name not in _NAMES:
                raise unknown("null target setting", name, _NAMES)
            given[name] = value
        model = cls(
            mean_us=_number(given, "mean_us", 0.0),
            distribution=given.get("distribution", "fixed"),
            servers=_whole(given, "servers", 1) if "servers" in given else None,
            stall_every_ms=_number(given, "stall_every_ms", 0.0),
            stall_ms=_number(given, "stall_ms", 0.0),
            seed=_whole(given, "seed", 0),
            scale=_number(given, "scale", 1.0),
        )
        if model.distribution not in DISTRIBUTIONS:
            raise unknown("distribution", model.distribution, DISTRIBUTIONS)
        if model.scale == 0:
            raise UsageError("The null target's scale must be more than 0.")
        if bool(model.stall_ms) != bool(model.stall_every_ms) or (
            model.stall_ms and model.stall_ms >= model.stall_every_ms
        ):
            raise UsageError(
                "A stall of the null target needs stall_ms and a longer stall_every_ms."
            )
        return model

    def wire(self) -> dict[str, Any]:
        """The model as the Rust driver expects it."""
        wire: dict[str, Any] = {
            "kind": "null",
            "mean_ms": self.mean_us / 1000,
            "distribution": self.distribution,
            "seed": self.seed,
        }
        if self.servers is not None:
            wire["servers"] = self.servers
        if self.stall_ms:
            wire["stall"] = {"every_ms": self.stall_every_ms, "for_ms": self.stall_ms}
        return wire

    def settings(self) -> dict[str, str]:
        """All parameters as text, for the record."""
        return {name: str(getattr(self, name)) for name in _NAMES}


def _number(given: dict[str, str], name: str, default: float) -> float:
    try:
        value = float(given.get(name, default))
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1e12:
        raise UsageError(
            f"{name} of the null target must be a number from 0 up, not '{given[name]}'."
        )
    return value


def _whole(given: dict[str, str], name: str, least: int) -> int:
    text = given.get(name, str(least))
    if not (text.isascii() and text.isdigit() and least <= int(text) < 1 << 32):
        raise UsageError(
            f"{name} of the null target must be a whole number from {least} up, not '{text}'."
        )
    return int(text)
