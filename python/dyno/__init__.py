"""Dyno: a dynamometer for database servers and the storage under them."""

__version__ = "0.1.0"
