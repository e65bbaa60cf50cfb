"""What ClickHouse reports about itself during a run, beside running queries."""

LACKS = {
    "sessions by wait": "chdb does not report what its threads wait for",
    "tables": "ClickHouse counts reads by query, not by table",
}

NOTES = (
    "counters are bytes of files, spilled data and memory. Statements come from its query log, "
    "which keeps the last 250 at least; a restart for a cold start empties it. The 20 most "
    "time-consuming queries have the plans of their slowest executions, made after the phase",
)
