"""Why only the page cache is observed inside SQLite during a run.

Its counters belong to a connection (``sqlite3_db_status``), and the connections of a run are the
driver's, which sums them up for each level. A connection beside them would share only the file, and
closing it would release the driver's locks on it.
"""

_OWN = "SQLite counts by connection, and the connections of a run belong to the driver"

LACKS = {
    "counters": f"{_OWN}, which reports those of the page caches by level",
    **dict.fromkeys(("sessions by wait", "statements", "tables"), _OWN),
}

NOTES = (
    "a level of transactions has the metrics of the sessions' page caches: hit ratio, pages read, "
    "written and spilled, memory. Transient tables of a statement are not included. Queries have "
    "none: they run in Python's copy of SQLite, whose module has no call for `sqlite3_db_status`",
)
