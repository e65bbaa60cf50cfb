"""Storage profiles in the report, the summary and the JSON document."""
