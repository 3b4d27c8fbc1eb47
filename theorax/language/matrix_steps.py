"""Steps of a proof between matrices of every size, whose letters do not commute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from sympy import Expr, Symbol, sympify

from theorax.errors import problem


@final
@dataclass(frozen=True)
class MatrixStep:
    """One equality of polynomials in `generic_matrices` and their transposes (`sympy.transpose`), for matrices of every size.

    Matrices may be rectangular where the products fit; a number stands for that multiple of the identity matrix.
    ``given``: equations between these letters that the argument assumes or has derived, ``(left, right)`` each. An
    induction is two steps: the letter of the case before it, and what is given of it.

    **Raises:** StatementError if an equation is no pair.
    """

    reason: str
    left: Expr
    right: Expr
    given: tuple[tuple[Expr, Expr], ...] = ()

    def __post_init__(self) -> None:
        given: list[Any] = list(self.given)
        if odd := [one for one in given if not isinstance(one, tuple | list) or len(one) != 2]:
            problem(
                "matrix-step-pairs",
                f"MatrixStep({self.reason!r}) is given {odd[0]}. An equation has two sides. Write given=((A * J, J),).",
            )
        object.__setattr__(self, "left", sympify(self.left))
        object.__setattr__(self, "right", sympify(self.right))
        object.__setattr__(self, "given", tuple((sympify(left), sympify(right)) for left, right in given))

    @property
    def empty(self) -> bool:
        """Are both sides one and the same as they arrive?"""
        return bool(self.left == self.right)


def generic_matrices(names: str) -> tuple[Symbol, ...]:
    """Letters for matrices of any size, in this order, for a `MatrixStep`: they do not commute."""
    return tuple(Symbol(name, commutative=False) for name in names.split())
