"""Q7: builds that compute much and lose little."""
