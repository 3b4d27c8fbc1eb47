"""Rank collapse and the spectral gap of random attention, Nait Saada et al. 2025.

The theorem bodies could not be read, so every statement of this folder is reconstructed from the abstracts, the reviews
and the authors' code, or derived here; no numbering of the paper's is given for that reason.
"""
