"""True means, limits and orders that are hard: slow corrections, rare events with declared bounds, zero limits."""
