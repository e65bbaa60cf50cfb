"""What was asked, how it was done, when the answer is yes, and how it can mislead."""

from __future__ import annotations

from dyno.report.kit.blocks import Fact, Facts, Section
from dyno.report.study.page import StudyPage

ORDER = 70


def section(page: StudyPage) -> Section | None:
    """The study's own words; those that it lacks are left out."""
    study = page.study
    words = {
        "Question": study.question,
        "Design": study.design,
        "Decision rule": study.rule,
        "How it can mislead": study.misleads,
    }
    facts = [Fact(term, text) for term, text in words.items() if text]
    return Section("question", "What was asked", [Facts(facts)]) if facts else None
