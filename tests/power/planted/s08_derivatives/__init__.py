"""SOUNDNESS S8: derivatives that are not those of the numbers that a program returns."""
