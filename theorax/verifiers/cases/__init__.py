"""The cases of a check: lines, their observations, and expressions on them."""
