"""``/proc/stat``: where the processors' time went.

Source: proc_pid_stat(5) family, "/proc/stat"; ticks of 1/USER_HZ s, always growing except
``iowait``, which the kernel may set back.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CpuTimes:
    """Ticks since boot.

    Attributes:
        user: Own and guests' code, niced or not (the kernel counts guests in ``user``).
        system: The kernel, with hard and soft interrupts.
        iowait: Idle while a task of this processor waited for a block device.
        steal: Ready to run while the hypervisor ran something else.
        idle: Idle, nothing waiting.
    """

    user: int
    system: int
    iowait: int
    steal: int
    idle: int


@dataclass(frozen=True)
class CpuShares:
    """The same as shares in %, which add up to 100."""

    user: float
    system: float
    iowait: float
    steal: float
    idle: float

    @property
    def busy(self) -> float:
        """Time spent running something here: user and system, in %."""
        return self.user + self.system


def parse_stat(text: str) -> dict[str, CpuTimes]:
    """Times by the kernel's names: ``cpu`` for all of them, ``cpu0`` … for each one online."""
    times: dict[str, CpuTimes] = {}
    for line in text.splitlines():
        name, _, rest = line.partition(" ")
        if not name.startswith("cpu"):
            continue
        # Kernels before 2.6.33 write fewer columns.
        ticks = [int(word) for word in rest.split()[:8]]
        user, nice, system, idle, iowait, irq, softirq, steal = ticks + [0] * (8 - len(ticks))
        times[name] = CpuTimes(user + nice, system + irq + softirq, iowait, steal, idle)
    return times


def shares(before: CpuTimes, after: CpuTimes) -> CpuShares | None:
    """Where the time between two readings went; None if no tick passed."""
    user = max(after.user - before.user, 0)
    system = max(after.system - before.system, 0)
    iowait = max(after.iowait - before.iowait, 0)
    steal = max(after.steal - before.steal, 0)
    idle = max(after.idle - before.idle, 0)
    total = user + system + iowait + steal + idle
    if total == 0:
        return None
    percent = 100.0 / total
    return CpuShares(
        user * percent, system * percent, iowait * percent, steal * percent, idle * percent
    )
