"""A study as a page: from its book and its runs' bundles, and what analysis says of them. Pure."""

from dyno.report.study.sheet import study_sheet

__all__ = ["study_sheet"]
