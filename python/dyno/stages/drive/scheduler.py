"""How the kernel's scheduler treats driver threads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from dyno import targets
from dyno.contracts.target import Target
from dyno.runtime.engine_calls import Prepare


def yield_to_server(plan: Mapping[str, Any], *, server: bool) -> dict[str, Any]:
    """Lets the server's processes go on when an answer wakes a driver thread: ``SCHED_BATCH``.

    On a machine that driver and server share, a driver that preempts the server at each answer
    makes both switch once a statement; one that waits its turn finds many answers at once
    (``docs/decisions/0012``). That is right only where no start is due at a moment: in a closed
    loop without think times. An engine within this process has threads of its own, which would
    take it over.

    It is set for the calling thread, and taken over by the driver threads that it starts.

    Args:
        plan: The driver's plan.
        server: Whether the target is a server (``targets.is_server``).

    Returns:
        ``yields``: whether it is so; part of the driver's outcome.
    """
    loop = plan["loop"]
    wanted = server and loop["kind"] == "closed" and not loop.get("think")
    return {"yields": wanted and _batch()}


def gives_way(target: Target) -> Prepare:
    """Prepares the threads that drive a target (see :func:`yield_to_server`)."""
    return partial(yield_to_server, server=targets.is_server(target.name))


def _batch() -> bool:
    if not hasattr(os, "SCHED_BATCH"):  # of Linux alone
        return False
    try:
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    except OSError:  # a sandbox forbids it: the usual policy is right too
        return False
    return True
