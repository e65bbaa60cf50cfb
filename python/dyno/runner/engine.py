"""Engine settings and limits. They are validated before anything changes."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from dyno import targets
from dyno.config import settings
from dyno.config.settings import Setting
from dyno.confinement.limits_asked import memory_bytes
from dyno.confinement.run import Confinement, confine
from dyno.contracts import tuning
from dyno.contracts.target import Limits, TargetUrl
from dyno.errors import UsageError
from dyno.host.cgroup import cgroup_facts
from dyno.host.files import ROOT
from dyno.host.limits import usable_memory_bytes
from dyno.host.memory import memory_facts
from dyno.plans.engine import Bounds, Engine
from dyno.workspace import places
from dyno.workspace.engine_folders import home_of


def settings_of(asked: Engine, url: TargetUrl, confinement: Confinement | None) -> list[Setting]:
    """Returns the settings for the target at ``url``.

    If the run has limits, memory settings are relative to the memory limit, not to the machine.

    Raises:
        UsageError: If a setting or value is invalid, or the target does not support the setting.
    """
    if not asked.settings and asked.settings_file is None:
        return []
    here = not urlsplit(url.text).hostname
    memory = _memory_bytes() if here else None
    if memory is not None and confinement is not None:
        memory = memory_bytes(confinement.asked, memory)
    wanted = settings.parse(asked.settings, asked.settings_file, memory)
    tuning.require(url, wanted)
    tuning.tune(targets.open_target(url, asked.out, Limits(1 << 30, 1)), wanted)  # checks bounds
    return wanted


def confinement_of(asked: Bounds, url: TargetUrl) -> Confinement | None:
    """Returns the limits of the engine at ``url``.

    Raises:
        UsageError: If they are invalid, Dyno does not start the engine, or permission is missing.
    """
    if not asked.limits:
        return None
    return _confinement(asked, url)


def changeable(asked: Bounds, url: TargetUrl) -> Confinement | None:
    """Returns the limits of the engine at ``url``, with one on its CPU that can be changed.

    Raises:
        UsageError: As ``confinement_of``, or if the engine is no private server.
    """
    if targets.limited(url) != "server":
        raise UsageError(f"--confirm-limit requires a server; {url.name} runs in Dyno's process.")
    named = {text.partition("=")[0].strip() for text in asked.limits}
    if "cpus" in named:
        raise UsageError("--confirm-limit and --limit cpus cannot be combined; use --limit cpu=N.")
    extra = () if "cpu" in named else (f"cpu={len(os.sched_getaffinity(0))}",)
    return _confinement(asked.model_copy(update={"limits": (*asked.limits, *extra)}), url)


def _confinement(asked: Bounds, url: TargetUrl) -> Confinement | None:
    where = targets.limited(url)
    embedded = url.scheme == "embedded"
    out = asked.out
    own = places.own(home_of(out, url.name).resolve())  # of an earlier load
    given = [] if embedded else targets.open_target(url, out, Limits(1, 1)).data_paths()
    paths = [out, *own] if embedded else given
    return _confined(asked, where == "process", paths)


def confinement_of_volumes(asked: Bounds, paths: list[Path]) -> Confinement | None:
    """Returns the limits of the storage engine on volumes.

    Raises:
        UsageError: If they are invalid or permission is missing.
    """
    return _confined(asked, True, paths) if asked.limits else None


def _confined(asked: Bounds, shared: bool, paths: list[Path]) -> Confinement | None:
    where = "process" if shared else "server"
    return confine(asked.limits, where, paths, memory_facts(ROOT)["total_bytes"])


def _memory_bytes() -> int | None:
    """Returns the memory that this process may use, in bytes."""
    return usable_memory_bytes({"memory": memory_facts(ROOT), "cgroup": cgroup_facts(ROOT)})
