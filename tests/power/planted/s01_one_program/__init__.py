"""SOUNDNESS S1: an identity whose two sides are one program, or zero by their form."""
