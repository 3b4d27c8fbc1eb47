"""SOUNDNESS S7: rounding is taken as zero, or the program is not the function meant."""
