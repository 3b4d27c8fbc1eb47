"""Averages that a few large draws decide."""
