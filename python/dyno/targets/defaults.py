"""The engines that are measured where nobody names one."""

ROW_STORE, COLUMN_STORE = "embedded:postgresql", "embedded:duckdb"
