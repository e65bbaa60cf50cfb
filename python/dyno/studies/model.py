"""A study: its variants, the number and order of runs, and the metrics to compare."""

from __future__ import annotations

from typing import Any, Literal

from dyno import targets, workloads
from dyno.bundle.model import Model

Value = str | int | float | bool
Options = dict[str, Value]
Reset = Literal["nothing", "restart", "cold", "reload"]
Verb = Literal["run", "load"]

IO = "io"
"""The workload name of storage variants."""
DEFAULT_PAIRS = 5
DEFAULT_MARGIN = 2.0


def members(workload: str) -> list[str]:
    """The workloads that a study's word for a workload names."""
    return [IO] if workload == IO else workloads.words(workload)


class Variant(Model):
    """A variant of a study.

    Attributes:
        verb: Whether a run is a ``dyno run`` (or ``dyno io``), or a load from scratch.
        workload: Its workload, or several at once joined by ``+``.
        target: Its URL; it is never stored with a password.
        scale: Scale of the data; None if nothing is loaded.
        scales: Scales of single workloads of several, by name.
        load: Options of ``dyno load``, by name without dashes.
        run: Options of ``dyno run`` or ``dyno io``.
        settings: Portable settings for the run; for the load if all variants with the same data
            have them.
        limits: CPU, memory and I/O limits of the engine during runs, as in ``--limit``; they do
            not apply to the load of shared data.
        levels: In a factorial study, the level of each factor.
    """

    name: str
    workload: str
    verb: Verb = "run"
    target: str
    scale: float | None = None
    load: Options = {}
    run: Options = {}
    settings: dict[str, Value] = {}
    limits: dict[str, Value] = {}
    scales: dict[str, float] = {}
    levels: dict[str, Value] = {}

    @property
    def members(self) -> list[str]:
        """Its workloads; the only one, unless it runs several at once."""
        return members(self.workload)

    @property
    def kind(self) -> str:
        """``oltp`` if it has transactions, ``dss``, or ``io`` for a storage profile."""
        if self.workload == IO:
            return IO
        kinds = {workloads.get(word).kind for word in self.members}
        return "oltp" if "oltp" in kinds else "dss"

    def scale_of(self, word: str) -> float | None:
        """The scale of one of its workloads."""
        return self.scales.get(word, self.scale)

    @property
    def embedded(self) -> bool:
        """Whether it uses a private engine of the study."""
        return self.target.startswith("embedded:")

    @property
    def on_server(self) -> bool:
        """Whether it uses a server that Dyno did not start and cannot restart."""
        return targets.is_others(self.target)

    @property
    def data(self) -> tuple[Any, ...]:
        """Identifies its data: variants with equal values share a database."""
        fixed = {word: self.settings[word] for word in ("checksums",) if word in self.settings}
        return (
            self.workload,
            self.target,
            self.scale,
            tuple(sorted(self.scales.items())),
            tuple(sorted(self.load.items())),
            tuple(sorted(fixed.items())),
        )


class Study(Model):
    """The definition of a study.

    Attributes:
        question, design, rule, misleads: The question; the experiment; the decision rule; the
            limitations.
        variants: The first is the baseline.
        pairs: Runs per variant.
        margin: Percent; smaller shifts are irrelevant.
        headline: Metrics that answer the question.
        exploratory: Other metrics to test.
        criteria: Limits on metrics, as ``p95_ms.new_order < 2000``; a violation disqualifies a
            variant.
        reset: The action before each run: none; restart the server; also drop caches; restore the
            data to its state after the load.
        time_limit_s: No new pair starts after it; None for no limit.
        early_stop: Whether it may stop early: because every headline interval is tight, or for
            futility.
        seed: The seed of the run order.
    """

    name: str
    source: str = "preset"
    question: str = ""
    design: str = ""
    rule: str = ""
    misleads: str = ""
    variants: tuple[Variant, ...]
    factors: tuple[str, ...] = ()
    pairs: int = DEFAULT_PAIRS
    margin: float = DEFAULT_MARGIN
    headline: tuple[str, ...]
    exploratory: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    reset: Reset = "restart"
    replace: int = 2
    time_limit_s: float | None = None
    early_stop: bool = True
    seed: int = 1

    def variant(self, name: str) -> Variant:
        """The variant of that name."""
        return next(one for one in self.variants if one.name == name)

    def shared_settings(self, variant: Variant) -> dict[str, Value]:
        """Settings that all variants on the same data share."""
        others = [one.settings for one in self.variants if one.data == variant.data]
        return {
            word: value
            for word, value in variant.settings.items()
            if all(other.get(word) == value for other in others)
        }
