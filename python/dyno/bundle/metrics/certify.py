"""Certificates: the rates of each interval on a target."""

from __future__ import annotations

from dyno.bundle.metrics.base import Estimates, Metric, Scope
from dyno.bundle.model import Phase
from dyno.bundle.phases.certify import CertifyDetail


class Interval(Scope, names=r"certify\.(?P<target>[^./]+)\.(?P<test>[^.]+)"):
    """An interval of a certificate; ``row-combined`` if a run measures both forms of a target."""

    completed = Metric("queries")
    """Queries that ended in the window."""
    failed = Metric("queries")
    queries_per_h = Metric("queries/h")
    physical_mbps = Metric("MB/s")
    """Reads of the devices under the data."""
    physical_peak_mbps = Metric("MB/s")
    """The largest sample of it."""
    logical_mbps = Metric("MB/s")
    """Reads through the engine's buffer manager."""
    cpu_percent = Metric("%")
    """Utilisation of all CPUs of the machine."""
    cores = Metric("CPUs")
    """CPUs that the database used."""

    def __init__(self, target: str | None, test: str | None, part: str | None = None) -> None:
        super().__init__(f"certify.{target}.{part + '-' if part else ''}{test}")

    @classmethod
    def of(cls, phase: Phase[CertifyDetail]) -> Interval:
        """Returns the interval that a phase measures."""
        return cls(phase.target, phase.detail.test, phase.detail.part)

    @staticmethod
    def tests(target: str, known: Estimates) -> list[str]:
        """Returns the intervals of a target, in run order."""
        return known.between(f"certify.{target}.", Interval.completed)
