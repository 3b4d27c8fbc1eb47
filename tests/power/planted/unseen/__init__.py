"""Falsehoods that no check can see from inside: the report must say that nobody looked."""
