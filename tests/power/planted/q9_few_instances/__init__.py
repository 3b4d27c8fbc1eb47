"""Q9: bounds of arrays that fail on a share of the law, on too few instances."""
