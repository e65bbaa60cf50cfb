"""Whether limits can be had, before anything runs: for those who plan several runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dyno import targets
from dyno.confinement.run import confine


def require(target: str, workload: str, limits: Mapping[str, object], out: Path) -> None:
    """Refuses limits that a run at ``target`` would refuse.

    Args:
        target: URL of the database; of the workload ``io`` the volumes, with blanks between them.
        workload: What will run there.
        limits: Values by word.
        out: The folder of private engines.

    Raises:
        UsageError: One line on what cannot be.
    """
    if not limits:
        return
    texts = [f"{word}={value}" for word, value in limits.items()]
    if workload == "io":
        paths = [Path(text.partition("=")[2] or text) for text in target.split()]
        confine(texts, "process", paths)
        return
    url = targets.parse(target)
    confine(texts, targets.limited(url), [out])
