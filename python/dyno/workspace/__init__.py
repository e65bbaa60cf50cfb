"""The folder given by --out and its volumes: engines, locks, places, space."""
