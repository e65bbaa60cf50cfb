"""A certificate of one or two targets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import AfterValidator

from dyno.config.units import parse_seconds
from dyno.errors import UsageError
from dyno.plans.elsewhere import Elsewhere
from dyno.plans.engine import Engine
from dyno.plans.fields import MOST_SEED, Texts, Time, within

USERS = (1, 1000)

FULL_S, QUICK_S = (60.0, 300.0), (5.0, 20.0)
"""Warm-up and measurement interval, in s."""


def _number(text: str) -> str:
    if not text.isprintable() or not 0 < len(text) <= 60:
        raise ValueError("Use 1 to 60 printable characters.")
    return text


class CertifyPlan(Elsewhere, Engine):
    """A plan for ``dyno certify``.

    Attributes:
        targets: URLs of the databases, one for each form.
        both_forms: Whether to measure both forms of one target: rows and columns.
        scale: The scale that must be loaded, or is loaded if there is no data.
        replace: Whether tables of Dyno's that do not fit are loaded again.
        users: Concurrent users; None for two per CPU.
        duration, warmup: Length of each interval and of its warm-up.
        quick: Short intervals on small data; the certificate is marked.
        timeout: Time limit per query.
        reference: TOML file of the configuration to compare with.
        bom: TOML file with the bill of materials.
        tps: A run of transactions on this configuration, for the cost of a TPS.
        number: Number of the certificate.
        sign: File with the private key to sign with.
        pdf: Whether to make a PDF as well.
    """

    verb: ClassVar[str] = "certify"
    arguments: ClassVar[tuple[str, ...]] = ("targets",)

    targets: Texts
    both_forms: bool = False
    scale: float | None = None
    replace: bool = False
    users: Annotated[int, within(*USERS)] | None = None
    duration: Time | None = None
    warmup: Time | None = None
    quick: bool = False
    seed: Annotated[int, within(0, MOST_SEED)] = 1
    timeout: Time = "1h"
    reference: Path | None = None
    bom: Path | None = None
    tps: str | None = None
    number: Annotated[str, AfterValidator(_number)] | None = None
    sign: Path | None = None
    pdf: bool = False

    @property
    def times(self) -> tuple[float, float]:
        """Warm-up and interval, in s."""
        warmup, duration = QUICK_S if self.quick else FULL_S
        return (
            warmup if self.warmup is None else parse_seconds(self.warmup),
            duration if self.duration is None else parse_seconds(self.duration),
        )

    def require_sense(self) -> None:
        """Refuses options without effect.

        Raises:
            UsageError: If two options cannot be combined, or there are too many targets.
        """
        if self.quick and self.given("duration"):
            raise UsageError("--quick and --duration cannot be combined: --quick sets the time.")
        if not 1 <= len(self.targets) <= 2:
            raise UsageError(
                "Name one target, or two: one that stores rows and one that stores columns."
            )
        if self.both_forms and len(self.targets) > 1:
            raise UsageError("--both-forms measures rows and columns of one target: name one.")
