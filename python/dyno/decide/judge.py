"""Stage: judgement. The verdict on a run, its criteria and its bottlenecks."""

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
    """Judges a run from its bundle and the metrics computed from it.

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
    # Invalid reasons come before disturbances.
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
    """Whether a criterion failed that decides the exit code."""
    results = [item.result for item in findings if item.result is not None]
    return any(result.binding and result.passed is False for result in results)


def definitions() -> list[Definition]:
    """Definitions and explanations of all rules, for the report."""
    return [
        Definition(
            code=rule.code, about=about, definition=rule.definition, explanation=rule.explanation
        )
        for about, found in (("validity", rules()), ("limit", limit_rules()))
        for rule in found
    ]


def _machine(bundle: Bundle) -> list[Finding]:
    """Warnings about the machine's configuration."""
    try:
        return warnings(bundle.run.host, recorded=bundle.run.verb == "watch")
    except (AttributeError, KeyError, TypeError, ValueError):
        return []  # facts of an unknown shape, from a bundle made elsewhere
