"""Constants with rounding on them, and points of the claimed law in the place of draws."""
