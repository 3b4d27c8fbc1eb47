"""Reach of a claim beyond the sizes it was seen at: the factor by which its class of corrections may grow."""

from __future__ import annotations

import math
from dataclasses import dataclass

from theorax.decide.findings import ShownBy

__all__ = ["Reach"]


@dataclass(frozen=True, order=True)
class Reach:
    """The factor by which the corrections of a measured claim may grow before its word falls; the weakest comes first.

    ``fragile``: twice the class, or a class of slower corrections, leaves the claim open. Sizes that share their
    arithmetic do not make it so: they are named among what was not looked at.
    """

    factor: float
    name: str
    fragile: bool

    @classmethod
    def of(
        cls, name: str, shown_by: str | None, factor: float | None, robust: bool | None, under_twice: bool | None
    ) -> Reach | None:
        """The reach of a claim by the fields of its verdict; None where nothing is extrapolated under a class."""
        if shown_by != ShownBy.MEASURED or robust is None or factor is None or not math.isfinite(factor):
            return None
        return cls(factor, name, not robust and not under_twice)
