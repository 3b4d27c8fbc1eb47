"""Self-attention as kernel PCA of the keys, Teo and Nguyen 2024.

The abstract and the released code were read, the body was not: statements are reconstructed, and each of them is derived again
here. What the released code computes otherwise is stated as released, beside what holds.
"""
