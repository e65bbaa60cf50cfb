"""Index advice: candidates from predicates, and their proof by the planner of the engine."""
