"""Runs plans for the command line and the Python API: plans in, events during, a run out."""
