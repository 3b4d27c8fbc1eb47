"""Multi-head attention as a linear hypernetwork, Schug et al. 2025.

The abstract and the authors' code were read; the displayed equations are reconstructed. There are no numbered theorems to
quote: the claims are identities, and each of them is derived again here.
"""
