"""Stages that write the run record. Stages do not import each other."""
