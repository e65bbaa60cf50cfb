"""Stage: judgement. Whether a run may be believed, and what set its pace."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.model import Definition, Estimate, Finding, Reason, Validity
from dyno.bundle.reader import Bundle
from dyno.decide.bottleneck import bottlenecks
from dyno.decide.case import Case
from dyno.decide.criteria import criteria
from dyno.decide.limits import rules as limit_rules
from dyno.decide.validity import rules
from dyno.decide.verdict import verdict
from dyno.host.warnings import warnings


def judge(bundle: Bundle, estimates: Iterable[Estimate]) -> tuple[Validity, list[Finding]]:
    """Judges a run from what its bundle holds and from the figures drawn from it.

    Returns:
        The validity, and the findings: the verdict first, then warnings, criteria and notes.

    Raises:
        UsageError: If a part of the bundle is damaged.
    """
    case = Case.of(bundle, estimates)
    reasons: list[Reason] = []
    warned: list[Finding] = []
    noted: list[Finding] = []
    for rule in rules():
        for ruling in rule.check(case):
            if ruling.level in ("invalid", "disturbed"):
                reasons.append(
                    Reason(
                        code=rule.code,
                        message=ruling.message,
                        phase=ruling.phase,
                        kind=ruling.level,
                    )
                )
            (noted if ruling.level == "note" else warned).append(
                Finding(
                    code=rule.code,
                    level="note" if ruling.level == "note" else "warning",
                    message=ruling.message,
                    phase=ruling.phase,
                    evidence=ruling.evidence,
                )
            )
    # What makes a run invalid is told before what only disturbed it.
    reasons.sort(key=lambda reason: reason.kind == "disturbed")
    validity = Validity(valid=not reasons, reasons=tuple(reasons))
    limits = bottlenecks(case)
    kept = criteria(case)
    machine = _machine(bundle)
    findings = [
        verdict(case, validity, limits, kept),
        *warned,
        *(finding for finding in machine if finding.level == "warning"),
        *kept,
        *(limit.finding() for limit in limits),
        *noted,
        *(finding for finding in machine if finding.level != "warning"),
    ]
    return validity, findings


def broken(findings: Iterable[Finding]) -> bool:
    """Whether a criterion was not kept that decides the exit code."""
    results = [item.result for item in findings if item.result is not None]
    return any(result.binding and result.passed is False for result in results)


def definitions() -> list[Definition]:
    """All rules in words, for whoever reads the judgement."""
    return [
        Definition(
            code=rule.code, about=about, definition=rule.definition, explanation=rule.explanation
        )
        for about, found in (("validity", rules()), ("limit", limit_rules()))
        for rule in found
    ]


def _machine(bundle: Bundle) -> list[Finding]:
    """What about the machine spoils, or may spoil, what was measured on it."""
    try:
        return warnings(bundle.run.host)
    except (AttributeError, KeyError, TypeError, ValueError):
        return []  # facts of another shape, as only a bundle made elsewhere can hold
