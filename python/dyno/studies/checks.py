"""What is wrong with a study, as far as that can be told before anything runs.

What an option, setting, layout or target's ability has to say is asked of the plans and jobs of its
runs (``dyno.runner.study``); here is what only the study knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dyno import targets
from dyno.errors import TargetError, UsageError
from dyno.statistics.paired import FEWEST_PAIRS
from dyno.studies import metrics
from dyno.studies.earlier import Noise
from dyno.studies.model import Study, Variant

FEW_PAIRS = 5
"""Below it 95 % intervals are wide, and few shifts are found."""
_WORDS = {"source", "question", "design", "rule", "misleads", "time_limit_s", "early_stop"}
"""What of a study may change without another outcome."""


def require(study: Study) -> None:
    """Refuses what contradicts itself.

    Raises:
        UsageError: With the reason and a way out.
    """
    if study.pairs < 2:
        raise UsageError("One pair of runs has no interval: give two at least, better five.")
    for variant in study.variants:
        reason = (
            _against_figures(study, variant)
            or _against_reset(study, variant)
            or _against_data(study, variant)
        )
        if reason:
            raise UsageError(f"'{variant.name}': {reason}")


def _against_figures(study: Study, variant: Variant) -> str:
    """A figure that no run of the variant has, of those that are asked about."""
    known = metrics.had_by(variant.workload, variant.verb)
    lacking = next(
        (name for name in (*study.headline, *study.exploratory) if name not in known), ""
    )
    if not lacking:
        return ""
    what = f"a {variant.verb} of {variant.workload}"
    return f"{what} has no {lacking}. Known for it: {', '.join(known)}."


def _against_reset(study: Study, variant: Variant) -> str:
    reset = study.reset
    if variant.workload == "io":
        return (
            ""
            if reset == "nothing"
            else f'reset = "{reset}" is of databases; storage has none. Use reset = "nothing".'
        )
    if reset in {"restart", "cold"} and variant.on_server:
        return (
            'only an embedded server is started again before each run; use reset = "nothing" or '
            '"reload".'
        )
    if reset == "cold" and variant.kind == "oltp":
        return (
            'reset = "cold" is for queries: transactions warm the caches before they are measured. '
            'Use "restart" or "reload".'
        )
    if reset == "reload" and variant.scale is None:
        return 'reset = "reload" needs a scale: nothing is loaded. Use "restart" or "nothing".'
    return ""


def _against_data(study: Study, variant: Variant) -> str:
    if variant.workload == "io":
        return "" if variant.target else "base.target is missing: the folder, file or device."
    if variant.scale is None and variant.embedded:
        return "scale is missing, without which no data is loaded into its private engine."
    loading = any(one.target == variant.target and one.scale for one in study.variants)
    if variant.scale is None and loading:
        return "scale is missing: other variants load other data into the same database."
    if variant.scale is None and variant.load:
        return "options of the load without a scale: nothing is loaded."
    return ""


def require_installed(study: Study) -> None:
    """Refuses a study with an engine that is not there.

    Raises:
        TargetError: Saying what to install.
    """
    for variant in study.variants:
        if variant.workload != "io" and not variant.on_server:
            lacking = targets.lacks(targets.parse(variant.target).name)
            if lacking:
                raise TargetError(f"'{variant.name}': {lacking}")


def warnings(study: Study, noise: Sequence[Noise]) -> list[str]:
    """What a reader should know before it runs, a line each."""
    found: list[str] = []
    if study.pairs < FEWEST_PAIRS:
        found.append(
            f"! {study.pairs} pairs: the intervals have one degree of freedom, and find next to "
            "nothing. Five are better."
        )
    elif study.pairs < FEW_PAIRS:
        found.append(f"! {study.pairs} pairs: the intervals will be wide. Five are better.")
    found += [one.words(study) for one in noise]
    if not noise:
        first = study.variants[0]
        found.append(
            f"How many pairs a margin of {study.margin:g} % takes is not known here yet; "
            + (
                f"`dyno study aa --workload {first.workload} --target {first.target}` measures it."
                if first.target
                else "`dyno study aa` measures it."
            )
        )
    return found


def differences(begun: Study, asked: Study) -> list[str]:
    """Where a study that is to go on is another than the one that was begun, in words."""
    before, now = begun.model_dump(mode="json"), asked.model_dump(mode="json")
    found = [
        f"{name} {_short(before[name])}, now {_short(now[name])}"
        for name in before
        if name not in {"variants", *_WORDS} and before[name] != now[name]
    ]
    return [*found, *_variants(begun.variants, asked.variants)]


def _variants(begun: Iterable[Variant], asked: Iterable[Variant]) -> list[str]:
    old, new = ({one.name: one.model_dump() for one in many} for many in (begun, asked))
    found = [f"variant '{name}' is gone" for name in old if name not in new]
    found += [f"variant '{name}' is new" for name in new if name not in old]
    found += [
        f"'{name}' has {part} {_short(old[name][part])}, now {_short(new[name][part])}"
        for name in old
        if name in new
        for part in old[name]
        if old[name][part] != new[name][part]
    ]
    if not found and list(old) != list(new):
        found.append("the order of the variants")
    return found


def _short(value: object) -> str:
    if isinstance(value, dict):
        items = ", ".join(f"{key}={one}" for key, one in value.items())  # pyright: ignore[reportUnknownVariableType]
        return items or "nothing"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "nothing"  # pyright: ignore[reportUnknownArgumentType]
    return "nothing" if value is None or value == "" else str(value)
