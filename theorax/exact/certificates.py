"""Inequalities between JAX functions on a box: a counterexample is searched for, or the whole box is certified."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

import numpy as np

from theorax.decide.case_results import NothingEstimated, OwnCell, PlannedCase
from theorax.decide.conclusions import conclude
from theorax.decide.exact_kinds import OPTIMUM
from theorax.decide.findings import Finding
from theorax.decide.inequalities import WORDS
from theorax.decide.kinds import KindWords
from theorax.decide.plans import Tested
from theorax.decide.status import DEFAULT_LEVELS, Levels, Side, Status
from theorax.decide.verdict import Assumption, Standing, Statement, Verdict
from theorax.decide.wording import found_by
from theorax.errors import TheoraxError, UsageError
from theorax.exact.box_problems import BUDGET, BoxFinding, BoxProblem, nowhere_negative, violation_searched
from theorax.exact.decisions import exactly
from theorax.exact.enclosures import Box, Enclosure
from theorax.exact.own_functions import (
    Bounds,
    Function,
    applied_function,
    box_sides,
    exact_bound,
    of_vector,
    whole_number,
)
from theorax.numerics.arithmetics import fingerprint, narrow_casts

__all__ = ["OwnClaim", "certify", "claim_on", "search"]

CONTENT = 0.02
"""The share of the box that a search without a violation may leave open."""
DRAWS = 300
PROGRAM = Assumption(
    "program",
    "the program is read in real arithmetic, each of its literals as the double that it is",
    Standing.DECLARED,
)


def certify(
    function: Function,
    box: Bounds,
    *,
    at_most: Function | None = None,
    slack: Any = 0,
    budget: int = BUDGET,
    name: str = "inequality",
) -> Verdict:
    """Decide that ``function`` is nowhere negative on the box, or nowhere above ``at_most``, by branch and bound.

    ``box`` names its sides, ``{"x": (0, 1), "y": (0, Fraction(1, 3))}``, and the functions take numbers by these names;
    or it is a list of sides, and they take one vector. Ends are exact: integers, fractions, floats as the dyadics they
    are. ``slack``: the claim is weakened by so much, where it holds with equality inside the box. ``budget``: boxes.

    >>> from theorax import exact
    >>> print(exact.certify(lambda x, y: x**2 + y**2 - x * y, {"x": (-1, 2), "y": (1, 2)}).status)
    CERTIFIED

    **Errors:** none: CERTIFIED and REFUTED rest on balls alone. INCONCLUSIVE says what is left.

    **Raises:** ``UsageError`` for a box or a function that cannot be meant.
    """
    claim = _inequality(function, at_most, box, slack, name)
    whole_number("budget", budget)
    return claim.verdict(nowhere_negative(claim.problem, budget))


def search(
    function: Function,
    box: Bounds,
    *,
    at_most: Function | None = None,
    slack: Any = 0,
    evaluations: int = 4096,
    draws: int = DRAWS,
    content: float = CONTENT,
    levels: Levels = DEFAULT_LEVELS,
    seed: int = 0,
    name: str = "inequality",
) -> Verdict:
    r"""Search the box for a point where ``function`` is negative, or above ``at_most``; arguments as in `certify`.

    Floats propose, balls of up to 512 bits decide at the exact point: a violation that no ball confirms refutes
    nothing. Without one, the first ``draws`` uniform points, each looked at in balls, exclude that more than a share
    $1 - \alpha^{1/N}$ of the box violates the claim: support at that scope, never for every point.

    **Errors:** REFUTED carries none; SUPPORTED is false with probability at most ``levels.support`` for the stated
    share of the uniform measure, and says nothing of smaller regions.

    **Raises:** ``UsageError`` for a box or a function that cannot be meant.
    """
    claim = _inequality(function, at_most, box, slack, name)
    whole_number("evaluations", evaluations)
    whole_number("draws", draws)
    if not 0 < content < 1:
        raise UsageError(
            f"content={content!r} is no share of the box. Write a number between 0 and 1, 0.02 by default."
        )
    return claim.verdict(violation_searched(claim.problem, evaluations, draws, content, levels, seed))


@final
@dataclass(frozen=True)
class OwnClaim:
    """A problem of a user's functions with its statement."""

    name: str
    statement: str
    problem: BoxProblem
    words: KindWords = WORDS

    def verdict(self, found: BoxFinding, assumptions: tuple[Assumption, ...] = ()) -> Verdict:
        """The verdict on this one claim."""
        decision, slack = found.decision, self.problem.slack
        stated = Statement(
            id=self.name,
            kind=self.words.kind,
            words=self.words,
            statement=self.statement,
            margin_given=f"slack {exactly(slack)}" if slack else None,
            design_hash=self.hash,
            side=Side.AT_LEAST if self.problem.sides is None else Side.AT_MOST,
        )
        refuted = Finding.COUNTEREXAMPLE if decision.status is Status.REFUTED else None
        refuted = Finding.TRIVIAL_BOUND if found.trivial else refuted
        level = decision.levels.support if found.statistical and decision.status is Status.SUPPORTED else None
        planned = PlannedCase(
            cell=OwnCell(self.name),
            plan=NothingEstimated(margin=decision.margin, name=self.name),
            claimed=None,
            margin=decision.margin or None,
        )
        case = planned.decided(Tested(decision, unseen=found.unseen, detail=found.detail))
        return conclude(
            stated,
            [replace(case, tightness=found.tightness)],
            [found_by(decision, refuted, level=None, detail=found.detail)],
            decision=decision,
            level=level,
            scope=found.scope,
            ledger=(PROGRAM, *self._casts, *assumptions),
            draws=found.draws,
        )

    @property
    def _casts(self) -> tuple[Assumption, ...]:
        """The rounding that the program's casts to narrower floats are believed to have."""
        return tuple(
            Assumption(
                "program", f"a cast to {name} rounds by at most a unit roundoff, or underflows", Standing.DECLARED
            )
            for name in narrow_casts(self.problem.program, (np.zeros(len(self.problem.names)),))
        )

    @property
    def hash(self) -> str:
        """A digest of the statement and of the program itself, at this version of JAX."""
        program = fingerprint(self.problem.program, (np.zeros(len(self.problem.names)),))
        return hashlib.sha256(f"{self.statement}\n{program}".encode()).hexdigest()[:16]


