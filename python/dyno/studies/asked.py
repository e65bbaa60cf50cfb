"""The load and run plans of a variant."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dyno.errors import UsageError, nearest
from dyno.plans.elsewhere import Elsewhere
from dyno.plans.fields import Plan, made
from dyno.plans.loading import LoadingPlan
from dyno.plans.run import RunPlan
from dyno.plans.several import NAMED
from dyno.plans.storage import WAYS, StoragePlan
from dyno.studies.model import Reset, Study, Value, Variant

_THE_STUDYS = {
    *("json", "out", "quiet", "yes", "help", "target", "seed", "set", "limit", "scale", "replace"),
    *("resume", "dry-run", "fio", "profiles", "destroy", "settings", "alone", "repeat"),
}
"""Options that ``load`` and ``run`` must not have: the study sets them, or they prompt a user."""


def loads(variant: Variant, study: Study, out: Path | None) -> list[LoadingPlan]:
    """The load plans, one for each workload; none without a scale, or if each run is a load.

    Shared data is loaded with the settings that all of its variants have, so the order of variants
    does not affect the data.

    Raises:
        UsageError: If an option is unknown or invalid.
    """
    if variant.workload == "io" or variant.scale is None or variant.verb == "load":
        return []
    shared = variant.model_copy(update={"settings": study.shared_settings(variant), "limits": {}})
    return [_load(shared, word, out) for word in shared.members]


def run(
    variant: Variant, reset: Reset, seed: int, out: Path | None
) -> RunPlan | StoragePlan | LoadingPlan:
    """The plan of one run.

    Args:
        variant: The variant to run.
        reset: The reset before the run.
        seed: The same for all runs of a pair, so that they draw the same parameters.
        out: The folder of its data and bundles; None for display only.

    Raises:
        UsageError: If an option is unknown or invalid.
    """
    if variant.verb == "load":
        return _load(variant, variant.workload, out)
    values = {**_limits(variant), **_place(out)}
    if variant.workload == "io":
        own = _options(variant.run, StoragePlan)
        return made(StoragePlan, {"volumes": shlex.split(variant.target), **own, **values})
    return made(RunPlan, {
        "workload": variant.workload,
        "target": variant.target,
        "seed": seed,
        # Refuses data that somebody else has loaded there meanwhile.
        **_scale(variant),
        **_options(variant.run, RunPlan),
        **_settings(variant),
        **values,
        **({"cold": True} if reset == "cold" else {}),
    })  # fmt: skip


def typed(variant: Variant, study: Study) -> list[str]:
    """The commands of its load and its first run."""
    found = [*loads(variant, study, None), run(variant, study.reset, study.seed, None)]
    return [plan.command for plan in found]


def _load(variant: Variant, workload: str, out: Path | None) -> LoadingPlan:
    return made(LoadingPlan, {
        "workload": workload,
        "target": variant.target,
        "scale": variant.scale_of(workload),
        **_options(variant.load, LoadingPlan),
        **_settings(variant),
        **_limits(variant),
        "replace": True,
        **_place(out),
    })  # fmt: skip


def _scale(variant: Variant) -> dict[str, Any]:
    """The scales of its workloads; one value if all have the same."""
    if variant.scale is None:
        return {}
    if not variant.scales:
        return {"scale": variant.scale}
    return {"scale": {word: variant.scale_of(word) for word in variant.members}}


def require_known(variant: Variant) -> None:
    """Rejects unknown options, and options that a variant cannot set.

    Raises:
        UsageError: With the option and, if it is unknown, the nearest one.
    """
    runs = StoragePlan if variant.workload == "io" else RunPlan
    for part, kind, given in (("load", LoadingPlan, variant.load), ("run", runs, variant.run)):
        known = sorted(kind.option_words() - _THE_STUDYS)
        for name in given:
            option = name.replace("_", "-")
            if option in _THE_STUDYS:
                raise UsageError(
                    f"Variant '{variant.name}': {part}.{name} is set by the study, or is not "
                    "available in studies."
                )
            if option not in known:
                raise UsageError(
                    f"Variant '{variant.name}': unknown option {part}.{name}. "
                    f"{nearest(option, known)}"
                )


def _options(given: Mapping[str, Value], kind: type[Plan]) -> dict[str, Any]:
    """Converts the options of a section to plan values, without flags that are off anyway."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        field = name.replace("-", "_")
        if value is False and field not in kind.negated:
            continue
        if kind is StoragePlan and field in WAYS:
            found["how"] = (*found.get("how", ()), field)
        elif field in Elsewhere.model_fields or (field in NAMED and "=" in str(value)):
            found[field] = str(value).split()
        elif field not in kind.model_fields and field.startswith("no_"):
            found[field.removeprefix("no_")] = False
        else:
            found[field] = "users" if field == "find_max" and value is True else value
    return found


def _settings(variant: Variant) -> dict[str, Any]:
    return _words("settings", variant.settings)


def _limits(variant: Variant) -> dict[str, Any]:
    return _words("limits", variant.limits)


def _words(name: str, given: Mapping[str, Value]) -> dict[str, Any]:
    return {name: [f"{word}={value}" for word, value in given.items()]} if given else {}


def _place(out: Path | None) -> dict[str, Any]:
    return {} if out is None else {"out": out}
