"""A variant as the command lines that make its data and its runs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from dyno.studies.model import Reset, Study, Value, Variant


def load(variant: Variant, study: Study, out: Path) -> list[str]:
    """The words of the load; none where nothing is loaded: without a scale, or before a load.

    Data that variants share is loaded with the settings that all of them have: whose turn comes
    first must not shape what the others run on.
    """
    if variant.workload == "io" or variant.scale is None or variant.verb == "load":
        return []
    return _load(variant.model_copy(update={"settings": study.shared_settings(variant)}), out)


def _load(variant: Variant, out: Path) -> list[str]:
    return [
        *("load", variant.workload, "--target", variant.target, "--scale", f"{variant.scale:.15g}"),
        *_options(variant.load),
        *_settings(variant),
        *(_limits(variant) if variant.verb == "load" else []),
        *("--replace", "--json", "--quiet", "--out", str(out)),
    ]


def run(variant: Variant, reset: Reset, seed: int, out: Path) -> list[str]:
    """The words of one run.

    Args:
        variant: What to run.
        reset: What it begins with.
        seed: The same for all runs of a pair, so that they draw the same parameters.
        out: The folder of its data and bundles.
    """
    if variant.verb == "load":
        return _load(variant, out)
    tail = ["--json", "--quiet", "--out", str(out)]
    if variant.workload == "io":
        return [
            *("io", *shlex.split(variant.target)),
            *_options(variant.run),
            *_limits(variant),
            *tail,
        ]
    return [
        *("run", variant.workload, "--target", variant.target, "--seed", str(seed)),
        # What somebody else has loaded there meanwhile is refused.
        *(["--scale", f"{variant.scale:.15g}"] if variant.scale is not None else []),
        *_options(variant.run),
        *_settings(variant),
        *_limits(variant),
        *(["--cold"] if reset == "cold" else []),
        *tail,
    ]


def typed(variant: Variant, study: Study) -> list[str]:
    """Its load and its first run as a person would type them."""
    found = [load(variant, study, Path()), run(variant, study.reset, study.seed, Path())]
    return [shlex.join(["dyno", *_without(words)]) for words in found if words]


def _without(words: list[str]) -> list[str]:
    """Without what serves the study alone: where its files go, and what it reads."""
    place = words.index("--out")
    rest = [*words[:place], *words[place + 2 :]]
    return [word for word in rest if word not in ("--json", "--quiet")]


def _options(options: Mapping[str, Value]) -> list[str]:
    words: list[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            words.append(flag)
        elif value is not False:
            words += [flag, f"{value:.15g}" if isinstance(value, float) else str(value)]
    return words


def _settings(variant: Variant) -> list[str]:
    return [word for key, value in variant.settings.items() for word in ("--set", f"{key}={value}")]


def _limits(variant: Variant) -> list[str]:
    return [word for key, value in variant.limits.items() for word in ("--limit", f"{key}={value}")]
