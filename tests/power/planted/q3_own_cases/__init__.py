"""A formula in letters that is right at the values of its author and wrong beside them."""
