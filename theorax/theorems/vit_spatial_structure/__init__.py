"""Vision transformers learn spatial structure, Jelassi et al. 2022.

The abstract and an independent implementation of the synthetic experiment were read, the body of the paper could not be:
its statements are reconstructed, the exact identities are derived here, and none is quoted by its number.
"""
