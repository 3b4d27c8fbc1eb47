"""Optimality, and what no member of a class attains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, final

from sympy import (
    Expr,
    true,
)
from sympy.logic.boolalg import Boolean

from theorax.language.claims.claim import NOTHING, Claim, exact_box, exact_number
from theorax.language.letters import Parameter
from theorax.language.margins import Absolute


@final
@dataclass(frozen=True, kw_only=True)
class Optimum(Claim):
    """``value`` is the least one, up to the margin: attained by a feasible point, and certified from below.

    Measured: ``bound`` is a lower bound of every feasible value (of a dual problem), ``feasible`` holds at the primal
    and at the dual point; ``rival``, where ``rival_feasible``, is the value at another feasible point. Stated: ``value``
    is an expression in parameters, ``over`` their exact ranges, and ``at`` the point where it is least.
    """

    value: Expr
    bound: Expr | None = None
    feasible: Boolean = true
    rival: Expr | None = None
    rival_feasible: Boolean = true
    over: Mapping[Parameter, tuple[Any, Any]] = field(default_factory=lambda: NOTHING)
    at: Mapping[Parameter, Any] = field(default_factory=lambda: NOTHING)
    measured_fields = ("value", "bound", "feasible", "rival", "rival_feasible")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "over", exact_box(self))
        if not isinstance(self.margin, Absolute):
            self._refuse(
                f"margin={self.margin} is no absolute one",
                "A feasible point is optimal up to the gap to its lower bound.",
                "Write margin=Absolute(1, 10**6) and because=...",
            )
        if bool(self.over) == (self.bound is not None):
            self._refuse(
                "it has no lower bound" if not self.over else "it has a dual bound and a box",
                "A value is known to be the least one by a lower bound, measured, or certified on a box.",
                "Write bound=..., or over={x: (0, 1)} with at={x: ...}.",
            )
        if set(self.at) != set(self.over):
            self._refuse(
                f"at={dict(self.at)} is no point of the box over {', '.join(map(str, self.over)) or 'nothing'}",
                "The point where the least value is attained has a coordinate for every parameter.",
                "Write at={x: Rational(1, 2)} with the letters of over.",
            )
        object.__setattr__(self, "at", MappingProxyType({k: exact_number(self, k, v) for k, v in self.at.items()}))
        for letter, (lower, upper) in self.over.items():
            if not lower <= self.at[letter] <= upper:
                self._refuse(
                    f"at {letter} = {self.at[letter]} lies outside [{lower}, {upper}]",
                    "A least value on a box is attained in it.",
                    "Correct at or over.",
                )

    @property
    def range(self) -> Mapping[Parameter, tuple[Expr, Expr]]:
        return self.over

    @property
    def prediction(self) -> Expr:
        return self.bound if self.bound is not None else self.value.subs(dict(self.at))


@final
@dataclass(frozen=True, kw_only=True)
class Impossibility(Claim):
    """No member of a class comes nearer than ``at_least``.

    By a search: ``distance`` is what each draw, a restart of an optimiser on the target, has reached, and ``planted``
    what the same optimiser with the same budget reaches on targets that are members; these count as found below ``tol``.
    By a certified lower bound: ``distance`` is an expression in parameters, ``over`` their exact ranges.
    ``obstruction``: the property of all members that the target lacks, where a proof of the claim settles it.
    """

    distance: Expr
    at_least: Expr
    obstruction: str = ""
    planted: Expr | None = None
    tol: Expr | None = None
    over: Mapping[Parameter, tuple[Any, Any]] = field(default_factory=lambda: NOTHING)
    measured_fields = ("distance", "planted")
    stated_fields = ("at_least", "tol")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "over", exact_box(self))
        if self.at_least.is_number and not self.at_least > 0:
            self._refuse(
                f"at_least={self.at_least} is not positive",
                "Every distance is at least zero: the bound would say nothing.",
                "Write a positive distance.",
            )
        if bool(self.over) == (self.planted is not None):
            self._refuse(
                "it has neither planted members nor a box" if not self.over else "it has planted members and a box",
                "A search that finds nothing shows something only if it finds what is there; a certified bound needs "
                "no search.",
                "Write planted=... with tol=..., or over={w: (-1, 1)}.",
            )
        if self.planted is not None and not (self.tol is not None and self.tol > 0):
            self._refuse(
                f"tol={self.tol} tells no member from the others",
                "A planted member counts as found below a distance that is stated before the search.",
                "Write tol=Rational(1, 10**6).",
            )

    @property
    def range(self) -> Mapping[Parameter, tuple[Expr, Expr]]:
        return self.over

    @property
    def prediction(self) -> Expr:
        return self.at_least
