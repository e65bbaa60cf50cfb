"""The metrics, one subject a file. A file offers ``metrics(operations)``."""
