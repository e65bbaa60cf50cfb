"""Certificates as data: their content, and the files of users that go into them."""

from dyno.certificates.bom import Bom
from dyno.certificates.content import Certificate
from dyno.certificates.reference import Reference

__all__ = ["Bom", "Certificate", "Reference"]
