"""Steps that are hard to compute twice, and a second route that cannot be taken (SOUNDNESS S17, S18)."""
