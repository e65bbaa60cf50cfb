"""A load level: its measurements and their time range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dyno.analyse.rows import rows
from dyno.analyse.series import Throughput, throughput
from dyno.bundle.model import Phase, those
from dyno.bundle.phases.oltp import OltpDetail, Outcome
from dyno.bundle.reader import Bundle
from dyno.config.rates import Rate, recorded


@dataclass(frozen=True)
class Level:
    """The measurement window of a load level.

    Attributes:
        name: Its name in the bundle, such as ``users-4``.
        phase: Its phase; None if the bundle lacks it.
        rows: Its measured rows of ``ops``.
        rates: Its throughput; its bounds are those of the measurement window.
        seconds: The measured duration.
    """

    name: str
    phase: Phase[OltpDetail] | None
    rows: list[dict[str, Any]]
    rates: Throughput
    seconds: float

    @property
    def table(self) -> str:
        """The table of its rows."""
        return f"ops/{self.name}"

    @property
    def rate(self) -> Rate | None:
        """The rate of an open loop."""
        return recorded(self.phase.detail.rate_per_s) if self.phase else None

    @property
    def is_replay(self) -> bool:
        """Whether statements start as in a log, which need not be steady."""
        return self.phase is not None and self.phase.detail.is_replay

    @property
    def outcome(self) -> Outcome:
        """The driver's final report; empty if the driver did not finish."""
        return _outcome(self.phase)

    @property
    def left_out_s(self) -> float:
        """Seconds of the driver's window before the steady stretch that counts."""
        return _left_out_s(self.phase)


def level(bundle: Bundle, name: str) -> Level | None:
    """Returns the level called ``name``; None if it has no measurements.

    The window starts at the first interval that the driver recorded and lasts as long as the driver
    reports, because a server that is silent at the end leaves no operations. An interrupted level
    lasts as long as its rows.

    Raises:
        UsageError: If its table is damaged.
    """
    levels = those(bundle.run.phases, OltpDetail)
    phase = next((phase for phase in levels if phase.detail.level == name), None)
    measured = [row for row in rows(bundle, f"ops/{name}") if row["phase"] == "measure"]
    reported_s = _reported_s(phase)
    start = min((row["t_ns"] for row in measured), default=0)
    if reported_s is not None and phase is not None and phase.end_ns is not None:
        # Nothing is measured after the end of the phase.
        inside = start + reported_s * 1e9 <= phase.end_ns
        rates = throughput(measured, reported_s if inside else None)
    else:
        rates = throughput(measured)
    if rates is None:
        return None
    seconds = (rates.end_ns - rates.start_ns) / 1e9 if reported_s is None else reported_s
    return Level(name, phase, measured, rates, seconds)


def _reported_s(phase: Phase[OltpDetail] | None) -> float | None:
    """The duration that counts, as reported by the driver."""
    seconds = _outcome(phase).seconds
    if phase is None or seconds is None or seconds <= _left_out_s(phase):
        return None
    return seconds - _left_out_s(phase)


def _outcome(phase: Phase[OltpDetail] | None) -> Outcome:
    return (phase.detail.outcome if phase else None) or Outcome()


def _left_out_s(phase: Phase[OltpDetail] | None) -> float:
    extended = phase.detail.until_steady if phase else None
    return max(0.0, (extended.left_out_s if extended else None) or 0.0)
