"""Stage: a bundle, its figures and findings as a page, a terminal summary and a document. Pure."""

from dyno.report.document import document
from dyno.report.latencies import latencies
from dyno.report.sheet import sheet
from dyno.report.summary import summary

__all__ = ["document", "latencies", "sheet", "summary"]
