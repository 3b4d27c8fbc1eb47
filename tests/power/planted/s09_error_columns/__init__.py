"""Bounds of errors that bound nothing."""
