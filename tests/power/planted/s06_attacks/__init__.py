"""Draws of a few numbers that rounding tells apart, and draws that follow from each other."""
