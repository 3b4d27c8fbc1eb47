"""SOUNDNESS S16: tried again until it is green."""
