"""Load studies: each run is a load from scratch."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dyno import workloads
from dyno.accelerate.attach import leftover
from dyno.contracts.databases import home_of
from dyno.errors import UsageError
from dyno.studies.metrics import METRICS, owner
from dyno.studies.model import Reset, Variant, Verb
from dyno.workspace import engine_folders, places


def require(variants: Iterable[Variant], reset: Reset | None) -> None:
    """Rejects what does not apply to a load.

    Raises:
        UsageError: With the option to remove.
    """
    for variant in variants:
        if variant.verb != "load":
            continue
        if reset in {"cold", "reload"}:
            raise UsageError(f'verb = "load" always starts from scratch; remove reset = "{reset}".')
        if variant.workload == "io" or variant.scale is None or len(variant.members) > 1:
            raise UsageError(
                f'verb = "load" needs one database workload ({" or ".join(workloads.names())}) '
                "and a scale."
            )
        if (home := home_of(variant.workload)) != variant.workload:
            raise UsageError(
                f'verb = "load" measures the tables of one workload, and {variant.workload} uses '
                f'those of {home}: use workload = "{home}".'
            )
        if variant.run:
            raise UsageError(
                f'verb = "load" runs no workload; remove run.{next(iter(variant.run))}.'
            )
        if variant.load.get("databases", 1) != 1:
            raise UsageError('verb = "load" measures one load per run; remove load.databases.')


def require_metrics(names: Iterable[str], verb: Verb) -> None:
    """Rejects metrics that the verb's bundles lack: loads and runs have different metrics.

    Raises:
        UsageError: With the available metrics.
    """
    other = {"run": "load", "load": "run"}[verb]
    wrong = next((name for name in names if owner(name).verb == other), None)
    if wrong is not None:
        raise UsageError(
            f"'{wrong}' is a metric of a {other}, but base.verb is '{verb}'. Known for it: "
            f"{', '.join(name for name, one in METRICS.items() if one.verb != other)}."
        )


def remove_engines(out: Path) -> None:
    """Removes the private engines of an output folder, including their files on other volumes.

    Raises:
        TargetError: If something cannot be removed.
    """
    leftover.detach_all(out / engine_folders.FOLDER)
    for home in engine_folders.homes(out)[0]:
        places.release(home.resolve())
        engine_folders.remove(home)
