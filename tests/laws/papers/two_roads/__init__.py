"""Nobody, Two roads."""
