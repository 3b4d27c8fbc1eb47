"""Equinox's own multi-head attention at its default initialisation, as a layer that theorems are asked of.

verify theorem rank_collapse_width --model examples/multihead_attention.py:factory
verify theorem keyquery_gap_and_bulk --model examples/multihead_attention.py:factory
"""

import equinox as eqx


def factory(key, T, d):
    """One head on tokens of width d; T, the context length, plays no part in the weights."""
    return eqx.nn.MultiheadAttention(num_heads=1, query_size=d, key=key)
