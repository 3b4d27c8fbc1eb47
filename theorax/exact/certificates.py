"""Inequalities between JAX functions on a box: a counterexample is searched for, or the whole box is certified."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

import numpy as np

from theorax.decide.equivalence import decide
from theorax.decide.estimators import proportion
from theorax.decide.findings import Finding
from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Reason, Side, Status
from theorax.decide.verdict import LOOSE, Assumption, ErrorRates, Grounds, Statement, Verdict, conclude
from theorax.decide.wording import Shown, case_of, found_by
from theorax.errors import TheoraxError, UsageError
from theorax.exact import branch_and_bound
from theorax.exact.counterexamples import Search, quantiles
from theorax.exact.counterexamples import search as searched
from theorax.exact.decisions import decided, exactly, told
from theorax.exact.enclosures import Enclosure
from theorax.exact.own_functions import Bounds, Function, called, exact, of_vector, sides_of, whole
from theorax.numerics.arithmetics import UnsupportedPrimitive, fingerprint
from theorax.numerics.keys import seed_of

__all__ = ["certify", "search"]

CONTENT = 0.02
"""The share of the box that a search without a violation may leave open."""
DRAWS = 300
PROGRAM = Assumption(
    "program", "the program is read in real arithmetic, each of its literals as the double that it is", "declared"
)


def certify(
    function: Function,
    box: Bounds,
    *,
    at_most: Function | None = None,
    slack: Any = 0,
    budget: int = 20_000,
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
    claim = _Claim.of(function, at_most, box, slack, name)
    whole("budget", budget)
    try:
        enclosure = claim.enclosure()
        found = branch_and_bound.certify(enclosure, claim.box, claim.slack, budget)
        if found.status is Status.INCONCLUSIVE:
            other = _searched(claim, enclosure, 4096, 0, 0)
            found = other.refuted or found
    except UnsupportedPrimitive as error:
        return claim.verdict(decided(Status.INCONCLUSIVE, Reason.BUDGET), str(error).rstrip("."), "", rigorous=False)
    lowest = -math.inf if found.lowest is None else found.lowest
    decision = decided(
        found.status,
        found.reason,
        estimate=lowest if found.value is None else float(found.value.mid()),
        lower=0.0 - float(claim.slack) if found.status is Status.CERTIFIED else lowest,
    )
    rigorous = found.status is not Status.INCONCLUSIVE
    scope = f"every point of {claim.domain}" + (f", with slack {exactly(claim.slack)}" if claim.slack else "")
    return claim.verdict(decision, told(found, claim.names), scope if rigorous else "", rigorous=rigorous)


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
    claim = _Claim.of(function, at_most, box, slack, name)
    whole("evaluations", evaluations)
    whole("draws", draws)
    if not 0 < content < 1:
        raise UsageError(
            f"content={content!r} is no share of the box. Write a number between 0 and 1, 0.02 by default."
        )
    try:
        enclosure = claim.enclosure()
        found = _searched(claim, enclosure, evaluations, draws, seed)
    except UnsupportedPrimitive as error:
        return claim.verdict(decided(Status.INCONCLUSIVE, Reason.BUDGET), str(error).rstrip("."), "", rigorous=False)
    if found.refuted is not None:
        value = found.refuted.value
        decision = decided(Status.REFUTED, estimate=float(value.mid()) if value is not None else math.nan)
        scope = f"every point of {claim.domain}"
        return claim.verdict(decision, told(found.refuted, claim.names), scope, rigorous=True)
    outcomes = np.zeros(draws)
    outcomes[: found.violations] = 1.0
    share = proportion(outcomes)
    decision = decide(share, 0.0, content, Side.AT_MOST, levels)
    open_share = share.upper(levels.support)
    if found.undecided or found.worst < -float(claim.slack):
        # A float below zero that no ball confirms, or a ball that holds zero: rounding, or equality.
        decision = decided(Status.INCONCLUSIVE, Reason.NUMERIC_FLOOR, estimate=found.worst, levels=levels)
        detail = (
            f"floats come to {found.worst:.3g} below, and no ball of 512 bits decides the sign there or at "
            f"{found.undecided} of the {draws} draws"
        )
        return claim.verdict(decision, detail, "", rigorous=False, found=found)
    detail = (
        f"no violation in {found.evaluations} evaluations, the nearest to one {found.worst:.3g} ({found.family} points); "
        f"{draws} uniform draws in balls leave at most a share {open_share:.2g} of the box open, "
        f"at level {levels.support:g}"
    )
    scope = f"the uniform measure on {claim.domain}, but for a share {open_share:.2g}"
    return claim.verdict(decision, detail, scope, rigorous=False, found=found)


def claim_on(function: Function, box: Bounds, slack: Any, name: str, says: str) -> _Claim:
    """A claim on the least value of a function, ``says`` being what it says of it.

    **Raises:** ``UsageError`` for a box or a function that cannot be meant.
    """
    claim = _Claim.of(function, None, box, slack, name)
    of = called(function, "f", claim.names, by_name=isinstance(box, Mapping))
    flat = all(low == high for low, high in claim.sides_exact)
    where = "" if flat else f"  for {claim.domain}"
    return replace(claim, statement=f"{of} {says}{where}", kind="optimum")


def _searched(claim: _Claim, enclosure: Enclosure, evaluations: int, draws: int, seed: int) -> Search:
    rng = np.random.default_rng(seed_of("search", claim.statement, str(claim.slack), str(seed)))
    return searched(
        enclosure,
        claim.program,
        claim.box,
        rng,
        claim.slack,
        evaluations,
        draws,
        claim.sides if claim.bounded else None,
    )


@final
@dataclass(frozen=True)
class _Claim:
    """An inequality as it was given: both sides as functions of one vector."""

    name: str
    statement: str
    names: tuple[str, ...]
    box: branch_and_bound.Box
    domain: str
    slack: Fraction
    sides: tuple[Function, Function]
    bounded: bool
    sides_exact: tuple[tuple[Fraction, Fraction], ...]
    kind: str = "inequality"

    @classmethod
    def of(cls, function: Function, at_most: Function | None, box: Bounds, slack: Any, name: str) -> _Claim:
        names, sides = sides_of(box)
        by_name = isinstance(box, Mapping)
        left = of_vector(function, names, by_name)
        domain = ", ".join(
            f"{part} in [{exactly(low)}, {exactly(high)}]" for part, (low, high) in zip(names, sides, strict=True)
        )
        weaker = exact(slack, "slack")
        if weaker < 0:
            raise UsageError(
                f"slack={slack!r} is negative. A slack weakens the claim. Write zero or a positive number."
            )
        name_of = called(function, "f", names, by_name)
        if at_most is None:
            pair = (lambda x: -left(x), lambda x: 0.0 * x[0])
            statement = f"{name_of} ≥ {exactly(-weaker)}"
        else:
            pair = (left, of_vector(at_most, names, by_name))
            added = f" + {exactly(weaker)}" if weaker else ""
            statement = f"{name_of} ≤ {called(at_most, 'g', names, by_name)}{added}"
        whole = f"{statement}  for {domain}"
        return cls(name, whole, names, branch_and_bound.Box.of(sides), domain, weaker, pair, at_most is not None, sides)

    @property
    def program(self) -> Function:
        """What must be nowhere below minus the slack."""
        left, right = self.sides
        return (lambda x: right(x) - left(x)) if self.bounded else (lambda x: -left(x))

    def enclosure(self) -> Enclosure:
        """The program in balls.

        **Raises:** ``UsageError`` where the functions cannot be called on a point of the box.
        """
        try:
            return Enclosure(self.program, len(self.names))
        except TheoraxError:
            raise
        except Exception as error:  # whatever the user's function does when it is traced
            first = str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
            raise UsageError(
                f"The function cannot be called on a point of the box ({', '.join(self.names)}): {first}. "
                "It must be made of JAX operations that take these numbers. Use jax.numpy instead of numpy inside it."
            ) from None

    def verdict(
        self,
        decision: Decision,
        detail: str,
        scope: str,
        *,
        rigorous: bool,
        found: Search | None = None,
        assumptions: tuple[Assumption, ...] = (),
    ) -> Verdict:
        """The verdict on this one claim."""
        tightness = quantiles(self.sides, self._points(found)) if self.bounded else None
        unseen = () if rigorous else ("violations in a smaller share of the box than the one left open",)
        if tightness is not None and abs(tightness[1]) < LOOSE:
            unseen = (*unseen, "LOOSE: the left side is mostly below a thousandth of the right side")
        stated = Statement(
            id=self.name,
            kind=self.kind,
            statement=self.statement,
            margin_given=f"slack {exactly(self.slack)}" if self.slack else None,
            design_hash=self.hash,
            side=Side.AT_MOST if self.bounded else Side.AT_LEAST,
        )
        grounds = Grounds(
            draws=found.draws if found is not None else 0,
            unseen=unseen,
            scope=scope,
            ledger=(PROGRAM, *assumptions),
            tightness=tightness,
        )
        refuted = Finding.COUNTEREXAMPLE if decision.status is Status.REFUTED else None
        level = decision.levels.support if not rigorous and decision.status is Status.SUPPORTED else None
        return conclude(
            stated,
            grounds,
            [found_by(decision, refuted, level=None, detail=detail)],
            [case_of(decision, Shown(self.name, {}, None, margin=decision.margin or None), detail=detail)],
            rates=ErrorRates.of(decision, level),
        )

    @property
    def hash(self) -> str:
        """A digest of the statement and of the program itself, at this version of JAX."""
        program = fingerprint(self.program, (np.zeros(len(self.names)),))
        return hashlib.sha256(f"{self.statement}\n{program}".encode()).hexdigest()[:16]

    def _points(self, found: Search | None) -> np.ndarray:
        if found is not None:
            return found.points
        rng = np.random.default_rng(seed_of("tightness", self.statement))
        low, high = (
            np.asarray([float(Fraction(int(e.p), int(e.q))) for e in ends])
            for ends in zip(*self.box.sides, strict=True)
        )
        return low + (high - low) * rng.random((256, len(self.names)))
