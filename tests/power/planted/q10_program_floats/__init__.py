"""SOUNDNESS S2: identities that fail on a share of the law, on fewer instances than rule that share out."""
