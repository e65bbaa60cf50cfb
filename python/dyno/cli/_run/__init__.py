"""The options of ``dyno run`` by section."""
