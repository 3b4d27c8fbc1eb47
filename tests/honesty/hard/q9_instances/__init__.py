"""Q9: bounds of arrays that few instances were built for."""
