"""Long calls: execution, progress, timeouts and interrupts."""
