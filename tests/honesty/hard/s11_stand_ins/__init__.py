"""Measured parameters in claims that another measurement would refute."""
