"""The page, summary and JSON document of a run."""
