"""The nine kinds of claim: SymPy-holding values that check their own mathematics when they are built."""

from __future__ import annotations

from theorax.language.claims.averages import Expectation, Limit, Probability
from theorax.language.claims.claim import Claim
from theorax.language.claims.exact import Identity, Inequality
from theorax.language.claims.extrema import Impossibility, Optimum
from theorax.language.claims.orders import Law, Rate

KINDS: tuple[type[Claim], ...] = (
    Identity,
    Inequality,
    Probability,
    Expectation,
    Limit,
    Rate,
    Law,
    Optimum,
    Impossibility,
)

__all__ = [
    "KINDS",
    "Claim",
    "Expectation",
    "Identity",
    "Impossibility",
    "Inequality",
    "Law",
    "Limit",
    "Optimum",
    "Probability",
    "Rate",
]
