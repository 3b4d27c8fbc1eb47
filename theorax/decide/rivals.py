r"""Forms that a class of corrections leaves out, held against the data: what would rescue a claim, or stand in its place.

Nobody vouches for the default class. Under it a word is withheld (`Reason.CLASS`) where a form outside the class explains
the data as well as the noise lets one see, on its own, without corrections of the class; support only where the claim on
its own does not:

| word | form | status |
|---|---|---|
| refuted | the claim with c/log n + d log log n/log n, or c n^(-1/4), together at most the size of the class | inconclusive |
| supported, a limit | another limit, off by the margin or more, with one of these corrections | inconclusive |
| supported, an order | a rival of the menu whose leading order lies outside the margin | inconclusive |

Exact values have no noise to hide in. Such a limit is withheld where the form is within the margin of every value; an order,
and a rival, may leave the rest of the class.

Under a class with a reason the word stands. Rivals of the menu are then fitted with the class of the claim. One whose
chi-squared is at most `NAMED` above that of the claim is named beside the word. One that is better by more than `NAMED`, and
whose leading order lies outside the margin, withholds support.

The menu of a power: the nearest simple exponents (multiples of a half and of a third), each times a power of log n; an
exponential; a constant. Of an exponential: a power. Of a limit: a slow decay to zero, and another limit with any multiple of
a slow correction where it explains the data alone and the claim alone does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np
from scipy.special import stdtrit

from theorax.decide.designs import Matrix, Plan, Policy, Target, Vector
from theorax.decide.form_fits import REJECTED, Averages, Fit, FormColumn, Group, class_columns, fit
from theorax.decide.slow_terms import Form, FormKind, SlowTerm
from theorax.decide.status import Side

__all__ = ["NAMED", "ClaimedForm", "better_rival", "explanation", "named_rivals", "rescue"]

NAMED = 6.6
"""Chi-squared that one more coefficient gains by chance with probability 0.01."""

SLOW = ((SlowTerm.LOG, SlowTerm.LOGLOG), (SlowTerm.ROOT,))
"""Slow corrections: a logarithm hardly comes alone, as in the largest of n normal numbers, so both have one bound."""

LOG_POWERS = (-1.0, -0.5, 0.5, 1.0)
LISTED = 3
_GRID = 41  # coefficients of a slow correction that are tried
Name = TypeVar("Name")
Rival: TypeAlias = tuple[Form, tuple[FormColumn, ...], tuple[Group, ...]]


@dataclass(frozen=True)
class ClaimedForm:
    """The claim of a sweep: its design, the claimed value in the units of the decision, and what is off by the margin.

    ``forgiven``: the deviation that the reading leaves the claim.
    """

    plan: Plan
    value: float
    margin: float
    forgiven: float

    @cached_property
    def level(self) -> tuple[FormColumn, ...]:
        """The unknown constant of an order: the logarithm of its factor; none of a limit."""
        return () if self.plan.target is Target.LIMIT else (FormColumn(np.ones(len(self.plan.sizes))),)

    @cached_property
    def direction(self) -> Vector:
        """Change of the averages with the value."""
        sizes = np.asarray(self.plan.sizes)
        match self.plan.target:
            case Target.LIMIT:
                return np.ones(len(sizes))
            case Target.EXPONENT:
                return -np.log(self.plan.relative_sizes)
        return -(sizes - sizes[0])

    def true(self) -> FormColumn:
        """The form at the values that make the claim true."""
        side, value, room = self.plan.side, self.value, self.forgiven
        low = -math.inf if side is Side.AT_MOST else value - room
        high = math.inf if side is Side.AT_LEAST else value + room
        return FormColumn(self.direction, low, high)

    def false(self) -> Iterator[FormColumn]:
        """The form at the values that are off by the margin or more."""
        if self.plan.side is not Side.AT_MOST:
            yield FormColumn(self.direction, -math.inf, self.value - self.margin)
        if self.plan.side is not Side.AT_LEAST:
            yield FormColumn(self.direction, self.value + self.margin, math.inf)

    def is_outside(self, value: float) -> bool:
        """True if this value is off by the margin or more."""
        return any(column.low <= value <= column.high for column in self.false())

    @cached_property
    def size(self) -> float:
        """The bound of a slow correction: the size of the class, or that of its rest where it has no other."""
        return self.plan.corrections.size or self.plan.corrections.remainder

    @cached_property
    def slow(self) -> tuple[tuple[SlowTerm, ...], ...]:
        """The slow corrections that are numbers at these sizes: both logarithms together, and the fourth root."""
        return tuple(terms for terms in SLOW if all(term.is_defined(self.plan.sizes) for term in terms))

    def terms(self, names: Sequence[SlowTerm]) -> Matrix:
        """These slow terms at the sizes, one a column."""
        return np.stack([np.asarray(term.at(self.plan.sizes)) for term in names], axis=1)

    def bounded(self, names: Sequence[SlowTerm]) -> Group:
        """Slow corrections that are together no larger than the class."""
        return Group(self.terms(names), self.size)


def rescue(claimed: ClaimedForm, averages: Averages) -> Form | None:
    """The claim with a slow correction within the size of the class, where the noise does not reject it."""
    if claimed.plan.policy is Policy.SINGLE:
        return _rescue_of_single(claimed, averages)
    beside = _exact(claimed)
    if claimed.plan.policy is Policy.DETERMINISTIC and claimed.plan.target is Target.LIMIT:
        # No short form fits exact values exactly: what it leaves may be as large as an error that the author can bear.
        beside = (Group(claimed.margin * np.eye(len(averages.values)), each=True),)
    found = []
    for names in claimed.slow:
        found.append((fit(averages, (*claimed.level, claimed.true()), (claimed.bounded(names), *beside)), names))
    best = _best(found)
    if best is None:
        return None
    fitted, names = best
    return _slow(claimed, names, fitted.of_groups[0], fitted.coefficients[-1])


def explanation(claimed: ClaimedForm, averages: Averages) -> Form | None:
    """A form outside the margin that explains the data on its own, where the claim on its own does not.

    Data that the claim explains without any correction need no rival: some rival fits every finite sweep.
    """
    return _explained(claimed, averages, tuple(_menu(claimed)))


def named_rivals(claimed: ClaimedForm, averages: Averages) -> tuple[Form, ...]:
    """Rivals that fit, with the class, about as well as the claim or better, the best first.

    Of a limit also another one that explains the data with any multiple of a slow correction, as in `explanation`.
    """
    single, count = claimed.plan.policy is Policy.SINGLE, len(averages.values)
    allowed = () if single else class_columns(claimed.plan)
    own = fit(averages, (*claimed.level, claimed.true()), allowed)
    forms = []
    for form, columns, slow in _menu(claimed) if claimed.plan.target is not Target.LIMIT else _decays(claimed):
        fitted = fit(averages, columns, (*slow, *allowed))
        better = own.chi_squared - fitted.chi_squared
        if single:  # twice the logarithm of the likelihood ratio, each form with the noise that it leaves
            better = count * math.log(max(own.chi_squared, 1e-300) / max(fitted.chi_squared, 1e-300))
        if better >= -NAMED and (single or not fitted.is_rejected):
            forms.append(replace(_fitted(form, fitted), better=better))
    forms.sort(key=lambda form: -(form.better or 0.0))
    if claimed.plan.target is Target.LIMIT and (other := _explained(claimed, averages, tuple(_slow_limits(claimed)))):
        forms.insert(0, other)
    return tuple(forms[:LISTED])


def _explained(claimed: ClaimedForm, averages: Averages, menu: Sequence[Rival]) -> Form | None:
    own = fit(averages, (*claimed.level, claimed.true()), _exact(claimed))
    single = claimed.plan.policy is Policy.SINGLE
    if not single and not own.is_rejected:
        return None
    fits = [(fit(averages, columns, (*slow, *_exact(claimed))), form) for form, columns, slow in menu]
    if single:
        # The noise is unknown: the likelihood ratio of two fits, each with the noise that it leaves, decides.
        allowed = own.chi_squared * math.exp(-NAMED / len(averages.values))
        fits = [(replace(fitted, quantile=allowed), form) for fitted, form in fits]
    best = _best(fits)
    return None if best is None else _fitted(best[1], best[0])


def better_rival(rivals: Sequence[Form]) -> Form | None:
    """The rival that fits better than the claim by more than chance gives."""
    return next((form for form in rivals if form.better is not None and form.better > NAMED), None)


def _menu(claimed: ClaimedForm) -> Iterator[Rival]:
    """Rivals whose leading order lies outside the margin, each with the columns and the slow terms of its form."""
    plan = claimed.plan
    if plan.target is Target.LIMIT:
        yield from _other_limits(claimed)
        return
    sizes = np.asarray(plan.sizes)
    logs = np.log(sizes)
    ones = np.ones(len(sizes))
    if plan.target is Target.DECAY_RATE:
        if plan.side is Side.EQUAL:
            yield Form(FormKind.POWER), (*claimed.level, FormColumn(np.log(plan.relative_sizes))), ()
        return
    if sizes[0] > 1:
        for exponent, power in _logarithmic(claimed):
            fixed = exponent * logs + power * np.log(logs)
            yield Form(FormKind.POWER, exponent, power), (*claimed.level, _known(fixed)), ()
    if plan.side is Side.EQUAL:
        yield Form(FormKind.EXPONENTIAL), (*claimed.level, FormColumn(sizes - sizes[0])), ()
    if claimed.is_outside(0.0):
        yield Form(FormKind.CONSTANT), (FormColumn(ones),), ()


def _logarithmic(claimed: ClaimedForm) -> Iterator[tuple[float, float]]:
    """Exponents of growth and powers of log n of the rivals of a power."""
    own = -claimed.value
    simple = sorted(
        {Fraction(k, q) for q in (2, 3) for k in range(math.floor(q * (own - 1)), math.ceil(q * (own + 1)) + 1)}
    )
    below = [float(part) for part in simple if claimed.is_outside(-float(part)) and part < own]
    above = [float(part) for part in simple if claimed.is_outside(-float(part)) and part > own]
    for exponent in (*below[-1:], *above[:1]):
        for power in LOG_POWERS:
            yield exponent, power


def _other_limits(claimed: ClaimedForm) -> Iterator[Rival]:
    """Limits outside the margin, reached with slow corrections that are no larger than the class."""
    for names in claimed.slow:
        for column in claimed.false():
            yield Form(FormKind.SLOW, slow=names), (column,), (claimed.bounded(names),)
    yield from _decays(claimed)


def _slow_limits(claimed: ClaimedForm) -> Iterator[Rival]:
    """Limits outside the margin, reached with any multiple of one slow correction."""
    for names in claimed.slow:
        for name in names:
            for column in claimed.false():
                yield Form(FormKind.SLOW, slow=(name,)), (column,), (Group(claimed.terms((name,)), math.inf),)


def _decays(claimed: ClaimedForm) -> Iterator[Rival]:
    """A slow decay to zero, where zero lies outside the margin."""
    if claimed.is_outside(0.0):
        for names in claimed.slow:
            for name in names:
                yield Form(FormKind.SLOW, limit=0.0, slow=(name,)), (), (Group(claimed.terms((name,)), math.inf),)


def _best(fits: Sequence[tuple[Fit, Name]]) -> tuple[Fit, Name] | None:
    """The best fit of those that the noise does not reject."""
    left = [part for part in fits if not part[0].is_rejected]
    return min(left, key=lambda part: part[0].chi_squared - part[0].quantile, default=None)


def _rescue_of_single(claimed: ClaimedForm, averages: Averages) -> Form | None:
    """The same from one value a size, whose noise shows in the residuals alone: Student's t given the correction.

    At the true coefficient of the correction the test is exact; the others in its range can only rescue more.
    """
    columns = [column.values for column in (*claimed.level, claimed.true())]
    design = np.stack(columns, axis=1)
    df = len(averages.values) - design.shape[1]
    if df < 1:
        return None
    inverse = np.linalg.pinv(design)
    quantile = float(stdtrit(df, 1 - REJECTED / 2))
    true = claimed.true()
    for term in (term for names in claimed.slow for term in names):
        for coefficient in np.linspace(-claimed.size, claimed.size, _GRID):
            values = averages.values - coefficient * np.asarray(term.at(claimed.plan.sizes))
            estimate = float((inverse @ values)[-1])
            spread = math.sqrt(float(np.sum((values - design @ (inverse @ values)) ** 2)) / df)
            error = spread * float(np.linalg.norm(inverse[-1]))
            nearest = min(max(estimate, true.low), true.high)
            if abs(estimate - nearest) <= quantile * error:
                return _slow(claimed, (term,), (float(coefficient),), nearest)
    return None


def _known(values: Vector) -> FormColumn:
    return FormColumn(values, 1.0, 1.0)


def _fitted(form: Form, fitted: Fit) -> Form:
    """The form with what was fitted of it."""
    match form.kind:
        case FormKind.SLOW:
            limit = fitted.coefficients[0] if form.limit is None else form.limit
            return replace(form, limit=limit, coefficients=fitted.of_groups[0])
        case FormKind.POWER if form.exponent is None:
            return replace(form, exponent=fitted.coefficients[1], log_power=0.0)
        case FormKind.EXPONENTIAL:
            return replace(form, exponent=fitted.coefficients[1])
    return form


def _slow(claimed: ClaimedForm, names: tuple[SlowTerm, ...], coefficients: tuple[float, ...], value: float) -> Form:
    if claimed.plan.target is Target.LIMIT:
        return Form(FormKind.SLOW, limit=value, slow=names, coefficients=coefficients)
    return Form(FormKind.SLOW_FACTOR, exponent=-value, slow=names, coefficients=coefficients)


def _exact(claimed: ClaimedForm) -> tuple[Group, ...]:
    """Corrections beside a form that stands on its own: none where noise hides them, else the rest of an expansion."""
    return class_columns(claimed.plan, rest_alone=True) if claimed.plan.policy is Policy.DETERMINISTIC else ()
