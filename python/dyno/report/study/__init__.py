"""The report of a study, from its journal, its bundles and their analysis. Pure."""

from dyno.report.study.sheet import study_sheet

__all__ = ["study_sheet"]
