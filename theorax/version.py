"""The version of the package, for the modules that print it: the package itself stands above the reports."""

__version__ = "0.1.0"
