"""Q8: identities of programs with branches, each side right."""
