"""Sparse and differentiable top-k by a regularised conjugate, Sander et al. 2023.

The abstract, the authors' code and its documentation were read, the body of the paper could not be: its propositions are
reconstructed and derived again here, and none is quoted by its number.
"""
