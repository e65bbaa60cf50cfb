"""The content of a certificate, as recorded in its bundle."""

from __future__ import annotations

from pydantic import Field

from dyno.bundle.model import Model, Outcome
from dyno.certificates.bom import Bom
from dyno.certificates.figures import Figures
from dyno.certificates.reference import Reference

FORMAT = 1


class Volume(Model):
    """A volume of a database: its role, place and device."""

    target: str
    role: str
    mount_point: str = ""
    filesystem: str = ""
    device: str = ""
    model: str = ""
    raid: str = ""
    size_bytes: int | None = None
    numa_node: str = ""
    firmware: str = ""


class Configuration(Model):
    """A machine with its volumes.

    Attributes:
        facts: Term and text, in order; unknown facts are named so.
    """

    facts: tuple[tuple[str, str], ...]
    volumes: tuple[Volume, ...] = ()


class Certificate(Model):
    """A certificate.

    Attributes:
        number: The user's, or one made from the run.
        date: Start of the run, as ``2026-11-26``.
        dyno: The version that measured.
        members: SHA-256 of each measured file of the bundle.
    """

    format: int = FORMAT
    number: str
    date: str
    run: str
    dyno: str
    verdict: Outcome | None
    figures: Figures
    configuration: Configuration
    reference: Reference | None = None
    bill: Bom | None = None
    notices: tuple[str, ...] = ()
    members: dict[str, str] = Field(default_factory=dict)
