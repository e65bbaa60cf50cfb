"""The verdict at the top of the report: validity, criteria and bottlenecks."""

from __future__ import annotations

from dyno.bundle import metrics, mixes
from dyno.bundle.model import CriterionResult, Finding, Phase, Validity, Verdict, has_detail
from dyno.bundle.phases.certify import COMBINED, CertifyDetail
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.phases.maintenance import MaintenanceDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.decide.bottleneck import Bottleneck
from dyno.decide.case import Case


def verdict(
    case: Case, validity: Validity, limits: list[Bottleneck], criteria: list[Finding]
) -> Finding:
    """One finding: sentences on validity, criteria and bottlenecks."""
    found = [*_transactions(case, limits), *_queries(case, limits), *_watched(limits)]
    result = Verdict(
        validity=_validity(validity),
        criteria=" ".join(_criteria(criteria)),
        limits=f"{'; '.join(found)}." if found else "",
        measured="" if found else _only(case),
    )
    return Finding(
        code="verdict",
        level="verdict",
        message=result.text,
        evidence=tuple(reason.code for reason in validity.reasons),
        verdict=result,
    )


def _only(case: Case) -> str:
    """What was measured instead of queries and transactions."""
    if case.phases("dss", "oltp", "certify"):
        return "Neither queries nor transactions were measured to the end."
    parts = {"storage": case.phases("io"), "loads": case.phases("load", "index")}
    measured = [part for part, phases in parts.items() if phases]
    if measured:
        verb = "was" if measured == ["storage"] else "were"
        return f"Only {' and '.join(measured)} {verb} measured."
    if any(phase.detail.estimate_only for phase in case.phases_of(MaintenanceDetail)):
        return "Only the space of maintenance was estimated."
    return "Only checks were made." if case.phases("check") else ""


def _validity(validity: Validity) -> str:
    if validity.verdict is None or validity.verdict == "valid":
        return "Valid."
    codes = dict.fromkeys(reason.code for reason in validity.reasons)
    return f"{validity.verdict.capitalize()}: {', '.join(codes)}."


def _criteria(criteria: list[Finding]) -> list[str]:
    """How many criteria passed and which failed: binding ones first, then the defaults."""
    results = [item.result for item in criteria if item.result is not None]
    named = [item for item in results if item.binding]
    usual = [item for item in results if not item.binding]
    return [
        *_kept(named, "Criteria", "criterion"),
        *_kept(usual, "Default limits", "default limit"),
    ]


def _kept(results: list[CriterionResult], many: str, one: str) -> list[str]:
    if not results:
        return []
    judged = [item for item in results if item.passed is not None]
    failed = list(dict.fromkeys(item.criterion for item in judged if not item.passed))
    if failed:
        return [f"{many} failed: {', '.join(failed)}."]
    if not judged:
        return [f"No {one} could be evaluated."]
    rest = len(results) - len(judged)
    return [f"{many} passed: {len(judged)}{f', {rest} not evaluated' if rest else ''}."]


def _transactions(case: Case, limits: list[Bottleneck]) -> list[str]:
    """The bottleneck of the level with the highest throughput; in a search, of the maximum."""
    alone = mixes.alone(case.bundle.run)
    counted = {phase.name for phase, _ in case.levels()} - alone
    rates = {
        item.phase.name: case.value(metrics.Level(item.phase.detail.level).tps) or 0.0
        for item in limits
        if has_detail(item.phase, OltpDetail) and item.phase.name in counted
    }
    if not rates:
        return []
    first = next(iter(mixes.together(case.bundle.run)), None)
    if first is not None:
        named = {member.phase: str(member.name) for member in first.detail.members}
        return [
            f"{_limit(item)} for {named[item.phase.name]}"
            for item in limits
            if item.phase.name in named and item.phase.name in rates
        ]
    best = max(rates, key=lambda name: rates[name])
    item = next(item for item in limits if item.phase.name == best)
    users = item.phase.detail.users if has_detail(item.phase, OltpDetail) else None
    return [f"{_limit(item)} for transactions ({users} user{'' if users == 1 else 's'})"]


def _queries(case: Case, limits: list[Bottleneck]) -> list[str]:
    alone = mixes.alone(case.bundle.run)
    found = [
        f"{_limit(item)} for {_users(item)} on {_title(case, item.phase.target)}"
        for item in limits
        if (item.phase.kind == "dss" and item.phase.name not in alone) or _is_combined(item.phase)
    ]
    return list(dict.fromkeys(found))


def _is_combined(phase: Phase) -> bool:
    """Whether it is the interval of a certificate with all queries."""
    return isinstance(phase.detail, CertifyDetail) and phase.detail.test == COMBINED


def _watched(limits: list[Bottleneck]) -> list[str]:
    """The bottleneck in the busiest hour of a recording."""
    return [f"{_limit(item)} in the busiest hour" for item in limits if item.phase.kind == "watch"]


def _users(item: Bottleneck) -> str:
    detail = item.phase.detail
    if isinstance(detail, CertifyDetail):
        form = f" in {detail.part}s" if detail.part else ""
        return f"{detail.test} queries{form} ({detail.users} user{'s'[: detail.users != 1]})"
    streams = detail.streams if isinstance(detail, DssDetail) else None
    count = detail.databases if isinstance(detail, DssDetail) else None
    where = f" in {count} databases" if count else ""
    return "queries" if streams in (None, 1) else f"queries ({streams} streams{where})"


def _limit(item: Bottleneck) -> str:
    if item.limit is None:
        return "not identified"
    second = item.runner_up
    then = f", then {second.resource}," if item.near and second is not None else ""
    return f"{item.limit.resource}{then}"


def _title(case: Case, target: str | None) -> str:
    """The product name of a target."""
    facts = case.bundle.run.targets.get(target or "")
    _, at, number = str(target).partition("@")
    return f"{facts.product}{at}{number}" if facts and facts.product else str(target)
