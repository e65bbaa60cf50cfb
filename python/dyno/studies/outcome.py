"""What a study says: shifts, effects, fits and drift, as data."""

from __future__ import annotations

from typing import Literal

from dyno.bundle.model import Model
from dyno.statistics.verdict import Verdict
from dyno.studies.model import Value


class Comparison(Model):
    """A variant against the first in one metric.

    Attributes:
        percent, low, high: The shift and its interval; None with fewer than two pairs.
        estimand: What the interval covers: ``pseudo-median``, half of the averages of two pairs'
            shifts lie above it; empty without one.
        p: Adjusted for all questions of its family.
        first, second: Medians of the figures that are compared.
        d_z: Cohen's d of pairs: the mean logarithm of the ratios by their standard deviation; how
            far the shift stands out of the noise of a single pair. None without noise.
        sd_percent: Standard deviation of the pairs' ratios, in percent.
        smallest: The smallest shift in percent that so many pairs find four times of five, alone
            among all questions of its family.
        needed: Pairs that would find a shift of the margin; None if these are 10,000 and more.
        disqualified: Why the variant cannot win; empty if nothing stands against it.
        note: Which pairs were left out, and why, and that the first cannot win though this one is
            worse; empty if there is nothing to say.
    """

    variant: str
    metric: str
    headline: bool
    pairs: int
    first: float | None = None
    second: float | None = None
    percent: float | None = None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    estimand: str = ""
    p: float | None = None
    d_z: float | None = None
    method: str = ""
    sd_percent: float | None = None
    smallest: float | None = None
    needed: int | None = None
    verdict: Verdict = "inconclusive"
    disqualified: str = ""
    note: str = ""


class Drift(Model):
    """How the first variant's figure changed from run to run, percent a run, with an interval."""

    metric: str
    percent: float
    low: float
    high: float

    @property
    def certain(self) -> bool:
        """Whether the interval has no zero in it."""
        return self.low > 0 or self.high < 0


class Term(Model):
    """A level of a factor, or a combination of levels of two, against the first.

    Attributes:
        levels: Of the effect's factors, in their order.
        percent, low, high: The change with its interval; of two factors the ratio of ratios.
    """

    levels: tuple[Value, ...]
    percent: float
    low: float
    high: float


class Effect(Model):
    """What a factor does to a metric, or two of them together beyond what each does alone.

    Attributes:
        factors: One is a main effect, averaged over the levels of the others; two are an
            interaction.
        p: Of the F test that no level makes a difference, adjusted within its family.
        share_percent: Partial eta squared x 100: its share of what it and the noise make up.
        verdict: ``certain`` if p is below 5 %; ``none`` if every interval is inside the margin.
        note: Over which levels of the others it is averaged, where runs of some are missing.
    """

    metric: str
    headline: bool
    factors: tuple[str, ...]
    p: float
    share_percent: float
    verdict: Literal["certain", "none", "inconclusive"]
    terms: tuple[Term, ...]
    note: str = ""


class Parameter(Model):
    """A parameter of a fitted curve, with its interval."""

    value: float
    low: float
    high: float


class Point(Model):
    """A figure at a level with its interval, and what the curve has there."""

    x: float
    y: float
    low: float
    high: float
    fitted: float | None


class Fit(Model):
    """How a metric grows with a factor whose levels are numbers.

    Attributes:
        at: Levels of the other factors.
        exponent: Of y ~ x^exponent.
        linear: Whether that is 1: ``linear`` only if its whole interval is inside 1 ± tolerance.
        usl: sigma, kappa, gamma and, where one was observed, peak: of throughputs over counts of
            users, streams or processors with enough levels.
        note: Why there is no such curve, that its peak lies outside what was measured, or what
            does not follow it.
    """

    metric: str
    headline: bool
    factor: str
    at: dict[str, Value]
    exponent: Parameter
    linear: Literal["linear", "less", "more", "inconclusive"]
    tolerance: float
    usl: dict[str, Parameter] = {}
    points: tuple[Point, ...]
    note: str = ""


class Reach(Model):
    """What a shift takes to be found.

    Attributes:
        percent: The shift.
        pairs: That find it four times of five, fewer than 10,000.
        minutes: That so many pairs last.
    """

    percent: float
    pairs: int
    minutes: float


class Noise(Model):
    """The noise of a machine and a workload, from variants that are the same.

    Attributes:
        sd_percent, low, high: Standard deviation of the ratios of pairs with its 95 % interval.
        pair_s: What a pair lasts, with what lies between its runs.
        reaches: Without those that take 10,000 pairs and more.
    """

    metric: str
    headline: bool
    pairs: int
    sd_percent: float
    low: float
    high: float
    pair_s: float
    reaches: tuple[Reach, ...]


class Futility(Model):
    """Why a study ended before its runs were made: the rest of them could not have answered it.

    Attributes:
        variant, metric: The comparison that takes the fewest pairs.
        percent: The shift that was to be found, the study's margin.
        sd_percent: Standard deviation of the pairs' ratios, in percent.
        pairs, left: How many pairs there were, and how many could still be made.
        least: Pairs that it takes by the lower 95 % bound of that spread, for the margin or the
            shift that was seen if that is larger; None if these are 10,000 and more.
        needed: Pairs that find the margin by the spread itself; None if 10,000 and more.
        pair_s: What a pair lasts.
    """

    variant: str
    metric: str
    percent: float
    sd_percent: float
    pairs: int
    left: int
    least: int | None
    needed: int | None
    pair_s: float


class Outcome(Model):
    """What a study says. Numbers are finite, or None.

    Attributes:
        comparisons: By all runs that count, disturbed ones included.
        undisturbed: The headline ones by valid runs alone; empty if no run that counts was
            disturbed.
        runs, invalid, disturbed: How many runs ended, and how many of them were so.
        disqualified: Variants that cannot win, and why; those that were dropped among them.
        dropped: Variants that were left out of the rest, and why.
        noise: Of a study whose variants are the same.
        futility: Why it ended before its runs were made, if the rest could not have answered it.
        notes: What could not be told, and why; a sentence each.
    """

    comparisons: tuple[Comparison, ...]
    undisturbed: tuple[Comparison, ...] = ()
    drift: tuple[Drift, ...]
    runs: int
    invalid: int
    disturbed: int = 0
    disqualified: dict[str, str]
    dropped: dict[str, str] = {}
    effects: tuple[Effect, ...] = ()
    fits: tuple[Fit, ...] = ()
    noise: tuple[Noise, ...] = ()
    futility: Futility | None = None
    notes: tuple[str, ...] = ()

    @property
    def regressions(self) -> tuple[Comparison, ...]:
        """Exploratory figures that got worse, the largest shift first."""
        worse = [one for one in self.comparisons if not one.headline and one.verdict == "worse"]
        return tuple(sorted(worse, key=lambda one: -abs(one.percent or 0)))
