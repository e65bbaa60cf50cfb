"""Advice on a system: best practices that are checked on it, and where its reads go."""
