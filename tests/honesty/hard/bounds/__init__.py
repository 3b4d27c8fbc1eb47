"""Bounds that hold: a gap beside its value and a lemma, squares of letters of either sign, searches that find."""
