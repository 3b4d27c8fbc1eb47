"""Laws decided from variances that are not those of the draws."""
