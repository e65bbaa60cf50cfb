"""Blocks of the storage section, one concern a file."""
