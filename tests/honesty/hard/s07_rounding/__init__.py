"""SOUNDNESS S7 and S8: programs whose rounding, masks and rules are right."""
