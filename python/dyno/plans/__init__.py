"""Plans: frozen choices of a user, from the command line, from Python or from a study."""
