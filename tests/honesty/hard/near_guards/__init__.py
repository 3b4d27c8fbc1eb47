"""True statements near the guards of draws, sizes and stand-ins, which keep their word."""
