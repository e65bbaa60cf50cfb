"""``--databases``: several complete sets of a workload's tables, as verbs are asked for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dyno.databases import names, split
from dyno.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from dyno.targets.base import Loaded, Target, TargetUrl

__all__ = ["loaded_in_all", "names", "require_databases"]


def require_databases(url: TargetUrl, out: Path, count: int) -> None:
    """Refuses several databases where the target has but one, before anything is started.

    Raises:
        UsageError: With the reason.
    """
    from dyno import targets
    from dyno.targets import several
    from dyno.targets.base import Limits

    if count > 1:
        several.require(targets.open_target(url, out, Limits(1 << 30, 1)), count)


def loaded_in_all(
    target: Target, workload: str, scale: float | None, count: int
) -> dict[str, Loaded]:
    """What is loaded in each of the first ``count`` databases, by name; the same scale in all.

    Raises:
        UsageError: If one lacks data, or has another scale than the first.
        TargetError: If a load did not end.
    """
    from dyno.cli import _stages as stages

    found: dict[str, Loaded] = {}
    for name in names(workload, count):
        number = split(name)[1]
        if number > 1 and target.loaded(name) is None:
            wanted = found[workload].scale
            raise UsageError(
                f"{target.name} holds no database {number} of {workload}. Load all of them: dyno "
                f"load {workload} --target {target.url.redacted} --scale {wanted:g} "
                f"--databases {count} --replace"
            )
        found[name] = stages.loaded_data(target, name, scale)
        if found[name].scale != found[workload].scale:
            raise UsageError(
                f"Database {number} of {workload} in {target.name} has scale "
                f"{found[name].scale:g}, the first {found[workload].scale:g}. Load all of them "
                f"again: give --databases {count} --replace to dyno load."
            )
    return found
