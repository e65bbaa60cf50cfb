"""The page of a certificate: one page of paper, from the content of the certificate alone."""

from dyno.report.certificate.page import page

__all__ = ["page"]
