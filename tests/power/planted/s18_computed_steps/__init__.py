"""Derivations by results that computer algebra never found (SOUNDNESS S18)."""
