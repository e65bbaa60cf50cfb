"""Checks a study before anything runs.

``dyno.runner.study`` checks options, settings, layouts and targets through the plans of the runs;
this module checks the study itself.
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
"""Below it, 95 % intervals are wide and the power is low."""
_WORDS = {"source", "question", "design", "rule", "misleads", "time_limit_s", "early_stop"}
"""Parts of a study that may change on resume."""


def require(study: Study) -> None:
    """Rejects contradictory studies.

    Raises:
        UsageError: With the reason and a way out.
    """
    if study.pairs < 2:
        raise UsageError("One pair of runs has no interval. Use at least 2 pairs, better 5.")
    for variant in study.variants:
        reason = (
            _against_metrics(study, variant)
            or _against_reset(study, variant)
            or _against_data(study, variant)
        )
        if reason:
            raise UsageError(f"'{variant.name}': {reason}")


def _against_metrics(study: Study, variant: Variant) -> str:
    """A requested metric that no run of the variant has."""
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
            else f'reset = "{reset}" applies to databases only. Use reset = "nothing".'
        )
    if reset in {"restart", "cold"} and variant.on_server:
        return (
            'only an embedded server can restart before each run. Use reset = "nothing" or '
            '"reload".'
        )
    if reset == "cold" and variant.kind == "oltp":
        return (
            'reset = "cold" is for queries: the warm-up of transactions fills the caches. Use '
            '"restart" or "reload".'
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
    """Rejects a study with an engine that is not installed.

    Raises:
        TargetError: Saying what to install.
    """
    for variant in study.variants:
        if variant.workload != "io" and not variant.on_server:
            lacking = targets.lacks(targets.parse(variant.target).name)
            if lacking:
                raise TargetError(f"'{variant.name}': {lacking}")


def warnings(study: Study, noise: Sequence[Noise]) -> list[str]:
    """Warnings before the start, one per line."""
    found: list[str] = []
    if study.pairs < FEWEST_PAIRS:
        found.append(
            f"! {study.pairs} pairs: the intervals have one degree of freedom and almost no power. "
            "Use 5 pairs."
        )
    elif study.pairs < FEW_PAIRS:
        found.append(f"! {study.pairs} pairs: the intervals will be wide. Use 5 pairs.")
    found += [one.words(study) for one in noise]
    if not noise:
        first = study.variants[0]
        found.append(
            f"The number of pairs for a margin of {study.margin:g} % is unknown on this machine; "
            + (
                f"`dyno study aa --workload {first.workload} --target {first.target}` measures it."
                if first.target and len(first.members) == 1
                else "`dyno study aa` measures it."
            )
        )
    return found


def differences(begun: Study, asked: Study) -> list[str]:
    """The differences between a study to resume and the one in its folder."""
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
