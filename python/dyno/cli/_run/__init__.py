"""What ``dyno run`` is made of: its options by section, what excludes what, and who does it."""
