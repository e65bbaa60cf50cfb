"""The report of a study, from its journal, its bundles and their analysis. Pure."""

from dyno.report.study.report import study_report

__all__ = ["study_report"]
