"""The dyno sheet: one self-contained HTML page that needs no network and no script."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.model import Definition, Estimate, Finding, Outcome
from dyno.bundle.reader import Bundle
from dyno.report.kit.formats import moment, seconds
from dyno.report.kit.rendered import Head, Verdict, rendered
from dyno.report.run.page import Page
from dyno.report.run.sections import makers
from dyno.report.storage.answer import answer


def sheet(
    bundle: Bundle,
    estimates: Iterable[Estimate],
    findings: Iterable[Finding],
    rules: Iterable[Definition] = (),
) -> str:
    """The page of a bundle, with the rules that it was judged by.

    All text of the bundle is escaped: it may be anybody's. Parts that the bundle lacks are left
    out, and named as missing.
    """
    page = Page.of(bundle, estimates, findings, rules)
    run = page.run
    return rendered(
        Head("Dyno sheet", f"Dyno sheet {run.run}", _heading(page), _meta(page), verdict(page)),
        [made for make in makers() if (made := make(page)) is not None],
        f"Made by Dyno {run.dyno} from the bundle {run.run}.",
        run.notices,
    )


_STAMPS: dict[Outcome | None, tuple[str, str, str]] = {
    "valid": ("good", "✓ Valid", ""),
    "disturbed": (
        "disturbed",
        "≈ Disturbed",
        "Measured correctly, but the environment was not quiet: do not compare or publish "
        "these values.",
    ),
    "invalid": ("bad", "✗ Invalid", "Values may be wrong or missing: do not use them."),
    None: ("open", "? Not judged", ""),
}
"""The tone, icon, word and meaning of each verdict: never by colour alone."""


def verdict(page: Page) -> Verdict:
    """Whether the figures may be believed, and what sets the pace."""
    validity = page.run.validity
    tone, stamp, meaning = _STAMPS[validity.verdict]
    spoiled = {reason.message for reason in validity.reasons}
    warnings = tuple(
        finding.message
        for finding in page.findings
        if finding.level == "warning" and finding.message not in spoiled
    )
    head = page.verdict
    words = head.message if head else "No judgement is stored with these figures."
    if head is not None and head.verdict is not None:
        words = head.verdict.without_validity  # the stamp and the reasons tell it
        if not head.verdict.limits:
            found = answer(page)
            words = " ".join(filter(None, (head.verdict.criteria, found))) if found else words
    return Verdict(tone, stamp, words, validity.reasons, warnings, meaning)


def _heading(page: Page) -> str:
    titles = [page.title(name) for name in page.run.targets]
    on = f" on {' and '.join(titles)}" if titles else ""
    return f"dyno {page.run.verb}{on}"


def _meta(page: Page) -> str:
    run = page.run
    ends = [phase.end_ns for phase in run.phases if phase.end_ns is not None]
    words = [f"Run {run.run}", moment(run.clock.unix_ns)]
    if ends:
        words.append(f"took {seconds((max(ends) - run.clock.unix_ns) / 1e9)}")
    if run.status != "done":
        words.append(run.status)
    cpu = run.host.get("cpu")
    model = cpu.get("model") if isinstance(cpu, dict) else None
    if model:
        words.append(str(model))
    return " · ".join(words)
