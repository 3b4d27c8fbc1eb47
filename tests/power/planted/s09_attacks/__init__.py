"""Error columns that are no errors in a few draws, or for one kind."""
