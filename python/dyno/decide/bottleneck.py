"""The bottleneck of each measured phase, as far as one run can identify it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dyno.bundle.model import Finding, Phase
from dyno.bundle.phases.confirm import ConfirmDetail
from dyno.decide.case import Case
from dyno.decide.limits import rules
from dyno.decide.limits.cpu import LEAST_PERCENT, busy_words
from dyno.decide.view import FEWEST_SAMPLES, Limit, View, is_watched, view
from dyno.statistics.elasticity import strength

_KINDS = ("load", "index", "dss", "oltp", "certify", "watch")


@dataclass(frozen=True)
class Bottleneck:
    """The bottleneck of a phase, or why none was identified.

    Attributes:
        limit: None if none was identified.
        reason: Why none was identified.
        runner_up: The resource of the next rule that applies; without one, the next most utilised.
        tested: How changing the resource confirmed it or not.
        near: Whether a rule applies to the runner-up, so that it may limit the phase too.
    """

    phase: Phase
    code: str
    limit: Limit | None
    reason: str = ""
    runner_up: Limit | None = None
    tested: str = "not verified by changing it"
    near: bool = False

    def finding(self) -> Finding:
        """A note for the bundle."""
        if self.limit is None:
            return Finding(
                code="limit-unattributed",
                level="note",
                message=f"{self.phase.title}: bottleneck not identified. {self.reason}",
                phase=self.phase.name,
            )
        second = self.runner_up
        then = "" if second is None else f" Next: {second.resource}: {second.facts}."
        return Finding(
            code=f"limit-{self.code}",
            level="note",
            message=(
                f"{self.phase.title}: likely bottleneck: {self.limit.resource} "
                f"({self.tested}): {self.limit.facts}.{then}"
            ),
            phase=self.phase.name,
            evidence=self.limit.evidence,
        )


def bottlenecks(case: Case) -> list[Bottleneck]:
    """The bottleneck of every completed phase except storage profiles.

    The resource with the largest share wins: its utilisation, or its share of the sessions' time.
    """
    details = (phase.detail for phase in case.phases_of(ConfirmDetail))
    tests = {(one.of, one.resource): one for one in details}
    found = [_of(view(case, phase)) for phase in case.phases(*_KINDS) if phase.status == "done"]
    return [
        one if test is None else replace(one, tested=_tested(test))
        for one in found
        for test in [tests.get((one.phase.name, one.limit.resource if one.limit else None))]
    ]


def _tested(detail: ConfirmDetail) -> str:
    """``confirmed: elasticity 0.87, 0.80 to 0.94``."""
    mean, low, high = detail.elasticity, detail.low, detail.high
    if mean is None or low is None or high is None:
        return f"not verified: {detail.reason or 'the test did not end'}"
    words = {"unattributed": "not confirmed by changing it"}
    found = strength(mean, low)
    return f"{words.get(found, found)}: elasticity {mean:.2f}, {low:.2f} to {high:.2f}"


def _of(seen: View) -> Bottleneck:
    # The metrics of this machine describe only the driver if the target runs elsewhere.
    weighed = [(rule.code, rule.weigh(seen)) for rule in rules() if seen.observed or rule.anywhere]
    found = [(code, limit) for code, limit in weighed if limit is not None]
    found = sorted(_apart(found), key=lambda item: -item[1].share)
    if not found:
        return Bottleneck(seen.phase, "unattributed", None, _why_not(seen))
    (code, limit), *others = found
    if others:
        return Bottleneck(seen.phase, code, limit, runner_up=others[0][1], near=True)
    return Bottleneck(seen.phase, code, limit, runner_up=_next(seen, code, limit))


def _apart(found: list[tuple[str, Limit]]) -> list[tuple[str, Limit]]:
    """Joins the saturation of a device with the waits for the files on it: one resource."""
    full = {limit.device: limit for code, limit in found if code == "storage"}
    waited = {limit.device for code, limit in found if code != "storage"}
    joined: list[tuple[str, Limit]] = []
    for code, limit in found:
        whole = full.get(limit.device) if limit.device and code != "storage" else None
        if whole is not None:
            evidence = tuple(dict.fromkeys([*limit.evidence, *whole.evidence]))
            share = max(limit.share, whole.share)
            joined.append((code, replace(limit, share=share, evidence=evidence)))
        elif code != "storage" or limit.device not in waited:
            joined.append((code, limit))
    return joined


def _next(seen: View, code: str, limit: Limit) -> Limit | None:
    """The next most utilised resource, to which no rule applies."""
    others: list[Limit] = []
    if seen.observed and seen.used is not None and "cpu" not in code:
        others.append(Limit("CPU", seen.used / 100, busy_words(seen), ()))
    for device in seen.devices() if seen.observed else ():
        if device.name != limit.device:
            words = f"{device.utilisation:.0f} % utilised"
            share = min(device.utilisation / 100, 1.0)
            others.append(Limit(f"storage ({device.name})", share, words, ()))
    return max(others, key=lambda one: one.share, default=None)


def _driver(seen: View) -> str:
    """Why waits of the clients may not be round trips."""
    if seen.used is None or seen.used < LEAST_PERCENT:
        return ""
    return f" The CPU here was {busy_words(seen)}: the driver may have waited for it."


def _why_not(seen: View) -> str:
    waits = seen.waits
    waited = "" if waits is None else f" Of the sessions, {waits.words(waits.largest)}."
    if not is_watched(seen.case, seen.phase.target):
        return f"The server's machine was not monitored.{waited}{_driver(seen)}"
    if not seen.observed:
        return f"The phase has fewer than {FEWEST_SAMPLES} one-second samples."
    facts: list[str] = []
    if seen.busy is not None:
        facts.append(f"CPU was {busy_words(seen)}")
    devices = seen.devices()
    if devices:
        facts.append(f"{devices[0].name} {devices[0].utilisation:.0f} % utilised")
    if not facts:
        return "No samples."
    return f"{', '.join(facts)}: no resource was saturated.{waited}"
