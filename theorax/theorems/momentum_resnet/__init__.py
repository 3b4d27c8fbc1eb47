"""Residual networks with momentum: invertible, and of second order in depth, Sander et al. 2021.

The abstract and the released code were read, the body was not: statements are reconstructed, and each of them is derived again
here.
"""
