"""One file per kind of claim: from a claim and its observations to a verdict."""
