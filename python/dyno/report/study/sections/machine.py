"""The machine, from a bundle of the study."""

from __future__ import annotations

from dyno.report.kit.blocks import Section
from dyno.report.run.page import Page
from dyno.report.run.sections import machine
from dyno.report.study.page import StudyPage

ORDER = 110


def section(page: StudyPage) -> Section | None:
    """The machine section of the baseline's bundle, or of another one."""
    bundle = page.bundles.get(page.first.name) or next(iter(page.bundles.values()), None)
    return None if bundle is None else machine.section(Page.of(bundle, (), ()))
