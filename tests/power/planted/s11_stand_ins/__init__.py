"""Measured parameters that a claim compares with themselves."""
