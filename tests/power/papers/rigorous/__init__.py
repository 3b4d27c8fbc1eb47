"""Manufactured statements whose truth is known: bounds, least values, impossibilities."""
