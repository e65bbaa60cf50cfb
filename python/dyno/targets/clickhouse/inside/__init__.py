"""What ClickHouse reports about itself during a run, beside running queries."""
