"""Attention whose matrices are doubly stochastic, by Sinkhorn's algorithm, Sander et al. 2022b.

The abstract and the released code were read, the body was not. The statements are reconstructed and derived again here;
where a constant depends on a convention, the convention is part of the statement. No theorem is quoted by its number.
"""
