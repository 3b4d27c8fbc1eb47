"""SOUNDNESS S13: margins so wide that no value near the claimed one could be told from it."""
