"""A study as it is written: TOML, read strictly.

question = "Does more memory help?"
design = "…"                         # how it is done, in words
rule = "…"                           # when the answer is yes
misleads = "…"                       # how it can mislead
pairs = 5                            # how often each variant runs
margin = 2.0                         # percent; a shift within it does not matter
headline = ["tps"]                   # what the answer is about; see `dyno study metrics`
exploratory = ["p95_ms"]             # what is looked at as well
criteria = ["p95_ms.new_order < 2000", "query_s.* < 60"]   # who breaks one cannot win
reset = "restart"                    # or nothing, cold, reload: before each run; else, where the
                                     # server is Dyno's own, reload of transactions and restart of
                                     # queries, and nothing where it is not
replace = 2                          # invalid runs made again, at most
time_limit = "1h"

[base]                               # what all variants have in common
workload = "tpcc"                    # or tpch, io
verb = "run"                         # or load: each run is a load from nothing
target = "embedded:postgresql"
scale = 2

[base.load]                          # options of `dyno load`, without dashes
streams = 2

[base.run]                           # options of `dyno run`, or of `dyno io`
users = 8
duration = "20s"

[base.settings]                      # neutral words, as of --set
memory = "1GB"

[base.limits]                        # words of --limit: what the engine may have of the machine
cpu = 2

[[variants]]                         # what differs, by path
name = "more"
"settings.memory" = "4GB"

[factors]                            # or instead: every combination of these levels
"run.users" = [1, 2, 4, 8]
"settings.memory" = ["1GB", "4GB"]
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import Field

from dyno import presets, settings, strict, studies, targets
from dyno.confinement import words as confinement
from dyno.errors import UsageError, nearest, unknown
from dyno.strict import Strict
from dyno.studies import criteria, loads
from dyno.studies.metrics import METRICS
from dyno.studies.model import DEFAULT_MARGIN, DEFAULT_PAIRS, Reset, Study, Value, Variant, Verb
from dyno.studies.overrides import Overrides
from dyno.studies.overrides import plain as spelling
from dyno.units import parse_seconds

WORKLOADS = ("tpcc", "tpch", "io")
PARTS = ("load", "run", "settings", "limits")
_PLAIN = ("workload", "target", "scale")
MOST_VARIANTS = 64


class Base(Strict):
    """What all variants have in common."""

    workload: str
    verb: Verb = "run"
    target: str | None = None
    scale: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    load: dict[str, Value] = {}
    run: dict[str, Value] = {}
    settings: dict[str, Value] = {}
    limits: dict[str, Value] = {}


class StudySpec(Strict):
    """A whole study."""

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
    base: Base
    base_name: str = "base"
    variants: list[dict[str, Value]] = []
    factors: dict[str, list[Value]] = {}


def read(text: str, instead: Overrides | None = None) -> Study:
    """The study that ``text`` names: a shipped one, or the path of a file.

    Args:
        text: Its name or path.
        instead: What the command line changes of it.

    Raises:
        UsageError: If there is none of that name, or it cannot be read, or makes no sense.
    """
    name, source, content = presets.find(studies.FOLDER, "study", text)
    what = f"Study {name if source == 'preset' else text}"
    spec = strict.parse(StudySpec, what, content)
    return build(name, source, what, spec if instead is None else _overridden(spec, instead))


def _overridden(spec: StudySpec, instead: Overrides) -> StudySpec:
    """The specification with another base, and what else the command line says.

    Raises:
        UsageError: If the variants differ in what is to be changed for all of them.
    """
    changes = instead.changes()
    differ = {spelling(path) for one in (spec.factors, *spec.variants) for path in one}
    for path in changes:
        if spelling(path) in differ:
            raise UsageError(
                f"{path} is what the variants differ in; it cannot be the same for all of them."
            )
    told = {
        "pairs": instead.pairs,
        "margin": instead.margin,
        "time_limit": instead.time_limit,
        "reset": instead.reset,
    }
    given = {name: value for name, value in told.items() if value is not None}
    return spec.model_copy(update={"base": rebased(spec.base, changes), **given})


def rebased(base: Base, changes: Mapping[str, Value]) -> Base:
    """The base with what the paths say.

    Raises:
        UsageError: For a path that is none; the nearest is offered.
    """
    plain, parts = _applied(base, changes)
    return base.model_copy(update={**plain, **parts})


def build(name: str, source: str, what: str, spec: StudySpec) -> Study:
    """The study that a specification says.

    Raises:
        UsageError: If it makes no sense.
    """
    if bool(spec.variants) == bool(spec.factors):
        raise UsageError(f"{what}: give either [[variants]] or [factors].")
    _require("metric", (*spec.headline, *spec.exploratory), METRICS, what)
    _require("workload", (spec.base.workload,), WORKLOADS, what)
    try:
        loads.require_figures((*spec.headline, *spec.exploratory), spec.base.verb)
        made = _factorial(spec) if spec.factors else _named(spec)
        loads.require(made, spec.reset)
        kinds = {variant.workload for variant in made}
        limits = [criteria.parse(text, kinds) for text in spec.criteria]
        seconds = None if spec.time_limit is None else parse_seconds(spec.time_limit)
    except UsageError as error:
        raise UsageError(f"{what}: {error}") from None
    # What is limited is looked at, too.
    looked_at = dict.fromkeys([*spec.exploratory, *(one.metric for one in limits)])
    repeated = [one.name for place, one in enumerate(made) if one.name in
                {other.name for other in made[:place]}]  # fmt: skip
    if repeated:
        raise UsageError(f"{what}: two variants are named '{repeated[0]}'.")
    if not 2 <= len(made) <= MOST_VARIANTS:
        raise UsageError(f"{what}: it has {len(made)} variants; 2 to {MOST_VARIANTS} can be.")
    return Study(
        name=name,
        source=source,
        question=spec.question,
        design=spec.design,
        rule=spec.rule,
        misleads=spec.misleads,
        variants=tuple(made),
        factors=tuple(spec.factors),
        pairs=spec.pairs,
        margin=spec.margin,
        headline=tuple(spec.headline),
        exploratory=tuple(name for name in looked_at if name not in spec.headline),
        criteria=tuple(one.text for one in limits),
        reset=spec.reset or usual_reset(made),
        replace=spec.replace,
        time_limit_s=seconds,
    )


def usual_reset(variants: Iterable[Variant]) -> Reset:
    """What is done before each run where nothing is said.

    A server that is not Dyno's own is not started again, and storage has none. Transactions leave
    more data than they found, so that each run of them would be slower than the one before: they
    begin with the data as it was after the load.
    """
    made = list(variants)
    if not all(one.workload != "io" and not one.on_server for one in made):
        return "nothing"
    changing = any(one.workload == "tpcc" and one.verb == "run" for one in made)
    keeps = all(one.embedded and one.scale is not None and one.verb == "run" for one in made)
    return "reload" if changing and keeps else "restart"


def _require(kind: str, names: Iterable[str], known: Iterable[str], what: str) -> None:
    for name in names:
        if name not in known:
            raise UsageError(f"{what}: unknown {kind} '{name}'. {nearest(name, known)}")


def changed(base: Base, name: str, changes: dict[str, Value]) -> Variant:
    """The variant that differs from the base in what the paths say.

    Raises:
        UsageError: For a path that is none; the nearest is offered.
    """
    plain, parts = _applied(base, changes)
    if plain["workload"] not in WORKLOADS:
        raise unknown("workload", str(plain["workload"]), WORKLOADS)
    for word in parts["settings"]:
        if word not in settings.WORDS:
            raise UsageError(f"Unknown setting '{word}'. {nearest(word, settings.WORDS)}")
    confinement.parse([f"{word}={value}" for word, value in parts["limits"].items()])
    if not plain["target"] and plain["workload"] != "io":
        raise UsageError("base.target is missing.")
    if targets.redact(str(plain["target"] or "")) != str(plain["target"] or ""):
        # It would be in the study's files and in the process list, run after run.
        raise UsageError(
            f"The target of '{name}' holds a password; leave it to the environment (PGPASSWORD, "
            "MYSQL_PWD) or to the database's own password file."
        )
    scale = plain["scale"]
    number = isinstance(scale, int | float) and not isinstance(scale, bool)
    if scale is not None and not (number and 0 < scale < math.inf):
        raise UsageError(f"scale is {scale!r}; it must be a number above 0.")
    return Variant(
        name=name,
        workload=str(plain["workload"]),
        verb=base.verb,
        target=str(plain["target"] or ""),
        scale=scale,
        load=parts["load"],
        run=parts["run"],
        settings=parts["settings"],
        limits=parts["limits"],
    )


def _applied(
    base: Base, changes: Mapping[str, Value]
) -> tuple[dict[str, Any], dict[str, dict[str, Value]]]:
    """The base's own values and its parts, with what the paths say."""
    plain: dict[str, Any] = {key: getattr(base, key) for key in _PLAIN}
    parts: dict[str, dict[str, Value]] = {part: dict(getattr(base, part)) for part in PARTS}
    for path, value in changes.items():
        part, dot, key = path.partition(".")
        if not dot and path in _PLAIN:
            plain[path] = value
        elif dot and part in PARTS:
            same = next((old for old in parts[part] if spelling(old) == spelling(key)), key)
            parts[part][same] = value
        else:
            known = [*_PLAIN, *(f"{one}." for one in PARTS)]
            raise UsageError(f"'{path}' cannot differ. {nearest(part + dot, known)}")
    return plain, parts


def _named(spec: StudySpec) -> list[Variant]:
    made = [changed(spec.base, spec.base_name, {})]
    for place, changes in enumerate(spec.variants):
        name = changes.get("name")
        if not isinstance(name, str) or not name:
            raise UsageError(f"variants[{place}].name is missing.")
        own = {path: value for path, value in changes.items() if path != "name"}
        if not own:
            raise UsageError(f"The variant '{name}' differs in nothing.")
        made.append(changed(spec.base, name, own))
    return made


def _factorial(spec: StudySpec) -> list[Variant]:
    single = [path for path, levels in spec.factors.items() if len(levels) < 2]
    if single:
        raise UsageError(f'factors."{single[0]}" needs two levels at least.')
    made: list[Variant] = []
    for levels in itertools.product(*spec.factors.values()):
        own = dict(zip(spec.factors, levels, strict=True))
        name = " ".join(_words(own.items()))
        made.append(changed(spec.base, name, own).model_copy(update={"levels": own}))
    return made


def _words(levels: Iterable[tuple[str, Value]]) -> list[str]:
    return [f"{path.rpartition('.')[2]}={value}" for path, value in levels]
