"""How a statement is decided."""
