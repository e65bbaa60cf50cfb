"""Resources: metrics sampled in a measured phase."""

from __future__ import annotations

from typing import Literal, get_args

from dyno.bundle.inside import FILES, SESSIONS, SOURCE, WAITS, Files, Inside
from dyno.bundle.machines import at
from dyno.bundle.metrics.base import Estimates, Metric, Scope

_Basic = Literal[
    "utilisation",
    "queue_length",
    "read_iops",
    "write_iops",
    "read_mbps",
    "write_mbps",
    "read_await",
    "write_await",
]
DEVICE_METRICS: tuple[_Basic, ...] = get_args(_Basic)
"""Those that every version recorded."""

_PerRequest = Literal["read_share", "io_size", "read_size", "write_size"]
DeviceMetric = _Basic | _PerRequest
"""As ``stages.observe.disk`` defines them."""

MEASURED: tuple[DeviceMetric, ...] = (*DEVICE_METRICS, *get_args(_PerRequest))
"""All of them."""

VolumeMetric = DeviceMetric | Literal["iops", "mbps", "fill"]
"""``iops``, ``mbps``: reads and writes. ``fill``: as ``stages.observe.fill`` defines it."""

VOLUME = "volume"
"""The source of metrics by role of the files."""

_PHASE = r"resource\.(?P<phase>[^./]+)(?:/(?P<curve>[^.]+))?"


class Sampled(Scope, names=rf"{_PHASE}\.(?P<source>[^.]+)\.(?P<subject>.+)\.(?P<metric>[^.]+)"):
    """A sampled metric over a phase."""

    mean = Metric(None)
    max = Metric(None)
    min = Metric(None)


class Resources(Scope, names=_PHASE):
    """Metrics sampled in a phase, or in one curve of a storage profile.

    Those of another machine have its name after the phase: ``resource.<phase>@<machine>``.
    """

    samples = Metric()

    def __init__(self, phase: str, curve: str = "", machine: str = "") -> None:
        """Names them.

        Args:
            phase: The phase.
            curve: The curve of a storage profile; empty for the whole phase.
            machine: Another machine that was sampled; empty for this one.
        """
        super().__init__(f"resource.{at(phase, machine)}{f'/{curve}' * bool(curve)}")

    def sampled(self, source: str, subject: str, metric: str) -> Sampled:
        """Returns the scope of a metric as a probe names it."""
        return Sampled(f"{self}.{source}.{subject}.{metric}")

    @property
    def cpu_busy(self) -> Sampled:
        """CPU utilization of all CPUs, in %."""
        return self.sampled("cpu", "host", "busy")

    @property
    def cpu_steal(self) -> Sampled:
        """CPU steal time of all CPUs, in %."""
        return self.sampled("cpu", "host", "steal")

    @property
    def memory_available(self) -> Sampled:
        """Available memory of the machine, in bytes."""
        return self.sampled("memory", "host", "available")

    @property
    def io_pressure(self) -> Sampled:
        """Share of the time in which some task waited for I/O, in %."""
        return self.sampled("pressure", "io", "some")

    def process_cpu(self, whose: Literal["dyno", "server"]) -> Sampled:
        """Returns the CPU usage of processes, in % of one CPU."""
        return self.sampled("process", whose, "cpu")

    def others(self, known: Estimates) -> dict[str, float]:
        """Returns the CPU usage of other processes by name, in % of one CPU."""
        start = f"{self}.others."
        names = [name for name in known.between(start, Sampled.mean) if name.endswith(".cpu")]
        values = {name: known.value(Sampled(f"{start}{name}").mean) for name in names}
        return {name.removesuffix(".cpu"): value for name, value in values.items() if value}

    def device(self, name: str, metric: DeviceMetric) -> Sampled:
        """Returns the scope of a block device metric."""
        return self.sampled("disk", name, metric)

    def volume(self, role: str, metric: VolumeMetric) -> Sampled:
        """Returns the scope of a metric of the devices of a role, such as ``data``."""
        return self.sampled(VOLUME, role, metric)

    def volumes(self, known: Estimates) -> list[str]:
        """Returns the roles with metrics of their own."""
        found = known.between(f"{self}.{VOLUME}.", Sampled.mean)
        used = ".iops"
        return [name.removesuffix(used) for name in found if name.endswith(used)]

    def inside(self, target: str, metric: Inside) -> Sampled:
        """Returns the scope of a metric that a database reports about itself."""
        return self.sampled(SOURCE, target, metric)

    def sessions(self, target: str, known: Estimates) -> dict[str, float]:
        """Returns the average active sessions by ``<class>/<event>``."""
        return self._events(SESSIONS, target, known)

    def waits(self, target: str, known: Estimates) -> dict[str, float]:
        """Returns the average threads in waits, as the server counts them."""
        return self._events(WAITS, target, known)

    def files(self, target: str, known: Estimates) -> list[str]:
        """Returns the roles and files that the server counts, as ``data`` or ``data/db/name``."""
        start, used = f"{self}.{FILES}.{target}/", f".{Files.reads}"
        found = known.between(start, Sampled.mean)
        return [name.removesuffix(used) for name in found if name.endswith(used)]

    def file(self, target: str, name: str, metric: Files) -> Sampled:
        """Returns the scope of a metric of a role or file."""
        return self.sampled(FILES, f"{target}/{name}", metric)

    def _events(self, source: str, target: str, known: Estimates) -> dict[str, float]:
        start = f"{self}.{source}.{target}."
        names = known.between(start, Sampled.mean)
        values = {name: known.value(Sampled(f"{start}{name}").mean) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    def devices(self, known: Estimates) -> list[str]:
        """Returns the names of the sampled devices."""
        found = known.between(f"{self}.disk.", Sampled.mean)
        used = ".utilisation"
        return sorted(name.removesuffix(used) for name in found if name.endswith(used))

    def curves(self, known: Estimates) -> list[str]:
        """Returns the names of the curves with their own samples."""
        return sorted(known.between(f"{self}/", Resources.samples))
