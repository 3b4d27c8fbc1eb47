"""A report document and its renderings."""
