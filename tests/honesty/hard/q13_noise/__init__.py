"""STATEMENTS Q13: one value at each size, of whose error nothing was said, and rounding."""
