r"""Lower bounds of the probability that a control is noticed, from as few draws as show it.

A control is killed where the claim's own design, on fresh draws of it, does not support the claim. What is bounded is
the probability $p$ of a refutation, which is at most that of a kill.

**From the statistic of one run.** A case is refuted where $T = (|\hat\theta - c| - M - b)/s$ exceeds the quantile $q$
of its level: $c$ is the claimed value, $M$ the margin, $b$ the bias bound and the rounding, $s$ the standard error with
$\nu$ degrees of freedom. (Under the exact reading M is none of the claim's business; it is asked here nevertheless, so
that a control inside the margin, which a design may support, is never said to be noticed from one run.) With $\delta$
the same ratio of the true values, and $\gamma, \kappa$ the skewness of the mean and the excess kurtosis of a draw, each
up to second order

$$E T = \delta - \gamma/2, \qquad \operatorname{Var} T = 1 - \delta\gamma + \delta^2 (\kappa + 2)/(4\nu), \qquad
\operatorname{skew} T = -2\gamma,$$

for $s^2$ errs by the share $W$ with $\operatorname{Var} W = (\kappa+2)/\nu$ and correlates with the mean by $\gamma$.
(Normal draws: $1 + \delta^2/(2\nu)$.) Where at least `FEWEST` draws stand behind every mean, $|\gamma|$ is below
`SKEWED` = g and $\kappa$ below `HEAVY`, the worst of these values gives, at confidence $1 - \alpha$ with the normal
quantile $u$ of $1 - \alpha$,

$$\delta \ge \delta_L = T - g/2 - u \sqrt{v(T)} - g (u^2 - 1)/3, \qquad v(x) = 1 + g x + 5 x^2/(4\nu),$$

and $p \ge \Phi((\delta_L - g/2 - q)/\sqrt{v(\delta_L)})$; the third term is that of Cornish and Fisher. The unknown
$\delta_L$ under the first root is replaced by the larger T. A tail beyond `MOST` rests on a normality that so many
draws do not show, and is not stated. Elsewhere nothing is concluded from one run. A run of n draws, more than the N of
the claim's own design, shows $\delta_L$ for n of them, and $\delta_L \sqrt{N/n}$ for the design: the bias bound is the
same in both, and the standard error grows. Where n is smaller the design is credited with n draws alone.

**From a count.** With k of n draws against the claim, Clopper and Pearson's lower limit of their probability $r$ bounds
$p \ge P(\mathrm{Bin}(N, r_L) \ge c)$ exactly, c the count that refutes among the claim's own N draws. Where one
violation forbids support c is one; at 95 % that takes five violations where n = N, and fewer in a part of the draws.

**From repetitions.** So many of so many runs on draws of their own, by Clopper and Pearson. Runs on a part of the draws
count only where they *refute*: power grows with the draws, so that the whole design refutes at least as often.

**Several cases.** One refuted case refutes the claim, so that the largest bound of the cases counts, each at its share
of the level. **Several tries.** Every try spends its own level, together `ERROR`; the order is fixed before the data:

| try | draws | level |
|---|---|---|
| one run | 1/16, 1/4, 1/2, all, twice, four times the claim's | `SINGLE`, shared by the six |
| repetitions on portions | together a quarter of the claim's, then three times as many, and so on | `REPEATED` each |
| repetitions of the claim's own design | each the claim's; the last try | `REPEATED` |

Tries that need fewer new draws come first. Portions are tried one by one until one does not refute: it takes all of them to
show `DEMANDED`. `REPEATING` bounds the number of their sizes.

**Errors:** a control that is killed less surely than `DEMANDED` is said to reach it with probability at most `ERROR`,
if the moments of its draws are as found. A run sees nothing of large draws rarer than one in so many as it makes; they
turn a refutation into no decision, which is a kill all the same. Looks before the last one may end in support, each
with probability at most `stopping.ENDING.support` for a control beyond the margin; the bounds are stated without it.

**Source:** Clopper and Pearson 1934; Hall 1992, section 2.6 (the moments of Student's ratio).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol, TypeAlias

from scipy.special import bdtrc, betaincinv, ndtr, ndtri, stdtr, stdtrit

from theorax.decide.kill_evidence import Basis

__all__ = [
    "DEMANDED",
    "FEWEST",
    "PARTS",
    "REPEATED",
    "REPEATING",
    "REPETITIONS",
    "Again",
    "KillBound",
    "RefutingCount",
    "Standardised",
    "Trial",
    "at_least_one",
    "kill_bound",
    "of_run",
]

ERROR = 0.05
DEMANDED = 0.8  # a control that is killed less surely leaves the claim untested (METHOD, section 8.4)
REPETITIONS = 22
REPEATED = 0.0074  # 0.0074^(1/22) = 0.8001
REPEATING = 5  # tries by repetitions: on portions of four sizes, and of the claim's own design
SINGLE = ERROR - REPEATING * REPEATED
PARTS = tuple(map(Fraction, ("1/16", "1/4", "1/2", "1", "2", "4")))  # of the claim's draws, for one run
QUARTER = 4
GROWTH = 3  # of a portion, where smaller ones do not show enough

# One run of 64 draws with these limits, refuted 79 times in 100, 20 000 replicates at the level 0.0032: normal, exponential,
# lognormal and Pareto draws on either side are said to reach 0.8 in at most 0.0013 of the runs. Spikes in one draw of 50 are
# in 0.24 to 0.28: a run without one sees light tails. A spike leaves the claim open, which does not refute it.
FEWEST, SKEWED, HEAVY = 64, 0.1, 3.0
MOST = 0.99


@dataclass(frozen=True)
class Standardised:
    """The refutation of one case by a weighted mean: how far it lies beyond the margin, in standard errors.

    ``quantile``: the distance that refutes. ``draws``: the fewest behind any mean; ``skewness`` is that of the weighted
    mean, ``kurtosis`` the largest excess kurtosis of one draw.
    """

    distance: float
    quantile: float
    df: float
    draws: int
    skewness: float
    kurtosis: float

    basis: ClassVar[Basis] = Basis.STATISTIC

    def bound(self, level: float, draws: int) -> float:
        """The lower bound at this level of the probability that ``draws`` others refute; 0 where normality is not shown."""
        near_normal = abs(self.skewness) < SKEWED and self.kurtosis < HEAVY
        if min(self.draws, draws) < FEWEST or not near_normal or not 0 < self.distance < math.inf:
            return 0.0
        u = float(ndtri(1 - level))
        least = self.distance - SKEWED / 2 - u * self._spread(self.distance) - SKEWED * (u**2 - 1) / 3
        part = min(1.0, draws / self.draws)
        least *= math.sqrt(part)
        quantile = float(stdtrit(part * self.df, stdtr(self.df, self.quantile)))
        return min(MOST, float(ndtr((least - SKEWED / 2 - quantile) / self._spread(max(0.0, least), part))))

    def _spread(self, distance: float, part: float = 1.0) -> float:
        """The standard deviation of the statistic of so large a part of the draws, at the worst moments."""
        return math.sqrt(1 + SKEWED * distance + (HEAVY + 2) * distance**2 / (4 * part * self.df))


@dataclass(frozen=True)
class RefutingCount:
    """The refutation of one case by a count: ``count`` of ``draws`` independent draws speak against the claim.

    It is refuted where a count so large has probability at most ``level`` if a draw does so with probability ``null``.
    """

    count: int
    draws: int
    null: float
    level: float

    basis: ClassVar[Basis] = Basis.COUNT

    def bound(self, level: float, draws: int) -> float:
        """The lower bound at this level of the probability that ``draws`` other draws refute."""
        needed = self._refuting(draws)
        return 0.0 if needed > draws else float(bdtrc(needed - 1, draws, _least(self.count, self.draws, level)))

    def _refuting(self, draws: int) -> int:
        """The smallest count of so many draws that refutes; one more than there are if none does."""
        if self.null <= 0:
            return 1
        low, high = 0, draws + 1  # of no count, and of more than all, the answer is known
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if bdtrc(middle - 1, draws, self.null) <= self.level else (middle, high)
        return high


Again: TypeAlias = Standardised | RefutingCount
"""The refutation of one case, as evidence on that by other draws."""


def standardised(
    excess: float, se: float, df: float, tail: float, columns: Sequence[int], skewness: float, kurtosis: float
) -> Standardised | None:
    """The refutation by Student's ratio at the level ``tail``; None where the mean has no error."""
    if not se > 0:
        return None
    quantile = float(stdtrit(df, 1 - tail))
    return Standardised(excess / se, quantile, df, min(columns), skewness, kurtosis)


