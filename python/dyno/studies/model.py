"""A study: variants, how often each runs and in what order, and what is asked of their figures."""

from __future__ import annotations

from typing import Any, Literal

from dyno import targets, workloads
from dyno.bundle.model import Model

Value = str | int | float | bool
Options = dict[str, Value]
Reset = Literal["nothing", "restart", "cold", "reload"]
Verb = Literal["run", "load"]

IO = "io"
"""What a variant has in the place of a workload that measures storage."""
DEFAULT_PAIRS = 5
DEFAULT_MARGIN = 2.0


class Variant(Model):
    """One way to do it.

    Attributes:
        verb: Whether a run of it is a ``dyno run`` (or ``dyno io``), or a load from nothing.
        target: Its URL; what runs is never written with a password.
        load: Options of ``dyno load``, by name without dashes.
        run: Options of ``dyno run`` or ``dyno io``.
        settings: Neutral words, for the run; for the load where all that share its data have them.
        limits: Processors, memory and I/O of the engine while it runs, by the words of ``--limit``;
            not while data is loaded that variants share.
        levels: Of a factorial study the level of each factor.
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
    levels: dict[str, Value] = {}

    @property
    def kind(self) -> str:
        """``oltp``, ``dss``, or ``io`` of a storage profile."""
        return IO if self.workload == IO else workloads.get(self.workload).kind

    @property
    def embedded(self) -> bool:
        """Whether its engine is a private one of the study's."""
        return self.target.startswith("embedded:")

    @property
    def on_server(self) -> bool:
        """Whether its server is not Dyno's own, and so not Dyno's to start again."""
        return targets.is_others(self.target)

    @property
    def data(self) -> tuple[Any, ...]:
        """What tells its data from that of others: variants that agree in it share a database."""
        fixed = {word: self.settings[word] for word in ("checksums",) if word in self.settings}
        return (
            self.workload,
            self.target,
            self.scale,
            tuple(sorted(self.load.items())),
            tuple(sorted(fixed.items())),
        )


class Study(Model):
    """What is asked, and how.

    Attributes:
        question, design, rule, misleads: What it asks; how it is done; when the answer is yes; how
            it can mislead.
        variants: The first is what the others are compared with.
        pairs: How often each variant runs.
        margin: Percent; a shift within it does not matter.
        headline: Metrics that the answer is about.
        exploratory: Metrics that are looked at as well.
        criteria: Limits on figures, as ``p95_ms.new_order < 2000``; a variant that breaks one
            cannot win.
        reset: What is done before each run: nothing; the server is started again; caches are
            emptied as well; the data is what it was after the load.
        time_limit_s: No new pair begins after it; None for none.
        early_stop: Whether it may end before all runs are made: as every headline interval is
            tight, or as the rest could not answer it.
        seed: Of the order of runs.
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
        """The variant called so."""
        return next(one for one in self.variants if one.name == name)

    def shared_settings(self, variant: Variant) -> dict[str, Value]:
        """Settings that all variants on the same data have alike."""
        others = [one.settings for one in self.variants if one.data == variant.data]
        return {
            word: value
            for word, value in variant.settings.items()
            if all(other.get(word) == value for other in others)
        }
