"""A level of load: what was measured of it, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dyno.analyse.rows import number, rows
from dyno.analyse.series import Throughput, throughput
from dyno.bundle.model import Phase
from dyno.bundle.reader import Bundle
from dyno.config.rates import Rate, recorded


@dataclass(frozen=True)
class Level:
    """The measured time of a level of load.

    Attributes:
        name: Its name in the bundle, such as ``users-4``.
        phase: Its phase, unless the bundle lacks it.
        rows: Its measured rows of ``ops``.
        rates: Its throughput, whose bounds are those of the measured time.
        seconds: How long it was measured.
    """

    name: str
    phase: Phase | None
    rows: list[dict[str, Any]]
    rates: Throughput
    seconds: float

    @property
    def table(self) -> str:
        """The table that its rows are from."""
        return f"ops/{self.name}"

    @property
    def rate(self) -> Rate | None:
        """The rate of an open loop."""
        return recorded(self.phase.detail.get("loop")) if self.phase else None

    @property
    def outcome(self) -> dict[str, Any]:
        """What the driver told at its end; empty if it did not get as far."""
        return _outcome(self.phase)

    @property
    def left_out_s(self) -> float:
        """What of the driver's window came before the steady stretch that counts."""
        return _left_out_s(self.phase)


def level(bundle: Bundle, name: str) -> Level | None:
    """The level called ``name``; None if nothing of it was measured.

    Its time runs from the first interval that the driver recorded. It lasts as long as the driver
    says: a server that is silent at the end leaves no operation there to tell of it. What was cut
    off lasts as long as its rows.

    Raises:
        UsageError: If its table is damaged.
    """
    found = (phase for phase in bundle.run.phases if phase.detail.get("level") == name)
    # Maintenance beside a level bears its name, too.
    phase = next((phase for phase in found if phase.kind == "oltp"), None)
    measured = [row for row in rows(bundle, f"ops/{name}") if row["phase"] == "measure"]
    told = _told_s(phase)
    start = min((row["t_ns"] for row in measured), default=0)
    if told is not None and phase is not None and phase.end_ns is not None:
        # Nothing is measured beyond the end of its phase.
        inside = start + told * 1e9 <= phase.end_ns
        rates = throughput(measured, told if inside else None)
    else:
        rates = throughput(measured)
    if rates is None:
        return None
    seconds = (rates.end_ns - rates.start_ns) / 1e9 if told is None else told
    return Level(name, phase, measured, rates, seconds)


def _told_s(phase: Phase | None) -> float | None:
    """How long the driver measured what counts."""
    seconds = number(_outcome(phase).get("seconds"))
    if phase is None or seconds is None or seconds <= _left_out_s(phase):
        return None
    return seconds - _left_out_s(phase)


def _outcome(phase: Phase | None) -> dict[str, Any]:
    outcome = phase.detail.get("outcome") if phase else None
    return outcome if isinstance(outcome, dict) else {}


def _left_out_s(phase: Phase | None) -> float:
    extended = phase.detail.get("until_steady") if phase else None
    found = number(extended.get("left_out_s")) if isinstance(extended, dict) else None
    return max(0.0, found or 0.0)
