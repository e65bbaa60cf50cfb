"""Side-by-side runs, and an application against its storage profile."""
