"""Whether this machine is busy by itself, for tests whose result other work may change."""

from __future__ import annotations

import time

from dyno.stages.observe.cpu import CpuProbe

LEAST_PERCENT = 10.0
"""CPU of all CPUs that others must use to be an excuse: half of what disturbs a run."""


def others_work() -> bool:
    """Whether other processes or the hypervisor use the CPU, while this test does nothing."""
    probe = CpuProbe()
    probe.read(0)
    time.sleep(1)  # the second that is measured
    found = {one.metric: one.value for one in probe.read(0)}
    return found["busy"] + found["steal"] >= LEAST_PERCENT
