"""SOUNDNESS S14: sizes that share their arithmetic, and corrections in logarithms."""
