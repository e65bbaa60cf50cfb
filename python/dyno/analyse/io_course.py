"""Storage rate within the windows of each load: slope, warm-up and drops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dyno.analyse.rows import columns
from dyno.bundle import metrics
from dyno.bundle.model import Estimate
from dyno.bundle.reader import Bundle
from dyno.bundle.stalls import FEWEST_EXPECTED, stretches
from dyno.profiles.steps import Key, steps, windows
from dyno.safety.plainjson import finite
from dyno.statistics.autocorrelation import mean_error_percent, trend_among_alike
from dyno.statistics.change import FEWEST, drop
from dyno.statistics.steady import Trend, bias_percent, mser5

_TABLE = "io_intervals table"
_COLUMNS = (
    *("t_ns", "seconds", "volume", "stage", "repeat", "phase", "level", "queue_depth"),
    *("reads", "writes"),
)
_WHOLE = 0.9
"""An interval shorter than this share of the longest is partial; its rate varies more."""


@dataclass
class _Course:
    """IOPS per complete interval of one step."""

    interval_s: float
    t_ns: list[int] = field(default_factory=list[int])
    rates: list[float] = field(default_factory=list[float])


def io_course(bundle: Bundle) -> list[Estimate]:
    """``<load>.intervals``, ``.trend_percent``, ``.mser_bias_percent``, ``.silent_s``; drops.

    With several windows per load, the worst one is reported; a drop may also fall between two
    windows. Bundles without intervals give none.
    """
    courses = _courses(bundle)
    if not courses:
        return []
    start_ns = bundle.run.clock.unix_ns
    estimates: list[Estimate] = []
    for load, of_it in windows(steps(bundle)).items():
        found = [courses[step.key] for step in of_it if step.key in courses]
        if found:
            estimates += _load(load, found, start_ns)
    return estimates


def _courses(bundle: Bundle) -> dict[Key, _Course]:
    """Rates by step, summed over jobs."""
    table = columns(bundle, "io_intervals").select(list(_COLUMNS))
    sums: dict[Key, dict[int, tuple[float, float]]] = {}
    for row in table.to_pylist():
        key, seconds = _key(row), finite(row["seconds"])
        if key is None or not seconds or seconds < 0:
            continue
        moments = sums.setdefault(key, {})
        ended = moments.get(row["t_ns"], (0.0, 0.0))[0] + row["reads"] + row["writes"]
        moments[row["t_ns"]] = (ended, seconds)
    found: dict[Key, _Course] = {}
    for key, moments in sums.items():
        longest = max(seconds for _, seconds in moments.values())
        course = found.setdefault(key, _Course(longest))
        for t_ns, (ended, seconds) in sorted(moments.items()):
            if seconds >= _WHOLE * longest:
                course.t_ns.append(t_ns)
                course.rates.append(ended / seconds)
    return found


def _key(row: dict[str, Any]) -> Key | None:
    if None in (row["t_ns"], row["volume"], row["phase"], row["reads"], row["writes"]):
        return None
    level = row["queue_depth"] if row["level"] is None else row["level"]
    return (row["volume"], row["stage"] or 0, row["repeat"] or 1, row["phase"], level)


def _load(at: metrics.StorageLoad, found: Sequence[_Course], start_ns: int) -> Iterable[Estimate]:
    fewest = min(len(course.rates) for course in found)
    source = f"{_TABLE}: whole intervals of the window with the fewest"
    yield at.intervals.estimate(fewest, source)
    lines = [line for course in found if (line := _line(course)) is not None]
    if lines:
        worst = max(lines, key=lambda line: (_slopes(line), abs(line.percent)))
        yield at.trend_percent.estimate(
            worst.percent,
            f"{_TABLE}: change of the fitted line, in % of the mean, of the window with the "
            "largest change",
            low=worst.low,
            high=worst.high,
        )
    errors = [error for course in found if (error := _error(course)) is not None]
    if errors:
        yield at.mean_error_percent.estimate(
            max(errors),
            f"{_TABLE}: half of the 95 % interval of the mean of the least precise window, "
            "corrected for autocorrelation",
        )
    cuts = [cut for course in found if (cut := _cut(course)) is not None]
    if cuts:
        discard, bias = max(cuts, key=lambda cut: cut[1])
        yield at.mser_discard_percent.estimate(
            discard,
            f"{_TABLE}: MSER-5, warm-up share of the window whose mean it changes most",
        )
        yield at.mser_bias_percent.estimate(
            bias,
            f"{_TABLE}: change of the window's mean by that warm-up, in % of the mean of the rest",
        )
    silent = max((_silent_s(course) for course in found), default=0.0)
    yield at.silent_s.estimate(
        silent,
        f"{_TABLE}: longest time in a window without a completed I/O, while "
        f"{FEWEST_EXPECTED:g} or more were expected",
    )
    yield from _drop(at, found, start_ns)


def _silent_s(course: _Course) -> float:
    mean = sum(course.rates) / len(course.rates)
    lengths = [count * course.interval_s for _, count in stretches(course.rates)]
    return max((one for one in lengths if one * mean >= FEWEST_EXPECTED), default=0.0)


def _cut(course: _Course) -> tuple[float, float] | None:
    """The share that MSER-5 would truncate and its effect on the mean, both in %."""
    cut = mser5(course.rates)
    return None if cut is None else (cut.discard_percent, bias_percent(course.rates, cut))


def _line(course: _Course) -> Trend | None:
    return trend_among_alike(course.rates) if len(course.rates) >= FEWEST else None


def _error(course: _Course) -> float | None:
    return mean_error_percent(course.rates) if len(course.rates) >= FEWEST else None


def _slopes(line: Trend) -> bool:
    """Whether the slope differs significantly from zero."""
    return not line.low <= 0 <= line.high


def _drop(at: metrics.StorageLoad, found: Sequence[_Course], start_ns: int) -> Iterable[Estimate]:
    t_ns = [moment for course in found for moment in course.t_ns]
    fall = drop([rate for course in found for rate in course.rates])
    if fall is None:
        return
    source = f"{_TABLE}: a step change fits the windows of the load better than noise"
    yield at.drop_percent.estimate(fall.percent, source)
    yield at.drop_from_iops.estimate(fall.before, source)
    yield at.drop_to_iops.estimate(fall.after, source)
    yield at.drop_at_s.estimate((t_ns[fall.at] - start_ns) / 1e9, source)
