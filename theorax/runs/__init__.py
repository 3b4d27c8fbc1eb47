"""Many theorems: their order, who checks them, what is reported whatever happens."""
