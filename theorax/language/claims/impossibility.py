"""Impossibilities: a distance that no member of a class falls below, by a search or by a certified lower bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, final

from sympy import Expr, latex

from theorax.decide.exact_kinds import IMPOSSIBILITY
from theorax.decide.status import Side
from theorax.language.claims.claim import NOTHING, Claim, exact_box
from theorax.language.letters import Parameter
from theorax.language.notation import in_box, in_box_latex, inline
from theorax.language.variants import Change


@final
@dataclass(frozen=True)
class Impossibility(Claim):
    """No member of a class comes nearer than ``at_least``.

    By a search: ``distance`` is what each draw, a restart of an optimiser on the target, has reached, and ``planted``
    what the same optimiser with the same budget reaches on targets that are members; these count as found below ``tol``.
    ``started``: the distance of a planted member from where its search starts; one that starts below ``tol`` needs no
    search and does not count.
    By a certified lower bound: ``distance`` is an expression in parameters, ``over`` their exact ranges.
    ``obstruction``: the property of all members that the target lacks, where a proof of the claim settles it.
    """

    distance: Expr
    at_least: Expr
    _: KW_ONLY
    obstruction: str = ""
    planted: Expr | None = None
    started: Expr | None = None
    tol: Expr | None = None
    over: Mapping[Parameter, tuple[Any, Any]] = field(default_factory=lambda: NOTHING)
    words = IMPOSSIBILITY
    measured_fields = ("distance", "planted", "started")
    stated_fields = ("at_least", "tol")
    predicted_fields = ("at_least",)
    speaks_of_the_law_drawn = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "over", exact_box(self))
        if self.at_least.is_number and not self.at_least > 0:
            self._refuse(
                "positive-distance",
                f"at_least={self.at_least} is not positive",
                "Every distance is at least zero: the bound would say nothing.",
                "Write a positive distance.",
            )
        if bool(self.over) == (self.planted is not None):
            self._refuse(
                "planted",
                "it has neither planted members nor a box" if not self.over else "it has planted members and a box",
                "A search that finds nothing shows something only if it finds what is there; a certified bound needs "
                "no search.",
                "Write planted=... with tol=..., or over={w: (-1, 1)}.",
            )
        if self.planted is not None and not (self.tol is not None and self.tol > 0):
            self._refuse(
                "planted",
                f"tol={self.tol} tells no member from the others",
                "A planted member counts as found below a distance that is stated before the search.",
                "Write tol=Rational(1, 10**6).",
            )

        if (self.planted is None) != (self.started is None):
            self._refuse(
                "planted",
                "it does not say where the searches for planted members start"
                if self.planted is not None
                else "it has a start and no planted members",
                "A search that starts at a member finds it without searching.",
                "Measure the distance at the start too, and write started=... beside planted=....",
            )

    @property
    def range(self) -> Mapping[Parameter, tuple[Expr, Expr]]:
        return self.over

    @property
    def searched(self) -> bool:
        return self.planted is not None

    @property
    def sided(self) -> Side:
        return Side.AT_LEAST

    @property
    def formula(self) -> str:
        return f"{inline(self.distance)} ≥ {inline(self.at_least)}"

    @property
    def regime(self) -> str:
        return in_box(self.over) or "for every member"

    def seen_regime(self, draws: int = 0) -> str:
        return in_box(self.over) or (f"in {draws} of {draws} restarts" if draws else "in the restarts seen")

    @property
    def formula_latex(self) -> str:
        return rf"{latex(self.distance)} \ge {latex(self.at_least)}{in_box_latex(self.over)}"

    def wrong_variants(self) -> Iterator[Change]:
        """The planted members in the place of the search."""
        if self.planted is not None:
            yield "the planted members searched for", {"distance": self.planted}

    def sharper_variants(self) -> Iterator[Change]:
        """Twice the distance."""
        yield "twice the distance", {"at_least": 2 * self.at_least}

    def weaker_variants(self) -> Iterator[Change]:
        """Half the distance."""
        yield "half the distance", {"at_least": self.at_least / 2}
