"""Derivatives that lie further in: in second derivatives, in loops, in implicit functions."""
