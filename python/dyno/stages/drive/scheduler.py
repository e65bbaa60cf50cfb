"""Scheduling policy of the driver threads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from dyno import targets
from dyno.contracts.target import Target
from dyno.runtime.engine_calls import Prepare


def yield_to_server(plan: Mapping[str, Any], *, server: bool) -> dict[str, Any]:
    """Sets ``SCHED_BATCH``, so that a woken driver thread does not preempt the server.

    If driver and server share a machine, a driver that preempts the server at each answer causes
    two context switches per statement. With ``SCHED_BATCH`` the driver finds many answers at once
    (``docs/decisions/0012``). The policy fits only loads without scheduled starts: closed loops
    without think times. An in-process engine has its own threads, which would inherit the policy.

    The call sets the policy of the calling thread. The driver threads that it starts inherit it.

    Args:
        plan: The driver plan.
        server: Whether the target is a server (``targets.is_server``).

    Returns:
        ``yields``: whether the policy is set; part of the driver outcome.
    """
    loop = plan["loop"]
    wanted = server and loop["kind"] == "closed" and not loop.get("think")
    return {"yields": wanted and _batch()}


def gives_way(target: Target) -> Prepare:
    """Returns the preparation of the driver threads (see :func:`yield_to_server`)."""
    return partial(yield_to_server, server=targets.is_server(target.name))


def _batch() -> bool:
    if not hasattr(os, "SCHED_BATCH"):  # Linux only
        return False
    try:
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    except OSError:  # a sandbox forbids it; the default policy also works
        return False
    return True
