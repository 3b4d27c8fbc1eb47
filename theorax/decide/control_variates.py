r"""Control variates: quantities of exactly known mean, and draws less what they explain.

A draw $x_s$ comes with variates $q_s$ whose mean $\mu$ is known, $c_s = q_s - \mu$. Every other draw is one half, the
others are the second one. The slopes of $x$ on $c$ are fitted by least squares on one half, with an intercept, and
applied to the draws of the other, both ways:

$$y_s = x_s - \hat\beta_B^T c_s \quad (s \in A), \qquad y_s = x_s - \hat\beta_A^T c_s \quad (s \in B).$$

*The mean stays what it was.* Given half B, the draws of A are independent of $\hat\beta_B$ and $E c_s = 0$, so
$E[y_s \mid B] = E x$ for every s in A: exactly, at every number of draws, whatever x and q are. A slope that is fitted on
the draws to which it is applied has a bias of the order 1/n instead.

*The standard error is that of n plain draws.* Write $\beta$ for the slope of the law, $e = x - E x - \beta^T c$, which is
uncorrelated with c, $\delta = \hat\beta - \beta$, and n = 2m. Given B the $y_s$ of A are independent of one law, so their
sample variance over m is unbiased for the variance of their mean given B, and these means have one expectation whatever
B is. Hence $E[s_A^2/m] = \operatorname{Var} \bar y_A$, the noise of the slope included. The halves share draws through the
slopes: every term of $\operatorname{Cov}(\bar y_A, \bar y_B)$ has a factor of mean zero except

$$\operatorname{Cov}(\bar y_A, \bar y_B) = E[\hat\beta_A^T \otimes \bar c_A]\,E[\hat\beta_B^T \otimes \bar c_B]
= (\kappa/m)^2 + \dots, \qquad \kappa = E[e\,c^2] / E[c^2] \text{ for one variate}.$$

It is $O(1/n)$ of the variance and zero where e is independent of c. The y are therefore treated as n draws: $s_y^2/n$
errs by a part $O(1/n)$. Paired draws keep their pairs: the halves are the same at every size, and given B the scores of A
are independent of one law as well. Measured in `benchmarks/calibration/variates.py`, for skewed data too.

*The known mean is tested.* Student's t at level 10^-4 over all variates and sizes of a case, whose limits must agree with
those of Hall that allow for the skewness and with those without the farthest draw (`theorax.decide.skewness`). Where the
skewness of the variate's mean is 0.3 or more no limit is believed: the mean counts as untested and support is withheld. No
draw is treated by what its variates look like: falling back where they look skewed would select the draws.

**Source:** Glasserman 2004, section 4.1 (control variates); Avramidis and Wilson 1993 (splitting schemes).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from theorax.decide.draw_guards import are_equal
from theorax.decide.estimators import paired
from theorax.decide.findings import Finding, Found
from theorax.decide.guard_findings import Looked
from theorax.decide.interval import Interval, Student
from theorax.decide.samples import Columns
from theorax.decide.skewness import REFUSED
from theorax.decide.status import Reason
from theorax.decide.verdict import Assumption, Standing, VarianceGain
from theorax.errors import DesignError, ObservationError
from theorax.names import many
from theorax.text.numbers import number, p_value, with_uncertainty

__all__ = [
    "KNOWN",
    "LEVEL",
    "NO_VARIATES",
    "MeanTest",
    "Variate",
    "Variates",
    "cross_fitted",
    "declared_line",
    "fewest_draws_with",
    "found_wrong",
    "gain_of",
    "line_of",
    "look_at_means",
    "mean_tests",
    "measured_gain",
    "planned",
    "with_draws",
    "with_more",
]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

LEVEL = 1e-4
"""A true known mean is rejected with at most this probability in a case."""

ROUNDOFF = 2.0**-53
EACH = 32  # draws of a half for every coefficient of its fit: the slopes, and an intercept counted with the halves


def fewest_draws_with(variates: int) -> int:
    """The fewest draws that so many variates are used with: 64 for one, 32 more for every further one.

    With m draws in a half a useless variate adds a part of about 1/m to the variance.
    """
    return EACH * (variates + 1)


@final
@dataclass(frozen=True)
class Variate:
    """A quantity that is drawn with every value and whose mean is known exactly, at every size.

    ``mean``: one number, or one for every size. ``gain``: the planned variance of a draw over what is left of it, when
    this variate and those before it are taken away; several gains multiply. It costs width where it is wrong, never
    validity. ``because``: how the mean is derived, or where it is found.

    **Raises:** DesignError for a mean that is not finite, or a gain below one.
    """

    name: str
    mean: float | tuple[float, ...]
    gain: float | tuple[float, ...] = 1.0
    because: str = ""

    def __post_init__(self) -> None:
        for field in ("mean", "gain"):
            object.__setattr__(self, field, spread_out(getattr(self, field)))
        for part in _each(self.mean):
            if not math.isfinite(part):
                raise DesignError(f"The known mean of {self.name} is {part}. Write a finite number.")
        for part in _each(self.gain):
            if not 1 <= part < math.inf:
                raise DesignError(
                    f"The gain of {self.name} is {part:g}. It is the variance of a draw over what the variate leaves of it. "
                    "Write a number from 1 on, from a pilot on other seeds."
                )


@final
@dataclass(frozen=True)
class Variates:
    """The variates of one case; ``raw``: why the numbers stay as they were drawn, empty where they are corrected."""

    known: tuple[Variate, ...] = ()
    raw: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variates."""
        return tuple(part.name for part in self.known)

    def described(self) -> Iterator[str]:
        """Lines about the variates in the text of a plan."""
        for part in self.known:
            gains = _each(part.gain)
            shown = " to ".join(dict.fromkeys(f"{gain:.3g}" for gain in (min(gains), max(gains))))
            yield f"variate     {declared_line(part).text}; variance divided by {shown}, planned"

    def why_raw(self, draws: Sequence[int]) -> str:
        """Reason to leave so many draws at every size as they are; empty where they are corrected."""
        if not self.known:
            return self.raw
        least = fewest_draws_with(len(self.known))
        return f"fewer than {many(least, 'draw')} at a size" if min(draws) < least else ""

    def means(self, at: int) -> Vector:
        """The known means at one size."""
        return np.array([_at(part.mean, at) for part in self.known])

    def planned_sd(self, sd: Sequence[float], draws: Sequence[int]) -> tuple[float, ...]:
        """The planned standard deviation of a corrected draw at every size, from that of a raw one."""
        if not self.known or self.why_raw(draws):
            return tuple(sd)
        return tuple(part / math.sqrt(self._gain(at)) for at, part in enumerate(sd))

    def _gain(self, at: int) -> float:
        return math.prod(_at(part.gain, at) for part in self.known)

    def averaged(self, observed: Columns, values: Sequence[Vector]) -> tuple[tuple[Vector, ...], tuple[Vector, ...]]:
        """The averaged numbers less what the variates explain of them, and what the errors of these add to the bounds.

        ``values``: the raw numbers, or their logarithms, at the first sizes of what was observed.
        """
        if not self.corrects(observed):
            return tuple(values), tuple(np.zeros(1) for _ in values)
        found = []
        for at, column in enumerate(values):
            drawn, means = observed.variates[at], self.means(at)
            rounded = ROUNDOFF * (np.abs(drawn) + 2 * np.abs(means))  # of q, of mu, and of their difference
            found.append(cross_fitted(column, drawn - means, observed.variate_errors[at] + rounded))
        return tuple(column for column, _ in found), tuple(added for _, added in found)

    def corrected(self, observed: Columns) -> Columns:
        """The observations less what the variates explain of them; as they are where none are taken away."""
        if not self.corrects(observed):
            return observed
        values, added = self.averaged(observed, observed.values)
        errors = tuple(own + more for own, more in zip(observed.bounds, added, strict=True))
        return replace(observed, values=values, errors=errors, variates=(), variate_errors=())

    def corrects(self, observed: Columns) -> bool:
        """True if draws are corrected."""
        return bool(self.known and observed.variates) and not self.why_raw(observed.counts)


