"""Lower bounds and searches that nobody has shown to be any (SOUNDNESS S15)."""
