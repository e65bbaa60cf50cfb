"""Certificates: the arithmetic of a Fast-Track-like certificate, computed from a bundle alone."""

from dyno.decide.certify.bom import Bom
from dyno.decide.certify.certificate import Certificate, certificate
from dyno.decide.certify.reference import Reference

__all__ = ["Bom", "Certificate", "Reference", "certificate"]
