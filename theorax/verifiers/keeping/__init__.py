"""What determines a result, and where results are kept."""
