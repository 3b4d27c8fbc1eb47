"""Nait Saada, Naderi, Tanner: Mind the Gap: a Spectral Analysis of Rank Collapse and Signal Propagation in Attention Layers (ICML 2025, arXiv 2410.07799).

The theorem bodies could not be read, so every statement of this folder is reconstructed from the abstracts, the reviews
and the authors' code, or derived here; no numbering of the paper's is given for that reason.
"""
