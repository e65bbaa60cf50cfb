"""Rates of a certificate. TB are 10^12 bytes, MB 10^6. Formulas: method of Fast Track."""

from __future__ import annotations


def per_tb(per_hour: float, database_tb: float) -> float:
    """Queries per hour and TB: the completed rate, divided by the size of the database.

    Args:
        per_hour: Completed queries per hour.
        database_tb: User data in TB, above 0.
    """
    return per_hour / database_tb


def measured_mbps(physical: float, logical: float) -> float:
    """Measured I/O throughput in MB/s: the mean of physical and logical scan rate."""
    return (physical + logical) / 2


def per_core(logical: float, cores: float) -> float:
    """Consumption rate of a core, in MB/s: logical MB per second of CPU time.

    Args:
        logical: Logical scan rate, MB/s.
        cores: CPUs in use: CPU seconds per second, above 0.
    """
    return logical / cores


def relative(found: float, reference: float) -> float:
    """Relative throughput in %, 100 for the reference; both in queries/h/TB."""
    return 100 * found / reference
