"""Measurements of speed and of error rates; each module is a command of its own."""
