"""True statements near the points at which minima and identities are withheld."""
