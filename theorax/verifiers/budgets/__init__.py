"""Error rates over many claims, attempts and nights."""
