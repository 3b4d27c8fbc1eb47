"""Causal kernel descent: next-token prediction by attention, Sander and Peyré 2025.

The body of the paper could not be read: the recursion is reconstructed from the abstract and a caption as the natural
causal attention whose limit in depth is Kaczmarz's algorithm; every statement is derived again here.
"""
