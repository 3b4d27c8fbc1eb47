"""Independent draws that look as if they were not: clipped, counted, rounded, made in loops, given a data set."""
