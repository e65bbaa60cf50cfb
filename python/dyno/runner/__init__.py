"""What the command line and the Python API have Dyno do: plans in, events meanwhile, a run out."""