@dataclass(frozen=True)
class KillBound:
    """The lower bound at 95 % of the probability that a control is noticed, and its source.

    ``runs`` of ``draws`` draws (per size) each were made for it, and ``kills`` of them noticed the control.
    """

    probability: float
    basis: Basis
    draws: int
    runs: int = 1
    kills: int = 1


class Trial(Protocol):
    """A claim asked of one control."""

    @property
    def own(self) -> int:
        """Draws per size of the claim's own design."""
        ...

    @property
    def counted(self) -> int:
        """Draws after which the claim's own design has counted whatever it counts."""
        ...

    @property
    def fewest(self) -> int:
        """Fewest draws on which a repetition is asked."""
        ...

    @property
    def fewest_of_one_run(self) -> int | None:
        """Fewest draws that one run concludes anything from; None for kinds of which one run says nothing."""
        ...

    def again(self, draws: int) -> tuple[Sequence[Again], int]:
        """Evidence of the first ``draws`` draws on every case that they refute, and the number of cases."""
        ...

    def ahead(self, draws: int) -> None:
        """Make the first draws, so many, together."""
        ...

    def refutes(self, first: int, draws: int) -> bool:
        """True if ``draws`` draws from ``first`` on refute the claim at the levels of its last look."""
        ...

    def is_killed(self, first: int, draws: int) -> bool:
        """True if the claim's own design, with all its looks, does not support it on these draws."""
        ...


