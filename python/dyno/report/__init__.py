"""Report stage: renders a bundle as a page, a terminal summary and a JSON document. Pure."""

from dyno.report.run.document import document
from dyno.report.run.latencies import latencies
from dyno.report.run.report import run_report
from dyno.report.run.summary import summary

__all__ = ["document", "latencies", "run_report", "summary"]
