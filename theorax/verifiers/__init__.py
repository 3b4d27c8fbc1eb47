"""One theorem, from its statement to its outcome."""
