"""Metrics of samples: names with their unit, and what weights their mean."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class Measured(StrEnum):
    """A metric of samples; each family derives from it.

    Attributes:
        unit: The unit of its samples.
        per: The rate that weights its mean, for a mean or a share; empty if time does.
    """

    unit: str
    per: str

    def __new__(cls, name: str, unit: str, per: str = "") -> Self:
        """Makes a metric with its unit."""
        made = str.__new__(cls, name)
        made._value_ = name
        made.unit, made.per = unit, per
        return made
