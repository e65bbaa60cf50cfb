"""Executes plans for the CLI and the Python API; emits events and returns a run."""
