"""The question, design, decision rule and limitations of the study."""

from __future__ import annotations

from dyno.report.kit.blocks import Fact, Facts, Section
from dyno.report.study.page import StudyPage

ORDER = 70


def section(page: StudyPage) -> Section | None:
    """The study's texts; missing ones are omitted."""
    study = page.study
    words = {
        "Question": study.question,
        "Design": study.design,
        "Decision rule": study.rule,
        "Limitations": study.misleads,
    }
    facts = [Fact(term, text) for term, text in words.items() if text]
    return Section("question", "Question", [Facts(facts)]) if facts else None
