"""Sizing: servers, devices and TB for what is wanted, from what was measured. Pure."""
