"""Attention masks and LayerNorm in Transformers, Wu et al. 2024.

Of the paper the abstract and the captions of its figures were read, of its assumptions a summary: statements are
reconstructed, and every constant is derived here.
"""
