"""CPU governor: clocks do not wait for load."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import LINUX
from dyno.decide.advise.system import System, inapplicable


def _check(system: System) -> Iterable[Verdict]:
    if system.host.get("cpu", "governor") is None and "governor" in (system.host.get("cpu") or {}):
        raise inapplicable("this machine does not scale its clocks, or leaves it to its host")
    found = system.host.text("cpu", "governor")
    yield held(
        found == "performance", found, "performance", "cpupower frequency-set -g performance"
    )


RULE = Rule(
    name="cpu-governor",
    area="cpu",
    scope="machine",
    severity="medium",
    looks_at="/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
    wants="performance on every CPU",
    why="Other governors raise the clock only after load arrives, so short transactions on "
    "half-idle CPUs run at a low frequency.",
    source=f"{LINUX}, admin-guide/pm/cpufreq",
    check=_check,
)
