"""Partitioning: which table, by which column, where it is cut, and what then reads less."""
