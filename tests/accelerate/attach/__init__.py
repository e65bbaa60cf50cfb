"""A cache in front of a folder: real mounts, real files, and processes that are killed."""
