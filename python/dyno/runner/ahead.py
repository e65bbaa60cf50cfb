"""The parts of a run that report progress, and the time that is left for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dyno.contracts.target import TargetUrl
from dyno.contracts.workload import Workload
from dyno.targets import store

_PASS_S = {"row store": 30.0, "column store": 3.0}
_LOAD_MB_PER_S = {"row store": 25.0, "column store": 80.0}
_INDEX_SHARE = 0.5
"""Rules of thumb: the queries once at scale 1, the rows of a load, and its keys and indexes as a
share of that. Only their ratios count, once a part of the run has been measured.
"""


@dataclass(frozen=True)
class Part:
    """A part of a run, in the order in which the parts report progress.

    Attributes:
        seconds: Its expected length.
        fixed: Whether the plan sets the length; otherwise it is a rule of thumb, which the
            measured parts of the run correct.
    """

    seconds: float
    fixed: bool = True


class Ahead:
    """Follows the parts of a run. A part that was not expected changes nothing."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts
        self._at = -1
        self._titles: list[str] = []
        self._took = self._thought = 0.0

    def began(self, title: str) -> None:
        """Notes that a part reports progress; a repeated part keeps its place."""
        if title not in self._titles:
            self._titles.append(title)
        self._at = self._titles.index(title)

    def ended(self, took_s: float) -> None:
        """Notes that the current part took ``took_s``."""
        part = self._part()
        if part is not None and not part.fixed:
            self._took += took_s
            self._thought += part.seconds

    def left_s(self, done_s: float, left_s: float | None) -> float | None:
        """Expected seconds to the end of the run; None if unknown.

        Args:
            done_s: Seconds of the current part so far.
            left_s: Its expected rest; None if unknown.
        """
        part = self._part()
        if part is None:  # after the last part, or before the first
            return left_s if self._parts and self._at > 0 else None
        took, thought = self._took, self._thought
        if left_s is None:
            if not part.fixed:
                return None
            left_s = max(0.0, part.seconds - done_s)
        elif not part.fixed:
            took, thought = took + done_s + left_s, thought + part.seconds
        pace = took / thought if thought else 1.0
        later = self._parts[self._at + 1 :]
        return left_s + sum(one.seconds * (1.0 if one.fixed else pace) for one in later)

    def _part(self) -> Part | None:
        return self._parts[self._at] if 0 <= self._at < len(self._parts) else None


def of_load(
    workload: Workload,
    scale: float,
    url: TargetUrl,
    *,
    loads: int = 1,
    rows_only: int = 0,
    days: int | None = None,
) -> list[Part]:
    """Parts of loads: ``rows_only`` loads without keys and indexes, then ``loads`` with them."""
    rate = 1e6 * _LOAD_MB_PER_S[store(url.name) or "row store"]
    rows = Part(workload.raw_bytes(scale, days) / rate, fixed=False)
    index = Part(_INDEX_SHARE * rows.seconds, fixed=False)
    return [rows] * rows_only + [rows, index] * loads


def of_queries(scale: float, url: TargetUrl, *passes: float) -> list[Part]:
    """Parts of query tests: each takes as long as that many passes over all queries."""
    once = _PASS_S[store(url.name) or "row store"] * scale
    return [Part(once * often, fixed=False) for often in passes]
