"""Wide networks with pseudo-iid weights as Gaussian processes, Nait Saada et al. 2024.

The body of the paper could not be read: definition, theorems and examples are reconstructed from descriptions of them and
derived again here; what goes beyond them is marked as derived.
"""