NO_VARIATES = Variates()


def planned(variates: Sequence[Variate], sizes: int = 1) -> Variates:
    """The variates of a plan over so many sizes.

    **Raises:** `DesignError` for two of one name, or for means of another number of sizes.
    """
    found = tuple(variates)
    for part in found:
        if not isinstance(part, Variate):
            raise DesignError(f'variates={part!r} is not valid. Write variates=[decide.Variate("name", mean=...)].')
        for what, given in (("mean", part.mean), ("gain", part.gain)):
            if isinstance(given, tuple) and len(given) != sizes:
                raise DesignError(
                    f"The variate {part.name} has {many(len(given), what)}, the plan {many(sizes, 'size')}. "
                    "Write one number for all sizes, or one for each."
                )
    if len({part.name for part in found}) < len(found):
        raise DesignError(f"Two variates have one name ({', '.join(part.name for part in found)}). Rename one.")
    return Variates(found)


def with_draws(
    variates: Variates, observed: Columns, given: Mapping[str, Any] | None, columns: Callable[[Any], Sequence[Vector]]
) -> Columns:
    """The observations with the draws of their variates, which ``columns`` reads as it read the observations.

    **Raises:** `ObservationError` where other variates are given than were planned.
    """
    names, drawn = variates.names, dict(given or {})
    if set(names) != set(drawn):
        raise ObservationError(
            f"Draws of {_named(drawn)} were given as variates, and {_named(names)} were planned. Their means are "
            'stated before the data. Write variates={"name": draws} for each variate of the plan.'
        )
    if not names:
        return observed
    if observed.batched:
        raise ObservationError(
            "Draws that were averaged in passing were given with variates. Slopes are fitted on single draws. Hand over arrays."
        )
    tables = zip(*(columns(drawn[name]) for name in names), strict=True)
    return replace(
        observed,
        variates=tuple(np.stack(one, axis=1) for one in tables),
        variate_errors=tuple(np.zeros((1, len(names))) for _ in observed.values),
    )


