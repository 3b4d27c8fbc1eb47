"""Q8: branches that few points take."""
