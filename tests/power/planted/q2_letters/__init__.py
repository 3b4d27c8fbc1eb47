"""A letter that one value stands for."""
