"""Problems on a box and the one decision on each: nowhere negative, searched for a violation, least at a point.

A user's JAX functions and a claim's SymPy expressions are lowered to the same problem; what is found of it is a decision
with its sentence, its scope and what it could not have seen.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import wraps
from typing import Any, Concatenate, ParamSpec, final

import numpy as np
from flint import fmpq

from theorax.decide.equivalence import decide
from theorax.decide.estimators import proportion
from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Reason, Side, Status
from theorax.decide.verdict import Tightness
from theorax.exact import branch_and_bound
from theorax.exact.algebra import proof_of, value_at
from theorax.exact.branch_and_bound import Certificate
from theorax.exact.counterexamples import Search, tightness_at
from theorax.exact.counterexamples import search_box as searched
from theorax.exact.decisions import decided, exactly, search_sentence
from theorax.exact.enclosures import Box, Enclosure, fraction, rational
from theorax.exact.krawczyk import PRECISION, Critical, Zero
from theorax.exact.least_values import least_on_box, local, restarts, what_of
from theorax.exact.touching import valleys_of
from theorax.names import many
from theorax.numerics.arithmetics import UnsupportedPrimitive, narrow_casts
from theorax.numerics.arithmetics.failures import UndecidedComparison
from theorax.numerics.keys import seed_of

__all__ = ["BUDGET", "STARTS", "BoxFinding", "BoxProblem", "least_at", "nowhere_negative", "violation_searched"]

BUDGET = 20_000
"""Boxes of a search by branch and bound."""

STARTS = 368
"""Descents that exclude a share of 0.01 of better starts at level 0.025: the fewest that do."""

BASINS = 0.01
"""The share of starts whose basin may hold a better value after a search from independent starts."""

PIECES = 64
"""Boxes over which the range of a value is bounded: a margin above that bound would pass every point."""

SAMPLED = 1024
"""Points at which the two sides of a bound are compared for its tightness."""

P = ParamSpec("P")


@final
@dataclass(frozen=True)
class BoxProblem:
    """A function that ought to be nowhere below minus the slack on a box.

    ``enclosure`` makes it in balls, which decide; ``program`` is it in floats, which propose. ``sides``: the left and
    the right side of a bound of which it is the difference, right minus left. ``key``: what random points are drawn by.
    """

    names: tuple[str, ...]
    box: Box
    slack: Fraction
    enclosure: Callable[[], Enclosure]
    program: Callable[[Any], Any]
    key: str
    sides: tuple[Callable[[Any], Any], Callable[[Any], Any]] | None = None

    @property
    def domain(self) -> str:
        """The box in words."""
        ends = [(exactly(fraction(low)), exactly(fraction(high))) for low, high in self.box.sides]
        return ", ".join(f"{name} in [{low}, {high}]" for name, (low, high) in zip(self.names, ends, strict=True))

    @property
    def everywhere(self) -> str:
        """The whole box as a scope."""
        return f"every point of {self.domain}" + (f", with slack {exactly(self.slack)}" if self.slack else "")

    def drawn(self, purpose: str, seed: int = 0) -> np.random.Generator:
        """Random numbers for one purpose, a function of the problem and the seed."""
        return np.random.default_rng(seed_of(purpose, self.key, str(seed)))

    def tightness(self) -> Tightness | None:
        """Quantiles of the left side over the right at uniform points; None where there are no two sides in floats."""
        if self.sides is None:
            return None
        rng = np.random.default_rng(seed_of("tightness", self.key))
        low, high = self.box.ends
        try:
            return tightness_at(self.sides, low + (high - low) * rng.random((SAMPLED, len(self.names))))
        except UnsupportedPrimitive:
            return None


@final
@dataclass(frozen=True)
class BoxFinding:
    """Decision of a problem on a box; ``statistical``: by draws, so that the decision has an error rate.

    ``tightness`` computes the quantiles of the bound when it is asked: nobody asks for those of a claim's variants.
    """

    decision: Decision
    detail: str
    scope: str = ""
    statistical: bool = False
    draws: int = 0
    tightness: Callable[[], Tightness | None] = lambda: None
    trivial: bool = False  # it holds whatever point was claimed

    @property
    def rigorous(self) -> bool:
        """True if balls have decided."""
        return self.decision.status in (Status.CERTIFIED, Status.REFUTED)

    @property
    def unseen(self) -> tuple[str, ...]:
        """Limits of the decision: violations that it could miss."""
        return () if self.rigorous else ("violations in a smaller share of the box than the one left open",)


def _followed(
    decision: Callable[Concatenate[BoxProblem, P], BoxFinding],
) -> Callable[Concatenate[BoxProblem, P], BoxFinding]:
    """Leave a function without an enclosure undecided; the tightness of its bound is told all the same."""

    @wraps(decision)
    def found(problem: BoxProblem, *given: P.args, **named: P.kwargs) -> BoxFinding:
        try:
            answer = decision(problem, *given, **named)
        except UnsupportedPrimitive as error:
            answer = BoxFinding(decided(Status.INCONCLUSIVE, Reason.BUDGET), str(error).rstrip("."))
        return replace(answer, tightness=problem.tightness)

    return found


@_followed
def nowhere_negative(problem: BoxProblem, budget: int = BUDGET) -> BoxFinding:
    """Decide that the function is nowhere below minus the slack: by algebra, by branch and bound, then by a search."""
    enclosure = problem.enclosure()
    found = _by_algebra(enclosure, problem) or branch_and_bound.certify_on_box(
        enclosure, problem.box, problem.slack, budget
    )
    if found.status is Status.INCONCLUSIVE:
        found = _search(problem, enclosure, 4096, 0, 0).refuted or _touching(problem, enclosure, found, budget)
    lowest = -math.inf if found.lowest is None else found.lowest
    decision = decided(
        found.status,
        found.reason,
        estimate=_value(found, lowest),
        lower=0.0 - float(problem.slack) if found.status is Status.CERTIFIED else lowest,
    )
    certain = found.status is not Status.INCONCLUSIVE
    return BoxFinding(decision, search_sentence(found, problem.names), problem.everywhere if certain else "")


def _touching(problem: BoxProblem, enclosure: Enclosure, found: Certificate, budget: int) -> Certificate:
    """The search again, without the neighbourhoods of exact zeros on which a derivative gives the sign."""
    valleys = () if problem.slack else valleys_of(enclosure, problem.box, found.left)
    if not valleys:
        return found
    again = branch_and_bound.certify_on_box(enclosure, problem.box, problem.slack, budget, valleys=valleys)
    zeros = " and ".join(
        f"[{exactly(fraction(low))}, {exactly(fraction(high))}]" for ((low, high),) in (v.sides for v in valleys)
    )
    return replace(again, beside=f"; on {zeros} by the derivatives at an exact zero")


@_followed
def violation_searched(
    problem: BoxProblem, evaluations: int, draws: int, content: float, levels: Levels = DEFAULT_LEVELS, seed: int = 0
) -> BoxFinding:
    """Search the box for a violation; its uniform draws, looked at in balls, exclude a share of ``content``."""
    found = _search(problem, problem.enclosure(), evaluations, draws, seed)
    if found.refuted is not None:
        decision = decided(Status.REFUTED, estimate=_value(found.refuted, math.nan))
        return BoxFinding(
            decision,
            search_sentence(found.refuted, problem.names),
            f"every point of {problem.domain}",
            draws=found.draws,
        )
    outcomes = np.zeros(draws)
    outcomes[: found.violations] = 1.0
    share = proportion(outcomes)
    decision = decide(share, 0.0, content, Side.AT_MOST, levels)
    open_share = share.upper(levels.support)
    if found.undecided or found.worst < -float(problem.slack):
        # A float below zero that no ball confirms, or a ball that holds zero: rounding, or equality.
        decision = decided(Status.INCONCLUSIVE, Reason.NUMERIC_FLOOR, estimate=found.worst, levels=levels)
        detail = (
            f"floats come to {found.worst:.3g} below, and no ball of 512 bits decides the sign there or at "
            f"{found.undecided} of the {many(draws, 'draw')}"
        )
        return BoxFinding(decision, detail, draws=found.draws)
    detail = (
        f"no violation in {found.evaluations} evaluations, the nearest to one {found.worst:.3g} "
        f"(points: {found.family}); {draws} uniform draws leave open at most a share {open_share:.2g}, "
        f"at level {levels.support:g}"
    )
    scope = f"the uniform measure on {problem.domain}, but for a share {open_share:.2g}"
    return BoxFinding(decision, detail, scope, statistical=True, draws=found.draws)


@_followed
def least_at(
    problem: BoxProblem,
    at: Sequence[Fraction],
    budget: int = BUDGET,
    starts: int = STARTS,
    levels: Levels = DEFAULT_LEVELS,
    seed: int = 0,
) -> BoxFinding:
    """Decide that the function is least at a point of the box, up to the slack; descents follow what boxes leave open."""
    enclosure = problem.enclosure()
    if not _is_defined(enclosure, at):
        detail = f"the function has no finite value at the claimed point ({', '.join(map(exactly, at))})"
        return BoxFinding(decided(Status.INCONCLUSIVE, Reason.UNDECIDED_COMPARISON), detail)
    if problem.slack > 0 and (reach := _range(enclosure, problem.box)) <= problem.slack:
        detail = f"on the whole box the value varies by at most {reach:.3g}, less than the margin: every point passes"
        decision = decided(Status.CERTIFIED, lower=0.0 - float(problem.slack))
        return BoxFinding(decision, detail, problem.everywhere, trivial=True)
    level = value_at(enclosure, [rational(x) for x in at])
    algebra = None if level is None else _by_algebra(enclosure, problem, level)
    if algebra is not None:
        found, critical = algebra, local(enclosure.gradient, at)
    else:
        found, critical = least_on_box(enclosure, enclosure.gradient, at, problem.box, problem.slack, budget)
    left = search_sentence(found, problem.names, what_of(found))
    if found.status is not Status.INCONCLUSIVE:
        lowest = -math.inf if found.lowest is None else found.lowest
        certified = found.status is Status.CERTIFIED
        decision = decided(
            found.status,
            estimate=_value(found, lowest),
            lower=0.0 - float(problem.slack) if certified else lowest,
        )
        return BoxFinding(decision, left + (_strict(critical, problem.box) if certified else ""), problem.everywhere)
    tried = restarts(enclosure, problem.program, at, problem.box, problem.slack, starts, problem.drawn("minimum", seed))
    if tried.refuted is not None:
        decision = decided(Status.REFUTED, estimate=tried.lowest)
        return BoxFinding(decision, search_sentence(tried.refuted, problem.names, "the value"), problem.everywhere)
    if casts := narrow_casts(problem.program, (np.zeros(len(problem.names)),)):
        # The values that descents compare are known to the rounding of the cast alone.
        decision = decided(Status.INCONCLUSIVE, Reason.NUMERIC_FLOOR, estimate=tried.lowest, levels=levels)
        return BoxFinding(decision, f"descents cannot tell values apart that a cast to {casts[0]} rounds; {left}")
    share = proportion((np.arange(starts) < tried.better).astype(float))
    if tried.better:
        decision = decided(Status.INCONCLUSIVE, Reason.NUMERIC_FLOOR, estimate=tried.lowest, levels=levels)
        detail = f"{tried.better} of {starts} descents end lower in floats, and no ball confirms it; {left}"
        return BoxFinding(decision, detail)
    open_share = share.upper(levels.support)
    detail = (
        f"{starts} descents from uniform starts end no lower: basins of better value take at most a share "
        f"{open_share:.2g} of the starts, at level {levels.support:.3g}; {left}"
    )
    scope = f"descents from uniform starts in {problem.domain}, but for a share {open_share:.2g}"
    decision = decide(share, 0.0, BASINS, Side.AT_MOST, levels)
    return BoxFinding(decision, detail, scope, statistical=True, draws=starts)


def _is_defined(enclosure: Enclosure, at: Sequence[Fraction]) -> bool:
    """False where the ball of the value at a point is not finite; a comparison that balls leave open says nothing."""
    try:
        return bool(enclosure.at([rational(x) for x in at], PRECISION).is_finite())
    except UndecidedComparison:
        return True


def _range(enclosure: Enclosure, box: Box) -> float:
    """A bound of the largest less the smallest value on the box, in balls; infinite where none is found."""
    each = max(1, math.floor(PIECES ** (1 / len(box.sides))))
    cuts = [[low + (high - low) * i / each for i in range(each + 1)] for low, high in box.sides]
    lowest, highest = math.inf, -math.inf
    try:
        for sides in itertools.product(*(list(itertools.pairwise(side)) for side in cuts)):
            ball = enclosure.values(sides, PRECISION)
            lowest, highest = min(lowest, float(ball.lower())), max(highest, float(ball.upper()))
    except UndecidedComparison:
        return math.inf
    found = highest - lowest
    # Each end is rounded once, and so is their difference.
    return math.inf if math.isnan(found) else found + 4 * 2.0**-52 * max(abs(lowest), abs(highest))


def _by_algebra(enclosure: Enclosure, problem: BoxProblem, level: fmpq | None = None) -> Certificate | None:
    """The certificate of a polynomial that is at least the level, less the slack."""
    proof = proof_of(enclosure, problem.box, rational(problem.slack), level)
    return None if proof is None else Certificate(Status.CERTIFIED, 0, 0, problem.slack, proof=proof.told)


def _search(problem: BoxProblem, enclosure: Enclosure, evaluations: int, draws: int, seed: int) -> Search:
    return searched(
        enclosure,
        problem.program,
        problem.box,
        problem.drawn("search", seed),
        problem.slack,
        evaluations,
        draws,
        problem.sides,
    )


def _strict(critical: Critical | None, box: Box) -> str:
    """The words for the critical point beside the claimed one; none for one that may lie outside the box."""
    if critical is None or critical.shape != "minimum" or not _lies_in(critical.near, box):
        return ""
    return f"; the only critical point within {float(critical.alone.radius):.2g} is a strict minimum"


def _lies_in(zero: Zero, box: Box) -> bool:
    return all(
        fraction(low) <= x - zero.radius and x + zero.radius <= fraction(high)
        for x, (low, high) in zip(map(Fraction, zero.centre), box.sides, strict=True)
    )


def _value(found: Certificate, otherwise: float) -> float:
    """The middle of the ball at the point that refutes."""
    return otherwise if found.value is None else float(found.value.mid())
