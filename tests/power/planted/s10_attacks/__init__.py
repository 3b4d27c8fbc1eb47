"""Variances that are those of the draws together, and not those given which they are normal."""
