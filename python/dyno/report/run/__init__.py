"""The report, summary and JSON document of a run."""
