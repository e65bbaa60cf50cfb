"""How work is called, watched, bounded in time and interrupted."""
