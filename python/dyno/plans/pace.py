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
    """Rates.

    Attributes:
        rate: A text each level: ``500``, ``100,200,400`` or ``100..900``.
        rate_file: Lines of seconds and rate instead.
        arrivals: Gaps between starts; None for the default, which is random.
    """

    rate: Texts = ()
    rate_file: Path | None = None
    arrivals: Literal["poisson", "fixed"] | None = None

    @property
    def poisson(self) -> bool:
        """Whether gaps are random."""
        return self.arrivals != "fixed"

    def rates(self, duration_s: float, *, given: bool) -> tuple[list[Rate], float]:
        """The rates, a level each, and how long a level is measured.

        That is ``duration_s``, or the length of the file if that was not ``given``.

        Raises:
            UsageError: If one cannot be read, is given twice, or options exclude each other.
        """
        from dyno.config.ratefile import read

        if self.rate and self.rate_file is not None:
            raise UsageError("--rate and --rate-file exclude each other: give one of them.")
        if self.arrivals is not None and not self.rate and self.rate_file is None:
            raise UsageError("--arrivals is for --rate and --rate-file; give one of them, too.")
        if self.rate_file is not None:
            rate = read(self.rate_file)
            lasts = rate.points[-1][0]
            if not given:
                return [rate], lasts or duration_s
            if lasts > duration_s:
                raise UsageError(
                    f"{self.rate_file} goes on until {lasts:g} s, --duration ends at "
                    f"{duration_s:g} s: leave --duration out to measure all of it."
                )
            return [rate], duration_s
        rates = [parse(text, duration_s) for text in self.rate]
        if len({rate.name for rate in rates}) < len(rates):
            raise UsageError("Give each --rate once.")
        return rates, duration_s


def parse(text: str, seconds: float) -> Rate:
    """The rate of ``500``, ``100,200,400`` (steps over the duration) or ``100..900`` (a ramp).

    Raises:
        UsageError: If it is none.
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
                f"--rate has {len(steps)} steps; {_MOST_STEPS} are possible, more with --rate-file."
            )
        if not any(steps):
            raise _wrong(text)
        return Rate.steps(steps, seconds)
    (rate,) = _numbers(text, [text])
    if rate == 0:
        raise UsageError("--rate must be above 0, not 0.")
    return Rate.constant(rate)


def _numbers(text: str, words: Sequence[str]) -> list[float]:
    from dyno.config.rates import MOST_PER_S

    try:
        numbers = [float(word) for word in words]
    except ValueError:
        raise _wrong(text) from None
    if not all(0 <= number <= MOST_PER_S for number in numbers):
        raise UsageError(f"--rate {text}: a rate lies between 0 and {MOST_PER_S:,.0f} a second.")
    return numbers


def _wrong(text: str) -> UsageError:
    return UsageError(
        f"'{text}' is no rate; write it like 500 (a second), 100,200,400 (steps) or 100..900 "
        "(a ramp)."
    )