def claim_on(function: Function, box: Bounds, slack: Any, name: str, says: str) -> OwnClaim:
    """A claim on the least value of a function, ``says`` being what it says of it.

    **Raises:** ``UsageError`` for a box or a function that cannot be meant.
    """
    names, _ = box_sides(box)
    by_name = isinstance(box, Mapping)
    program = of_vector(function, names, by_name)
    statement = f"{applied_function(function, 'f', names, by_name)} {says}"
    return _claim(name, statement, box, _slack(slack), program, words=OPTIMUM)


def _inequality(function: Function, at_most: Function | None, box: Bounds, slack: Any, name: str) -> OwnClaim:
    names, _ = box_sides(box)
    by_name = isinstance(box, Mapping)
    left, weaker = of_vector(function, names, by_name), _slack(slack)
    of = applied_function(function, "f", names, by_name)
    if at_most is None:
        return _claim(name, f"{of} ≥ {exactly(-weaker)}", box, weaker, left)
    right = of_vector(at_most, names, by_name)
    statement = f"{of} ≤ {applied_function(at_most, 'g', names, by_name)}" + (f" + {exactly(weaker)}" if weaker else "")
    return _claim(name, statement, box, weaker, lambda x: right(x) - left(x), (left, right))


def _slack(slack: Any) -> Fraction:
    weaker = exact_bound(slack, "slack")
    if weaker < 0:
        raise UsageError(f"slack={slack!r} is negative. A slack weakens the claim. Write zero or a positive number.")
    return weaker


def _claim(
    name: str,
    statement: str,
    box: Bounds,
    slack: Fraction,
    program: Function,
    sides: tuple[Function, Function] | None = None,
    words: KindWords = WORDS,
) -> OwnClaim:
    names, ends = box_sides(box)
    domain = Box.of(ends)
    problem = BoxProblem(names, domain, slack, lambda: _enclosed(program, names), program, "", sides)
    if any(low < high for low, high in ends):
        statement = f"{statement}  for {problem.domain}"
    return OwnClaim(name, statement, replace(problem, key=f"{statement} {slack}"), words)


def _enclosed(program: Function, names: Sequence[str]) -> Enclosure:
    """The program in balls.

    **Raises:** ``UsageError`` where the functions cannot be called on a point of the box.
    """
    try:
        return Enclosure(program, len(names))
    except TheoraxError:
        raise
    except Exception as error:  # whatever the user's function does when it is traced
        first = str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
        raise UsageError(
            f"The function cannot be called on a point of the box ({', '.join(names)}): {first}. "
            "It must be made of JAX operations that take these numbers. Use jax.numpy instead of numpy inside it."
        ) from None
