"""SOUNDNESS S20: casts to narrower floats, read as if they lost nothing."""
