"""One JAX program, several scalar domains: symbols, balls, residues, degrees, floats with their rounding error."""

from theorax.numerics.arithmetics.ball import Ball, ball, enclosing
from theorax.numerics.arithmetics.casts import narrow_casts
from theorax.numerics.arithmetics.custom_rules import entered
from theorax.numerics.arithmetics.degree import Degree, Degrees
from theorax.numerics.arithmetics.domain import Domain, ObjectDomain
from theorax.numerics.arithmetics.failures import UndecidedComparison, UnsupportedPrimitive
from theorax.numerics.arithmetics.finite_field import FiniteField, ZeroDivisor
from theorax.numerics.arithmetics.flat_program import fingerprint
from theorax.numerics.arithmetics.interpreter import evaluate
from theorax.numerics.arithmetics.residues import Residues
from theorax.numerics.arithmetics.running_error import Running, RunningError
from theorax.numerics.arithmetics.symbolic import Symbolic

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
    "narrow_casts",
]
