"""Several workloads or targets in one run."""
