"""The common part of limits, rates and laws: a size that tends to infinity, and a class of corrections on the way."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass

from sympy import latex

from theorax.decide.correction_words import class_assumption
from theorax.decide.corrections import Corrections
from theorax.decide.verdict import Assumption
from theorax.language.argument_types import takes
from theorax.language.claims.claim import Claim
from theorax.language.letters import Size


@dataclass(frozen=True, kw_only=True)
class AsymptoticClaim(Claim, ABC):
    """A claim about what happens as the size ``as_`` tends to infinity, within the class ``approach``; abstract."""

    as_: Size
    approach: Corrections

    def __post_init__(self) -> None:
        takes(
            type(self).__name__,
            "approach",
            self.approach,
            Corrections,
            "Write Corrections() for the default class, or Expansion(...).",
        )
        super().__post_init__()
        if not isinstance(self.as_, Size):
            self._refuse(
                "tends-size",
                f"as_={self.as_} is not a Size",
                "Only a size tends to infinity.",
                f'Declare it: {self.as_} = Size("{self.as_}", "what it counts").',
            )

    @property
    def tending(self) -> Size:
        return self.as_

    @property
    def tending_latex(self) -> str:
        """The size that tends to infinity, beside the statement."""
        return rf" \quad ({latex(self.as_)} \to \infty)"

    def seen_at(self, sizes: str) -> str:
        return f"as {self.as_} → ∞ under the declared class of corrections, seen at {sizes}"

    @property
    def correction_unit(self) -> str:
        """Unit of the class of corrections, as a clause between commas."""
        return ", in relative terms,"

    def assumptions(self) -> tuple[Assumption, ...]:
        """The class of corrections at finite sizes."""
        return (
            class_assumption(
                self.approach, str(self.as_), unit=self.correction_unit, in_limit=not self.predicts_an_exponent
            ),
        )
