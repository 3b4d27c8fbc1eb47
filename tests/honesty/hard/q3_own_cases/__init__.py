"""True statements in letters, which the cases of the engine leave as they are."""
