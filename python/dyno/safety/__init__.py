"""Input of others and secrets: files, tables and text that must do no harm; passwords."""
