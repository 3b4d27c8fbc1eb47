"""Symbolic-numeric verification of theorems of deep-learning theory."""
