"""Certificates: the arithmetic of a Fast-Track-like certificate, computed from a bundle alone."""

from dyno.decide.certify.certificate import certificate

__all__ = ["certificate"]
