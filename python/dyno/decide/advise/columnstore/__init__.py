"""Which tables gain in a column store: candidates, exclusions, compression, memory, and losers."""
