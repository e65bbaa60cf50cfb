"""Names of samples of another machine: the probe's name, ``@`` and the machine's."""

from __future__ import annotations

from typing import NamedTuple


class Source(NamedTuple):
    """The source of a sample.

    Attributes:
        probe: As a probe of this machine names it.
        machine: Empty for this machine.
    """

    probe: str
    machine: str


def at(probe: str, machine: str) -> str:
    """The source of a probe's samples on a machine; empty is this machine."""
    return f"{probe}@{machine}" if machine else probe


def split(source: str) -> Source:
    """The probe and the machine of a source."""
    probe, _, machine = source.partition("@")
    return Source(probe, machine)
