"""Drafts of files of statements, from what a server really runs (``docs/replay.md``).

``parameters`` finds what values a statement takes, ``values`` how to draw each of them, ``draft``
puts transactions together, and ``written`` writes the file.
"""
