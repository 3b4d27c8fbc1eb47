"""Least values: attained by a feasible point and bounded from below."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import Any, final

from sympy import Expr, latex, true
from sympy.logic.boolalg import Boolean

from theorax.decide.exact_kinds import OPTIMUM
from theorax.language.claims.claim import NOTHING, Claim, exact_box, exact_number, obeying
from theorax.language.letters import Parameter
from theorax.language.margins import Absolute
from theorax.language.notation import in_box, in_box_latex, inline
from theorax.language.variants import Change, wider


@final
@dataclass(frozen=True)
class Optimum(Claim):
    """``value`` is the least one, up to the margin: attained by a feasible point, and certified from below.

    Measured: ``bound`` is a lower bound of every feasible value (of a dual problem), ``feasible`` holds at the primal
    and at the dual point, or ``unconstrained_because`` says why every point is; ``bound_by`` names the lemma which proves
    that the bound is one: without it that is believed. ``rival``, where ``rival_feasible``, is the value at another
    feasible point. Stated: ``value`` is an expression in parameters, ``over`` their exact ranges, and ``at`` the point
    where it is least.
    """

    value: Expr
    _: KW_ONLY
    bound: Expr | None = None
    feasible: Boolean | None = None
    unconstrained_because: str = ""
    bound_by: str = ""
    rival: Expr | None = None
    rival_feasible: Boolean = true
    over: Mapping[Parameter, tuple[Any, Any]] = field(default_factory=lambda: NOTHING)
    at: Mapping[Parameter, Any] = field(default_factory=lambda: NOTHING)
    words = OPTIMUM
    measured_fields = ("value", "bound", "feasible", "rival", "rival_feasible")
    predicted_fields = ("bound", "value")
    speaks_of_the_law_drawn = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "over", exact_box(self))
        if not isinstance(self.margin, Absolute):
            self._refuse(
                "absolute-margin",
                f"margin={self.margin} is no absolute one",
                "A feasible point is optimal up to the gap to its lower bound.",
                "Write margin=Absolute(1, 10**6, '...').",
            )
        if bool(self.over) == (self.bound is not None):
            self._refuse(
                "one-bound",
                "it has no lower bound" if not self.over else "it has a dual bound and a box",
                "A value is known to be the least one by a lower bound, measured, or certified on a box.",
                "Write bound=..., or over={x: (0, 1)} with at={x: ...}.",
            )
        if self.bound is not None and (self.feasible in (None, true)) == (not self.unconstrained_because.strip()):
            self._refuse(
                "feasible",
                "it does not say which points are feasible"
                if self.feasible in (None, true)
                else "it has constraints and says that there are none",
                "A value below every feasible one is attained by a point that is not feasible.",
                "Write feasible=room >= 0 with the measured constraints, or unconstrained_because='...'.",
            )
        if self.bound_by and self.bound is None:
            self._refuse(
                "bound-by",
                f"bound_by={self.bound_by!r} proves a bound that is not given",
                "A least value on a box is bounded by the engine itself.",
                "Leave bound_by out, or write bound=... in the place of over.",
            )
        if set(self.at) != set(self.over):
            self._refuse(
                "box-point",
                f"at={dict(self.at)} is no point of the box over {', '.join(map(str, self.over)) or 'nothing'}",
                "The point where the least value is attained has a coordinate for every parameter.",
                "Write at={x: Rational(1, 2)} with the letters of over.",
            )
            return
        at = {k: obeying(self, k, exact_number(self, k, v)) for k, v in self.at.items()}
        object.__setattr__(self, "at", MappingProxyType(at))
        for letter, (lower, upper) in self.over.items():
            if not lower <= self.at[letter] <= upper:
                self._refuse(
                    "box-point",
                    f"at {letter} = {self.at[letter]} lies outside [{lower}, {upper}]",
                    "A least value on a box is attained in it.",
                    "Correct at or over.",
                )

    @property
    def lemmas(self) -> tuple[str, ...]:
        return (self.bound_by,) if self.bound_by else ()

    @property
    def range(self) -> Mapping[Parameter, tuple[Expr, Expr]]:
        return self.over

    @property
    def prediction(self) -> Expr:
        return self.bound if self.bound is not None else self.value.subs(dict(self.at))

    @property
    def formula(self) -> str:
        if not self.over:
            return f"min = {inline(self.value)}, bounded below by {inline(self.bound)}"
        return f"min {inline(self.value)} = {inline(self.prediction)}"

    @property
    def regime(self) -> str:
        point = ", ".join(f"{inline(letter)} = {inline(value)}" for letter, value in self.at.items())
        return f"at {point}  {in_box(self.over)}" if self.over else ""

    @property
    def formula_latex(self) -> str:
        if not self.over:
            return rf"\min = {latex(self.value)} \ge {latex(self.bound)}"
        return rf"\min {latex(self.value)} = {latex(self.prediction)}{in_box_latex(self.over)}"

    def wrong_variants(self) -> Iterator[Change]:
        """The bound raised and the value lowered by twice the margin; the point moved to an end of the box."""
        assert self.margin is not None
        if self.bound is not None:
            yield "bound raised by twice the margin", {"bound": self.bound + 2 * self.margin.value}
            yield "value lowered by twice the margin", {"value": self.value - 2 * self.margin.value}
        for letter, ends in self.over.items():
            for end in ends:
                if self.at[letter] != end:
                    yield f"attained at {letter} = {end}", {"at": {**self.at, letter: end}}

    def weaker_variants(self) -> Iterator[Change]:
        """Twice the margin."""
        yield from wider(self.margin)