def _named(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def cross_fitted(values: Vector, centred: Matrix, errors: Matrix | None = None) -> tuple[Vector, Vector]:
    """The draws less their regression on centred variates, the slopes of each half from the other one.

    ``errors`` bound the errors of the variates. Returned second is a bound of the error added: theirs by the slopes, and
    the rounding of the subtraction, with p + 1 terms of p variates (Higham 2002, section 3.1). A variate that determines
    the draw leaves nothing but that.
    """
    corrected, added = np.array(values, float), np.zeros(len(values))
    terms = (centred.shape[1] + 1) * ROUNDOFF
    halves = slice(0, None, 2), slice(1, None, 2)
    for fitted, applied in (halves, halves[::-1]):
        slopes = _slopes(values[fitted], centred[fitted])
        corrected[applied] -= centred[applied] @ slopes
        added[applied] = terms / (1 - terms) * (np.abs(values[applied]) + np.abs(centred[applied]) @ np.abs(slopes))
        if errors is not None:
            added[applied] += np.broadcast_to(errors, centred.shape)[applied] @ np.abs(slopes)
    return corrected, added


def _slopes(values: Vector, centred: Matrix) -> Vector:
    """Least squares with an intercept; zero for a variate that does not vary."""
    deviations = centred - centred.mean(axis=0)
    unit = deviations.std(axis=0)
    still = [are_equal(column) for column in centred.T]
    deviations[:, still], unit[still] = 0.0, 1.0
    return np.linalg.lstsq(deviations / unit, values - values.mean(), rcond=None)[0] / unit


def measured_gain(raw: Interval, corrected: Interval) -> tuple[float, float] | None:
    r"""The variance of the raw estimate over that of the corrected one, and its standard error; None without a spread.

    With $V = \sum_j a_j \overline{(x - \bar x)_j^2}$ for either, $a_j = k_j^2/n_j$, the logarithm of the ratio has to
    first order the variance of $\sum_j a_j \bar d_j$, $d = (x - \bar x)^2/V_x - (y - \bar y)^2/V_y$ draw by draw.
    """
    if not (isinstance(raw, Student) and isinstance(corrected, Student) and raw.columns and raw.se and corrected.se):
        return None
    pairs = list(zip(raw.columns, corrected.columns, raw.weights, strict=True))
    shares = [weight**2 / len(column) for column, _, weight in pairs]
    squares = [tuple((part - part.mean()) ** 2 for part in (x, y)) for x, y, _ in pairs]
    totals = [sum(a * float(pair[side].mean()) for a, pair in zip(shares, squares, strict=True)) for side in (0, 1)]
    if min(totals) <= 0:
        return None
    variance = 0.0
    for a, (x, y) in zip(shares, squares, strict=True):
        difference = x / totals[0] - y / totals[1]
        variance += a**2 * float(difference.var()) / len(difference)
    ratio = totals[0] / totals[1]
    return ratio, ratio * math.sqrt(variance)


def gain_of(variates: Variates, planned: float | None, found: tuple[float, float] | None, raw: str) -> VarianceGain:
    """Gain of variates in a case, as a report shows it."""
    measured, error = found if found is not None else (None, None)
    return VarianceGain(variates.names, None if raw else planned, measured, error, raw)


def look_at_means(tests: Sequence[MeanTest]) -> Looked:
    """The finding of the first known mean that the draws reject, and a line of the ledger for each of them."""
    names = dict.fromkeys(test.known.name for test in tests)
    lines = [line_of(f"E[{name}]", [test for test in tests if test.known.name == name]) for name in names]
    return Looked(tuple([*found_wrong(tests)][:1]), tuple(lines))


def found_wrong(tests: Sequence[MeanTest], where: str = "") -> Iterator[Found]:
    """The findings of known means that the draws reject, else of those that they cannot test."""
    wrong = [test.wrong(where) for test in tests if test.p <= test.level]
    yield from wrong or [test.untested(where) for test in tests if not test.is_believed]


def line_of(shown: str, tests: Sequence[MeanTest]) -> Assumption:
    """The line of a ledger about one known mean: where it was tested, what error of it would have passed."""
    if not tests:
        return Assumption(TESTED, f"{shown}: not used", Standing.TESTED)
    if not all(test.is_believed for test in tests):
        return Assumption(TESTED, f"{shown}: not tested, its draws are too skewed", Standing.DECLARED)
    most = max(tests, key=lambda test: test.moves)
    passes = (
        f"an error of {number(most.unseen, 2)} would pass as likely as not, and move a mean by {number(most.moves, 2)}"
    )
    text = f"{shown}: {many(len(tests), 'sample mean')} {'agrees' if len(tests) == 1 else 'agree'} at level {LEVEL:g}; {passes}"
    return Assumption(TESTED, text, Standing.TESTED)


KNOWN = "known mean"  # of a line of the ledger: what the author states
TESTED = "sample means"  # and of the line on the sample means beside it


@dataclass(frozen=True)
class MeanTest:
    """The test of one known mean at one size, at its own ``level``; ``slope``: of what is averaged on the variate."""

    known: Variate
    mean: float
    size: float
    found: Student
    slack: float
    level: float
    slope: float

    @property
    def is_believed(self) -> bool:
        """True unless the mean of these draws is so skewed that no limit of it is believed."""
        return self.found.skewed is None or abs(self.found.skewed.gamma) < REFUSED

    @property
    def p(self) -> float:
        """The p-value of the known mean, on both sides."""
        limits = self.found.for_support
        return min(1.0, 2 * min(limits.p_above(self.mean + self.slack), limits.p_below(self.mean - self.slack)))

    @property
    def unseen(self) -> float:
        """The largest error of the known mean that is still as likely to pass as not."""
        return float(stdtrit(self.found.df, 1 - self.level / 2)) * self.found.se + self.slack

    @property
    def moves(self) -> float:
        """Shift of the averaged mean under an error of the known mean that large."""
        return abs(self.slope) * self.unseen

    def wrong(self, where: str) -> Found:
        """The finding that the known mean is wrong."""
        sentence = (
            f"The known mean of {self.known.name} is wrong{where} at size {self.size:g}: stated is "
            f"{self.mean:.8g}, the draws have {with_uncertainty(self.found.estimate, self.found.se)} "
            f"({p_value(self.p, 'p')}). Correct the mean, or the hypotheses under which it holds."
        )
        return Found(Finding.NOT_CHECKED, sentence)

    def untested(self, where: str) -> Found:
        """The finding that withholds support, for the known mean could not be tested."""
        gamma = abs(self.found.skewed.gamma) if self.found.skewed is not None else 0.0
        sentence = (
            f"Withheld{where}: at size {self.size:g} the draws of {self.known.name} are too skewed to test its known mean. "
            f"The skewness of its sample mean is {gamma:.2g}; {REFUSED:g} is the most. Draw more, or leave the variate out."
        )
        return Found(Finding.WITHHELD, sentence, Reason.TAILS)


def mean_tests(
    variates: Variates, observed: Columns, values: Sequence[Vector], sizes: Sequence[float], share: float = 1.0
) -> tuple[MeanTest, ...]:
    """The tests of every known mean at every size, which together spend a share of the level; none where none is used.

    ``values``: what is averaged, as it was drawn.
    """
    if not variates.corrects(observed):
        return ()
    return tuple(_tests(variates, observed, values, sizes, share))


def _tests(
    variates: Variates, observed: Columns, values: Sequence[Vector], sizes: Sequence[float], share: float
) -> Iterator[MeanTest]:
    level = LEVEL * share / (len(variates.known) * len(observed.variates))
    for at, (table, errors) in enumerate(zip(observed.variates, observed.variate_errors, strict=True)):
        slacks = np.broadcast_to(errors, table.shape).mean(axis=0)
        slopes = _slopes(values[at], table)
        for j, known in enumerate(variates.known):
            found, mean = paired(table[:, j]), float(variates.means(at)[j])
            assert isinstance(found, Student)
            # Equal draws have no spread; what their mean is off by is the rounding of one of them.
            slack = float(slacks[j]) + found.rounding + 2.0**-50 * abs(mean)
            yield MeanTest(known, mean, float(sizes[at]), found, slack, level, float(slopes[j]))


def declared_line(known: Variate) -> Assumption:
    """A known mean as a line of the ledger."""
    means = _each(known.mean)
    shown = " to ".join(dict.fromkeys(f"{part:.6g}" for part in (min(means), max(means))))
    because = f" ({known.because.rstrip('.')})" if known.because else ""
    return Assumption(KNOWN, f"E[{known.name}] = {shown}{because}", Standing.DECLARED)


def spread_out(given: float | Sequence[float]) -> float | tuple[float, ...]:
    """A number, or a tuple of one for every size."""
    return tuple(map(float, given)) if isinstance(given, Sequence | np.ndarray) else float(given)


def _each(given: float | tuple[float, ...]) -> tuple[float, ...]:
    return given if isinstance(given, tuple) else (given,)


def _at(given: float | tuple[float, ...], at: int) -> float:
    return given[at] if isinstance(given, tuple) else given


def with_more(variates: Variates, sizes: int) -> Variates:
    """The same variates for a longer sweep, of which the known means must be one number."""
    return replace(
        variates,
        known=tuple(
            replace(
                part,
                gain=part.gain + part.gain[-1:] * (sizes - len(part.gain))
                if isinstance(part.gain, tuple)
                else part.gain,
            )
            for part in variates.known
        ),
    )
