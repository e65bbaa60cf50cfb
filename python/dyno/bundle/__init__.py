"""The record of a run: its model, how it is written, and how it is read."""
