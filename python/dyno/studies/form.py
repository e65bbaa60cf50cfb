"""A study as it is written: TOML, read strictly.

question = "Does more memory help?"
design = "…"                         # the experiment, in words
rule = "…"                           # the decision rule
misleads = "…"                       # limitations
pairs = 5                            # how often each variant runs
margin = 2.0                         # percent; smaller shifts are irrelevant
headline = ["tps"]                   # headline metrics; see `dyno study metrics`
exploratory = ["p95_ms"]             # other metrics to test
criteria = ["p95_ms.new_order < 2000", "query_s.* < 60"]   # a violation disqualifies
reset = "restart"                    # or nothing, cold, reload: before each run; else, where the
                                     # server is Dyno's own, reload of transactions and restart of
                                     # queries, and nothing where it is not
replace = 2                          # repeats of invalid runs, at most
time_limit = "1h"
early_stop = true                    # false: make all runs, also once intervals are tight, or where
                                     # noise leaves too few pairs to find the margin

[base]                               # settings of all variants
workload = "tpcc"                    # or another, FILE.toml, io; several at once: tpcc+tpch
verb = "run"                         # or load: each run is a load from scratch
target = "embedded:postgresql"
scale = 2

[base.scales]                        # of several workloads, those with another scale
tpch = 0.1

[base.load]                          # options of `dyno load`, without dashes
streams = 2

[base.run]                           # options of `dyno run`, or of `dyno io`
users = 8
duration = "20s"

[base.settings]                      # portable setting names, as in --set
memory = "1GB"

[base.limits]                        # limits on the engine, as in --limit
cpu = 2

[[variants]]                         # the differences, by path
name = "more"
"settings.memory" = "4GB"

[factors]                            # or: all combinations of these levels
"run.users" = [1, 2, 4, 8]
"settings.memory" = ["1GB", "4GB"]
"""

from __future__ import annotations

from pydantic import Field

from dyno.config.strict import Strict
from dyno.studies.model import DEFAULT_MARGIN, DEFAULT_PAIRS, Reset, Value, Verb

LAYOUT, INDEX = "load.layout", "load.index"
"""Paths of settings: the layout of the data, and indexes beyond it."""


class Base(Strict):
    """The settings of all variants."""

    workload: str
    verb: Verb = "run"
    target: str | None = None
    scale: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    load: dict[str, Value] = {}
    run: dict[str, Value] = {}
    settings: dict[str, Value] = {}
    limits: dict[str, Value] = {}
    scales: dict[str, Value] = {}


class StudySpec(Strict):
    """A study file."""

    question: str = ""
    design: str = ""
    rule: str = ""
    misleads: str = ""
    pairs: int = Field(default=DEFAULT_PAIRS, ge=2, le=1000)
    margin: float = Field(default=DEFAULT_MARGIN, gt=0, lt=100, allow_inf_nan=False)
    headline: list[str] = Field(min_length=1)
    exploratory: list[str] = []
    criteria: list[str] = []
    reset: Reset | None = None
    replace: int = Field(default=2, ge=0, le=100)
    time_limit: str | None = None
    early_stop: bool = True
    base: Base
    base_name: str = "base"
    variants: list[dict[str, Value]] = []
    factors: dict[str, list[Value]] = {}
