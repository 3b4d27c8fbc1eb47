"""The nine kinds of claim: SymPy-holding values that check their own mathematics when they are built."""

from __future__ import annotations

from theorax.theorems.language.claims.averages import Expectation, Limit, Probability
from theorax.theorems.language.claims.base import Claim
from theorax.theorems.language.claims.exact import Identity, Inequality
from theorax.theorems.language.claims.extrema import Impossibility, Optimum
from theorax.theorems.language.claims.orders import Law, Rate

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
