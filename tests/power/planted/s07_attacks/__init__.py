"""Sums, casts and comparisons that the type of the numbers decides."""
