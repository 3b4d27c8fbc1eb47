"""Attention paths in a statistical mechanics theory of transformers, Tiberi et al. 2024.

The text of the theorems could not be read: statements are reconstructed from the abstract and the code of the authors,
and each of them is derived again here.
"""
