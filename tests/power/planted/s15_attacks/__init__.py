"""Bounds and searches attacked from outside: lemmas beside the point, targets that the search is told."""
