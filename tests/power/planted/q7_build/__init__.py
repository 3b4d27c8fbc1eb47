"""Q7: numbers that are wrong before observe sees them."""
