"""Settings and limits of an engine, checked before anything is touched."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from dyno import targets
from dyno.config import settings
from dyno.config.settings import Setting
from dyno.confinement.limits_asked import memory_bytes
from dyno.confinement.run import Confinement, confine
from dyno.contracts import tuning
from dyno.contracts.target import Limits, TargetUrl
from dyno.host.cgroup import cgroup_facts
from dyno.host.files import ROOT
from dyno.host.limits import usable_memory_bytes
from dyno.host.memory import memory_facts
from dyno.plans.engine import Bounds, Engine


def settings_of(asked: Engine, url: TargetUrl, confinement: Confinement | None) -> list[Setting]:
    """What is asked of the target at ``url``.

    Within limits of the run its memory is what they leave of the machine's.

    Raises:
        UsageError: If a word or value is wrong, or the target lacks the word.
    """
    if not asked.settings and asked.settings_file is None:
        return []
    here = not urlsplit(url.text).hostname
    memory = _memory_bytes() if here else None
    if memory is not None and confinement is not None:
        memory = memory_bytes(confinement.asked, memory)
    wanted = settings.parse(asked.settings, asked.settings_file, memory)
    tuning.require(url, wanted)
    tuning.tune(targets.open_target(url, asked.out, Limits(1 << 30, 1)), wanted)  # its own bounds
    return wanted


def confinement_of(asked: Bounds, url: TargetUrl) -> Confinement | None:
    """The limits of the engine at ``url``.

    Raises:
        UsageError: If they make no sense, the engine is not Dyno's, or this process may not.
    """
    if not asked.limits:
        return None
    where = targets.limited(url)
    embedded = url.scheme == "embedded"
    out = asked.out
    paths = [out] if embedded else targets.open_target(url, out, Limits(1, 1)).data_paths()
    return _confined(asked, where == "process", paths)


def confinement_of_volumes(asked: Bounds, paths: list[Path]) -> Confinement | None:
    """The limits of Dyno's own storage engine on volumes.

    Raises:
        UsageError: If they make no sense, or this process may not.
    """
    return _confined(asked, True, paths) if asked.limits else None


def _confined(asked: Bounds, shared: bool, paths: list[Path]) -> Confinement | None:
    where = "process" if shared else "server"
    return confine(asked.limits, where, paths, memory_facts(ROOT)["total_bytes"])


def _memory_bytes() -> int | None:
    """What this process may use of the machine's memory."""
    return usable_memory_bytes({"memory": memory_facts(ROOT), "cgroup": cgroup_facts(ROOT)})
