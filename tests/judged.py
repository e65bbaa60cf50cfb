"""What the stages after a run make of a bundle."""

from __future__ import annotations

from dataclasses import dataclass

from dyno.analyse import estimate
from dyno.bundle.model import Estimate, Finding, Validity
from dyno.bundle.reader import Bundle
from dyno.decide.judge import judge


@dataclass(frozen=True)
class Judged:
    """A bundle with all that the stages after a run make of it."""

    bundle: Bundle
    estimates: list[Estimate]
    validity: Validity
    findings: list[Finding]

    def value(self, name: str) -> float:
        """The value of an estimate; fails if there is none."""
        return next(item.value for item in self.estimates if item.name == name)

    def names(self) -> set[str]:
        return {item.name for item in self.estimates}

    def codes(self) -> set[str]:
        """Codes of the reasons why the run is not valid."""
        return {reason.code for reason in self.validity.reasons}

    def warned(self) -> set[str]:
        """Codes of the warnings, those that spoil the run among them."""
        return {item.code for item in self.findings if item.level == "warning"}


def judged(bundle: Bundle) -> Judged:
    """Analyses and judges a bundle."""
    estimates = estimate(bundle)
    validity, findings = judge(bundle, estimates)
    return Judged(bundle.judged(validity), estimates, validity, findings)
