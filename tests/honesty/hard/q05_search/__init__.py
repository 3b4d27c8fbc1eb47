"""Hard truths: bounds that are equalities, or fail on sets of probability zero, under a search."""
