"""Draws that are not independent: keys used twice, keys of their own, a few models handed out again and again."""
