"""Stage: a bundle, its figures and findings as a page, a terminal summary and a document. Pure."""

from dyno.report.run.document import document
from dyno.report.run.latencies import latencies
from dyno.report.run.sheet import sheet
from dyno.report.run.summary import summary

__all__ = ["document", "latencies", "sheet", "summary"]
