"""The dyno sheet: one self-contained HTML page that needs no network and no script."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dyno.bundle import Bundle
from dyno.model import Definition, Estimate, Finding, Reason
from dyno.report.page import Page
from dyno.report.sections import makers
from dyno.report.words import moment, seconds

_UNIT = re.compile(r", (?=\S{1,4}$)")
_PERCENT = re.compile(r"(?<=\d) (?=%)")
_TEMPLATES = Path(__file__).with_name("templates")


@dataclass(frozen=True)
class Verdict:
    """The head of the sheet."""

    tone: str
    stamp: str
    words: str
    reasons: tuple[Reason, ...]
    warnings: tuple[str, ...]


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
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    page = Page.of(bundle, estimates, findings, rules)
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["unit_stays"] = _unit_stays
    environment.filters["percent_stays"] = _percent_stays
    style = (_TEMPLATES / "sheet.css").read_text(encoding="utf-8")
    run = page.run
    html = environment.get_template("sheet.html.j2").render(
        title=f"Dyno sheet {run.run}",
        heading=_heading(page),
        meta=_meta(page),
        verdict=verdict(page),
        sections=[made for make in makers() if (made := make(page)) is not None],
        style=Markup(style),  # noqa: S704  (our own file)
        dyno=run.dyno,
        run=run.run,
        notices=run.notices,
    )
    # JSON can hold halves of surrogate pairs, which no file can.
    return html.encode("utf-8", "replace").decode("utf-8")


def verdict(page: Page) -> Verdict:
    """Whether the figures may be believed, and what sets the pace."""
    validity = page.run.validity
    stamps = {
        True: ("good", "✓ Valid"),
        False: ("bad", "✗ Not valid"),
        None: ("open", "? Not judged"),
    }
    tone, stamp = stamps[validity.valid]
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
    return Verdict(tone, stamp, words, validity.reasons, warnings)


def _unit_stays(label: str) -> str:
    """The heading of a column whose unit stays on the line of its last word: ``Total, s``."""
    return _UNIT.sub(",\N{NO-BREAK SPACE}", label)


def _percent_stays(text: str) -> str:
    """A sentence whose figures stay on one line with their per cent sign."""
    return _PERCENT.sub("\N{NO-BREAK SPACE}", text)


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
