"""Every number is its own successor."""

from theorax.language import *

t = Parameter("t", "a number")
claim = Identity(t, t + 1)
theorem = Theorem(place="planted", label="derived", claims=dict(claim=claim))
