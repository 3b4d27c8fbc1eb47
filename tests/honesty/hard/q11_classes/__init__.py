"""STATEMENTS Q11: logarithms and other forms that a class of corrections leaves out."""
