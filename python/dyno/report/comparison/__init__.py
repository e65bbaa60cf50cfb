"""Two runs side by side, and an application against its storage."""
