"""Settling proofs that settle something else, or nothing (SOUNDNESS S17)."""
