"""The outcome of a study: shifts, effects, fits and drift."""

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
        p: Adjusted for all comparisons of its family.
        first, second: Medians of the compared values.
        d_z: Cohen's d of pairs: mean log ratio / standard deviation. None without noise.
        sd_percent: Standard deviation of the pairs' ratios, in percent.
        smallest: Minimum detectable effect in percent, at 80 % power with this number of pairs.
        needed: Pairs needed to detect the margin; None if 10,000 or more.
        disqualified: Why the variant is disqualified; empty if it is not.
        note: Which pairs are excluded and why, and whether the baseline is disqualified.
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
    """Drift of the baseline's metric, in percent per run, with an interval."""

    metric: str
    percent: float
    low: float
    high: float

    @property
    def certain(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0


class Term(Model):
    """A level of a factor, or a combination of two levels, relative to the first.

    Attributes:
        levels: The levels of the effect's factors, in order.
        percent, low, high: The change with its interval; for two factors the ratio of ratios.
    """

    levels: tuple[Value, ...]
    percent: float
    low: float
    high: float


class Effect(Model):
    """A main effect of a factor on a metric, or the interaction of two factors.

    Attributes:
        factors: One factor for a main effect, averaged over the levels of the others; two for an
            interaction.
        p: p value of the F test that all levels are equal, adjusted within its family.
        share_percent: Partial eta squared x 100: its share of the sum of its own and the noise
            sum of squares.
        verdict: ``certain`` if p is below 5 %; ``none`` if every interval is within the margin.
        note: The levels of the other factors that it averages over, if runs are missing.
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
    """A value at a level with its interval, and the fitted value."""

    x: float
    y: float
    low: float
    high: float
    fitted: float | None


class Fit(Model):
    """The scaling of a metric with a numeric factor.

    Attributes:
        at: Levels of the other factors.
        exponent: The exponent of y ~ x^exponent.
        linear: Whether the exponent is 1: ``linear`` only if its interval is within 1 ± tolerance.
        usl: sigma, kappa, gamma and, if observed, peak; for throughput over users, streams or CPUs
            with enough levels.
        note: Why there is no curve, that its peak is outside the measured range, or which points
            deviate from it.
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
    """The cost of detecting a shift.

    Attributes:
        percent: The shift.
        pairs: Pairs needed at 80 % power, fewer than 10,000.
        minutes: Duration of these pairs.
    """

    percent: float
    pairs: int
    minutes: float


class Noise(Model):
    """The noise of a machine and a workload, from an A/A test.

    Attributes:
        sd_percent, low, high: Standard deviation of the ratios of pairs with its 95 % interval.
        pair_s: Duration of a pair, including gaps.
        reaches: Detectable shifts with fewer than 10,000 pairs.
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
    """Why a study stopped for futility.

    Attributes:
        variant, metric: The comparison that needs the fewest pairs.
        percent: The shift to detect: the study's margin.
        sd_percent: Standard deviation of the pairs' ratios, in percent.
        pairs, left: Pairs done, and pairs remaining.
        least: Pairs needed at the lower 95 % bound of the noise, for the larger of the margin and
            the observed shift; None if 10,000 or more.
        needed: Pairs needed to detect the margin; None if 10,000 or more.
        pair_s: Duration of a pair.
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
    """The results of a study. Numbers are finite, or None.

    Attributes:
        comparisons: Comparisons of all runs that count, including disturbed ones.
        undisturbed: Headline comparisons of valid runs only; empty if no run that counts was
            disturbed.
        runs, invalid, disturbed: The number of completed, invalid and disturbed runs.
        disqualified: Disqualified variants and the reasons, including dropped ones.
        dropped: Dropped variants and the reasons.
        noise: The noise of an A/A test.
        futility: Why it stopped for futility, if it did.
        notes: What could not be estimated and why, one sentence each.
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
        """Exploratory metrics that got worse, the largest shift first."""
        worse = [one for one in self.comparisons if not one.headline and one.verdict == "worse"]
        return tuple(sorted(worse, key=lambda one: -abs(one.percent or 0)))
