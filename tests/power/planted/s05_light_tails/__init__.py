"""SOUNDNESS S5: the tails of what is averaged are heavier than an interval takes them for."""
