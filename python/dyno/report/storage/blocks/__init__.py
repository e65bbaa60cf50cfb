"""Blocks of the storage section."""
