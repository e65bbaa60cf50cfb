"""A third workload, which is in its own folder only, on the whole way."""
