"""Letters that are measured and assumed to be what they are not."""
