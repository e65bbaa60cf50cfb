"""When transactions start in an open loop."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dyno.errors import UsageError
from dyno.plans.fields import Plan, Texts

if TYPE_CHECKING:
    from dyno.config.rates import Rate

_MOST_STEPS = 20
ARRIVALS = ("poisson", "fixed")


class Pace(Plan):
    """Rates of an open loop.

    Attributes:
        rate: One text per level: ``500``, ``100,200,400`` or ``100..900``.
        rate_file: A file with lines of seconds and rate.
        arrivals: Gaps between starts; None for the default, ``poisson``.
    """

    rate: Texts = ()
    rate_file: Path | None = None
    arrivals: Literal["poisson", "fixed"] | None = None

    @property
    def poisson(self) -> bool:
        """Whether gaps are random."""
        return self.arrivals != "fixed"

    def rates(self, duration_s: float, *, given: bool) -> tuple[list[Rate], float]:
        """The rates, one per level, and the measured seconds per level.

        The time is ``duration_s``, or the length of the rate file if no duration was ``given``.

        Raises:
            UsageError: If a rate is invalid or repeated, or options cannot be combined.
        """
        from dyno.config.ratefile import read

        if self.rate and self.rate_file is not None:
            raise UsageError("--rate and --rate-file cannot be combined: give one of them.")
        if self.arrivals is not None and not self.rate and self.rate_file is None:
            raise UsageError("--arrivals requires --rate or --rate-file.")
        if self.rate_file is not None:
            rate = read(self.rate_file)
            lasts = rate.points[-1][0]
            if not given:
                return [rate], lasts or duration_s
            if lasts > duration_s:
                raise UsageError(
                    f"{self.rate_file} lasts {lasts:g} s, --duration only {duration_s:g} s: omit "
                    "--duration to measure the whole file."
                )
            return [rate], duration_s
        rates = [parse(text, duration_s) for text in self.rate]
        if len({rate.name for rate in rates}) < len(rates):
            raise UsageError("Give each --rate once.")
        return rates, duration_s


def parse(text: str, seconds: float) -> Rate:
    """The rate of ``500``, ``100,200,400`` (steps over the duration) or ``100..900`` (a ramp).

    Raises:
        UsageError: If it is invalid.
    """
    from dyno.config.rates import Rate

    if ".." in text:
        first, last = _numbers(text, text.split("..", 1))
        if not first and not last:
            raise _wrong(text)
        return Rate.constant(first) if first == last else Rate.ramp(first, last, seconds)
    if "," in text:
        steps = _numbers(text, text.split(","))
        if len(steps) > _MOST_STEPS:
            raise UsageError(
                f"--rate has {len(steps)} steps; the maximum is {_MOST_STEPS}. Use --rate-file "
                "for more."
            )
        if not any(steps):
            raise _wrong(text)
        return Rate.steps(steps, seconds)
    (rate,) = _numbers(text, [text])
    if rate == 0:
        raise UsageError("--rate must be above 0.")
    return Rate.constant(rate)


def _numbers(text: str, words: Sequence[str]) -> list[float]:
    from dyno.config.rates import MOST_PER_S

    try:
        numbers = [float(word) for word in words]
    except ValueError:
        raise _wrong(text) from None
    if not all(0 <= number <= MOST_PER_S for number in numbers):
        raise UsageError(f"--rate {text}: use a rate from 0 to {MOST_PER_S:,.0f} per second.")
    return numbers


def _wrong(text: str) -> UsageError:
    return UsageError(
        f"'{text}' is not a valid rate; write it like 500 (per second), 100,200,400 (steps) or "
        "100..900 (a ramp)."
    )
