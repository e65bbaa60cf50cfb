"""Parsers of user input: settings, presets, units and rates."""
