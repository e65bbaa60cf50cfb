"""Common parts of all private servers: identity, lock, lifecycle and log."""
