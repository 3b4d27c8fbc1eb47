"""In-context autoregressive learning by linear attention, Sander et al. 2024.

The body of the paper could not be read: statements are reconstructed from its abstract, public summaries and the code of
its authors, and each of them is derived again here.
"""
