"""Untrusted input and secrets: files, tables, text and passwords."""
