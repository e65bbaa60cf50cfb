"""Drafts of workload files, from what a server really runs (``docs/replay.md``).

``constants`` takes the values out of a statement, ``parameters`` finds what they belong to,
``values`` how to draw each of them, ``draft`` puts transactions together, and ``written`` writes
the file.
"""
