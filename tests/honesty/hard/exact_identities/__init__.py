"""True identities that are hard for what is looked at: far points, cancellations, domains, instances enough."""
