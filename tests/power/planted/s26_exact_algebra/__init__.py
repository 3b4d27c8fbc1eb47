"""SOUNDNESS S26: false twins of what exact algebra and linear algebra decide."""
