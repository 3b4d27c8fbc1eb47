r"""Error budget over several attempts: the level of each, and the charge on its p-value.

$\alpha_k = 6\alpha/(\pi^2 k^2)$ sums to $\alpha$ over k = 1, 2, ...; a p-value of attempt k is at most $\alpha_k$ iff
the charged one, $p\,\pi^2 k^2/6$, is at most $\alpha$.
"""

from __future__ import annotations

import math

from theorax.errors import DesignError

__all__ = ["charged", "level_of"]


def level_of(level: float, attempt: int) -> float:
    """The level of this attempt, of a budget over all of them."""
    return level / _cost(attempt)


def charged(p: float, attempt: int) -> float:
    """The p-value of this attempt, to be held against the whole budget."""
    return min(1.0, p * _cost(attempt))


def _cost(attempt: int) -> float:
    if attempt < 1:
        raise DesignError(f"Attempt {attempt} was asked for. Attempts are counted from one. Write `1` for the first.")
    return math.pi**2 * attempt**2 / 6
