"""SOUNDNESS S19: what a simplifier believes, and what floats cannot trace."""
