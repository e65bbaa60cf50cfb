"""The default engines."""

ROW_STORE, COLUMN_STORE = "embedded:postgresql", "embedded:duckdb"
