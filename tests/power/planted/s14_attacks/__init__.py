"""Sizes of one residue, and one form."""
