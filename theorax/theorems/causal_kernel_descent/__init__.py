"""Sander, Peyré: Towards Understanding the Universality of Transformers for Next-Token Prediction (ICLR 2025, arXiv 2410.03011).

The body of the paper could not be read: the recursion is reconstructed from the abstract and a caption as the natural
causal attention whose limit in depth is Kaczmarz's algorithm; every statement is derived again here.
"""
