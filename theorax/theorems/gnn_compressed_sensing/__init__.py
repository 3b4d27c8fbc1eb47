"""Compressed sensing with dependent measurements and generative ReLU priors, Naderi and Plan 2021.

The near-isometry of sub-gaussian matrices on sets that it rests on is Jeong et al. 2022; regions of one ReLU layer are
counted as Cover 1965 counts them. Both abstracts were read, the bodies could not be: their theorems are reconstructed with
unspecified absolute constants, every explicit constant is derived here, and no theorem is quoted by its number.
"""
