"""One JAX program, several scalar domains: symbols, balls, residues, degrees, floats with their rounding error."""

from theorax.numerics.jaxprs.ball import Ball, ball, enclosing
from theorax.numerics.jaxprs.degree import Degree, Degrees
from theorax.numerics.jaxprs.domain import Domain, ObjectDomain
from theorax.numerics.jaxprs.entered import entered
from theorax.numerics.jaxprs.failures import UndecidedComparison, UnsupportedPrimitive
from theorax.numerics.jaxprs.finite_field import FiniteField, ZeroDivisor
from theorax.numerics.jaxprs.interpret import evaluate
from theorax.numerics.jaxprs.program import fingerprint
from theorax.numerics.jaxprs.residues import Residues
from theorax.numerics.jaxprs.running_error import Running, RunningError
from theorax.numerics.jaxprs.symbolic import Symbolic

__all__ = [
    "Ball",
    "Degree",
    "Degrees",
    "Domain",
    "FiniteField",
    "ObjectDomain",
    "Residues",
    "Running",
    "RunningError",
    "Symbolic",
    "UndecidedComparison",
    "UnsupportedPrimitive",
    "ZeroDivisor",
    "ball",
    "enclosing",
    "entered",
    "evaluate",
    "fingerprint",
]
