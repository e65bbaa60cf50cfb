"""The default engines."""

ROW_STORE, COLUMN_STORE = "embedded:postgresql", "embedded:duckdb"
BOTH_FORMS = "embedded:clickhouse"
"""An engine with tables in rows and in columns."""
