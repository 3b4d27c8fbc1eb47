"""Q10: programs that compute an identity stably."""
