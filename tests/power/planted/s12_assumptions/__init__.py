"""Values and ranges that disobey what SymPy was told of their letters (SOUNDNESS S12)."""