def of_run(again: Sequence[Again], cases: int, trial: Trial, draws: int) -> KillBound | None:
    """The bound that one run gives, at its share of the error; None where it gives none."""
    found = None
    for case in again:
        of = trial.counted if case.basis is Basis.COUNT else trial.own
        bound = case.bound(SINGLE / len(PARTS) / cases, of)
        if bound > (0.0 if found is None else found.probability):
            found = KillBound(bound, case.basis, draws)
    return found


def at_least_one(draws: int) -> KillBound:
    """The bound from one refutation in one run, without a statistic."""
    return KillBound(_least(1, 1, ERROR), Basis.REPETITIONS, draws)


def kill_bound(trial: Trial) -> KillBound:
    """The first bound in the table of tries that reaches `DEMANDED`; else that of the claim's own design, repeated."""
    own = trial.own
    small = max(trial.fewest, own // (QUARTER * REPETITIONS))
    portions = [part for part in (small * GROWTH**step for step in range(REPEATING - 1)) if part < own]
    fewest = trial.fewest_of_one_run
    runs = [draws for part in PARTS if fewest is not None and (draws := int(own * part)) >= fewest]
    tries: list[tuple[int, Callable[[Trial, int], KillBound | None], int]]
    # The control was noticed on a quarter of the draws, or on more: what asks for no more than these costs no draw.
    tries = [(draws if QUARTER * draws > own else 0, _on_one_run, draws) for draws in runs]
    tries += [(REPETITIONS * part, _on_portions, part) for part in portions]
    for _, tried, draws in sorted(tries, key=lambda row: row[0]):
        found = tried(trial, draws)
        if found is not None and found.probability >= DEMANDED:
            return found
    trial.ahead(REPETITIONS * own)
    return _repeated(own, sum(trial.is_killed(i * own, own) for i in range(REPETITIONS)))


def _on_one_run(trial: Trial, draws: int) -> KillBound | None:
    return of_run(*trial.again(draws), trial, draws)


def _on_portions(trial: Trial, part: int) -> KillBound | None:
    if not trial.refutes(0, part):
        return None
    trial.ahead(REPETITIONS * part)
    if all(trial.refutes(i * part, part) for i in range(1, REPETITIONS)):
        return _repeated(part, REPETITIONS)
    return None


def _repeated(draws: int, kills: int) -> KillBound:
    return KillBound(_least(kills, REPETITIONS, REPEATED), Basis.REPETITIONS, draws, REPETITIONS, kills)


def _least(count: int, of: int, level: float) -> float:
    """Clopper and Pearson's lower limit of a probability at this level."""
    return float(betaincinv(count, of - count + 1, level)) if count else 0.0
