"""Nait Saada, Naderi, Tanner: Beyond IID Weights: Sparse and Low-Rank Deep Neural Networks Are Also Gaussian Processes (ICLR 2024, arXiv 2310.16597).

The body of the paper could not be read: definition, theorems and examples are reconstructed from descriptions of them and
derived again here; what goes beyond them is marked as derived.
"""
