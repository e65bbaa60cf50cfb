"""Why nothing is observed inside SQLite during a run.

Its counters belong to a connection (``sqlite3_db_status``), and the connections of a run are the
driver's. A connection beside them would share only the file, and closing it would release the
driver's locks on it.
"""

_OWN = "SQLite counts by connection, and the connections of a run belong to the driver"

LACKS = dict.fromkeys(("counters", "sessions by wait", "statements", "tables"), _OWN)
