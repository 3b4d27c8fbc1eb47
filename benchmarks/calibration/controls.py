"""Controls that are refuted 79 times in 100: how often the engine says that they reach 0.8.

The claimed value is placed such that the claim's own design refutes it with that probability: exactly for counts, from a
pilot on other draws for means. A refutation is the stricter event: what refutes does not support. `refuted` counts
controls that are said to reach 0.8; a procedure that promises does so in at most 5 %.

Rare large draws are shown as they are, without a promise: a run in which none happens to fall sees light tails. Where
they do fall the claim is left open, which is a kill, though no refutation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.optimize import brentq
from scipy.special import bdtr, ndtr, stdtrit

from benchmarks.calibration.cases import LEVELS, Case, Outcome, Procedure, Truth
from theorax import decide
from theorax.decide.bias_aware import solve_weights
from theorax.decide.kill_bounds import DEMANDED, ERROR, FEWEST, PARTS, Again, RefutingCount, kill_bound
from theorax.decide.moments import LightTails
from theorax.decide.probabilities import decide_probability, plan_probability
from theorax.decide.samples import Columns
from theorax.decide.status import Decision, Status

FAMILY = "controls"
KILLED = 0.79
OWN = 400
PILOT = 4000
Sample = Callable[[Generator, int], np.ndarray]  # so many draws at every size: draws x sizes
Decide = Callable[[np.ndarray], Decision]

_MOMENTS = LightTails(fewest=2)


@dataclass
class Simulated:
    """A control whose draws are simulated; each case of the claim is decided from draws of its own."""

    sample: Sample
    cases: Sequence[Decide]
    rng: Generator
    own: int
    fewest_of_one_run: int | None = FEWEST
    fewest: int = 4
    drawn: np.ndarray | None = None
    missed: bool = False
    _shown: dict[Any, Any] = field(default_factory=dict)

    @property
    def counted(self) -> int:
        return self.own

    def ahead(self, draws: int) -> None:
        """Draws are made when they are looked at: a repetition that misses ends them."""

    def again(self, draws: int) -> tuple[list[Again], int]:
        refuted = [found for found in self.decided(0, draws) if found.status is Status.REFUTED]
        return [found.again for found in refuted if found.again is not None], len(self.cases)

    def refutes(self, first: int, draws: int) -> bool:
        return any(found.status is Status.REFUTED for found in self.decided(first, draws))

    def is_killed(self, first: int, draws: int) -> bool:
        # One miss in the last repetitions is too many: what follows it changes nothing.
        self.missed = self.missed or not self.refutes(first, draws)
        return not self.missed

    def decided(self, first: int, draws: int) -> list[Decision]:
        """The decision on every case."""
        last, have = first + draws, 0 if self.drawn is None else len(self.drawn)
        if last > have:
            more = self.sample(self.rng, last - have)
            self.drawn = more if self.drawn is None else np.concatenate([self.drawn, more])
        assert self.drawn is not None
        return [case(self.drawn[first:last]) for case in self.cases]


def engine(control: Simulated) -> Outcome:
    """The bound of the engine."""
    said = kill_bound(control).probability >= DEMANDED
    return Outcome(float(said), 0.0, cost=0.0 if control.drawn is None else float(len(control.drawn)))


def normal(control: Simulated) -> Outcome:
    """The statistic of one run as if the draws were normal, at 0.05 in each of four tries, whatever the draws."""
    said = False
    for part in PARTS:
        for case in control.again(int(control.own * part))[0]:
            assert not isinstance(case, RefutingCount)
            t = case.distance
            least = t - 1.645 * np.sqrt(1 + t**2 / (2 * case.df)) - case.quantile
            said = said or float(ndtr(least)) >= DEMANDED
    return Outcome(float(said), 0.0, cost=float(control.own))


def _by(plan: Any) -> Decide:
    plan = plan.repeated()
    return lambda table: replace(plan, draws=len(table)).tested(Columns(tuple(table.T))).decision


def _edge(scores: np.ndarray, tail: float) -> np.ndarray:
    """The lower limit of the mean in every row: what lies below it is refuted."""
    n = scores.shape[1]
    return scores.mean(axis=1) - float(stdtrit(n - 1, 1 - tail)) * scores.std(axis=1, ddof=1) / np.sqrt(n)


def _welch_edge(table: np.ndarray, k: np.ndarray, tail: float) -> np.ndarray:
    """The same for independent columns: runs x draws x sizes."""
    n = table.shape[1]
    parts = k**2 * table.var(axis=1, ddof=1) / n
    total = parts.sum(axis=1)
    df = total**2 / (parts**2 / (n - 1)).sum(axis=1)
    return table.mean(axis=1) @ k - stdtrit(df, 1 - tail) * np.sqrt(total)


def _pseudo_logs(table: np.ndarray) -> np.ndarray:
    """Delete-one pseudo-values of the logarithm of the mean, in every run at every size."""
    n, total = table.shape[1], table.sum(axis=1, keepdims=True)
    return n * np.log(total / n) - (n - 1) * np.log((total - table) / (n - 1))


def _placed(edge: Callable[[np.ndarray], np.ndarray], sample: Sample, own: int, batch: int = 200) -> float:
    """The value that `KILLED` of the runs refute."""
    rng, found = np.random.default_rng(20), []
    for _ in range(PILOT // batch):
        drawn = sample(rng, batch * own)
        found.append(edge(drawn.reshape(batch, own, -1)))
    return float(np.quantile(np.concatenate(found), 1 - KILLED))


def _column(law: Callable[[Generator, int], np.ndarray]) -> Sample:
    return lambda rng, n: law(rng, n)[:, None]


LAWS: dict[str, tuple[Sample, bool]] = {
    # draws, and whether what is rare in them is seen in a run; a tail towards the claimed value has a minus
    "normal": (_column(lambda rng, n: rng.standard_normal(n)), True),
    "uniform": (_column(lambda rng, n: rng.random(n)), True),
    "Laplace": (_column(lambda rng, n: rng.laplace(size=n)), True),
    "exponential": (_column(lambda rng, n: rng.exponential(size=n)), True),
    "minus exponential": (_column(lambda rng, n: -rng.exponential(size=n)), True),
    "minus gamma(4)": (_column(lambda rng, n: -rng.gamma(4.0, size=n)), True),
    "lognormal(0.5)": (_column(lambda rng, n: rng.lognormal(sigma=0.5, size=n)), True),
    "minus lognormal(0.5)": (_column(lambda rng, n: -rng.lognormal(sigma=0.5, size=n)), True),
    "minus lognormal(1)": (_column(lambda rng, n: -rng.lognormal(size=n)), True),
    "t(4)": (_column(lambda rng, n: rng.standard_t(4, n)), True),
    "t(3)": (_column(lambda rng, n: rng.standard_t(3, n)), True),
    "minus spikes, one in 20": (_column(lambda rng, n: rng.standard_normal(n) - 20 * (rng.random(n) < 0.05)), True),
    "minus spikes, one in 50": (_column(lambda rng, n: rng.standard_normal(n) - 20 * (rng.random(n) < 0.02)), False),
    "minus spikes, one in 1000": (_column(lambda rng, n: rng.standard_normal(n) - 20 * (rng.random(n) < 1e-3)), False),
}


def _mean(name: str, own: int, cases: int = 1) -> Callable[[], tuple[Sample, list[Decide]]]:
    def made() -> tuple[Sample, list[Decide]]:
        sample, _ = LAWS[name]
        levels = LEVELS.shared(cases)
        sd = float(sample(np.random.default_rng(21), 10**5).std())
        edge = _placed(lambda runs: _edge(runs[..., 0], levels.refute / 2), sample, own)
        mean = float(sample(np.random.default_rng(22), 10**6).mean())

        def plan(to: float) -> Decide:
            return _by(decide.plan_mean(to=to, margin=0.3 * sd, draws=own, sd=sd, moments=_MOMENTS, levels=levels))

        return sample, [plan(edge - 0.3 * sd), *(plan(mean) for _ in range(cases - 1))]

    return made


SIZES = (32, 64, 128, 256)


def _limit(seeds: str, spread: Sequence[float], own: int) -> Callable[[], tuple[Sample, list[Decide]]]:
    def made() -> tuple[Sample, list[Decide]]:
        def sample(rng: Generator, n: int) -> np.ndarray:
            return rng.standard_normal((n, len(SIZES))) * np.asarray(spread)

        def plan(to: float) -> Any:
            return decide.plan_limit(
                SIZES,
                to=to,
                margin=0.5,
                draws=own,
                sd=tuple(spread),
                seeds=seeds,
                moments=_MOMENTS,
                levels=LEVELS,
            )

        weights = solve_weights(replace(plan(1.0), scale=1.0).core)
        k, tail = weights.vector, LEVELS.refute / 2
        of = (lambda runs: _edge(runs @ k, tail)) if seeds == "paired" else (lambda runs: _welch_edge(runs, k, tail))
        to = _placed(of, sample, own) - 0.5 - weights.bias.total
        return sample, [_by(replace(plan(to), scale=1.0))]

    return made


def _rate(average: str, seeds: str, noise: float, own: int) -> Callable[[], tuple[Sample, list[Decide]]]:
    def made() -> tuple[Sample, list[Decide]]:
        def sample(rng: Generator, n: int) -> np.ndarray:
            return np.exp(noise * rng.standard_normal((n, len(SIZES)))) / np.asarray(SIZES)

        def plan(exponent: float) -> Any:
            return decide.plan_rate(
                SIZES,
                exponent=exponent,
                margin=0.3,
                draws=own,
                sd=noise,
                seeds=seeds,
                average=average,
                levels=LEVELS,
            )

        weights = plan(-1.0).weights
        k, tail = weights.vector, weights.plan.levels.refute / 2
        read = np.log if average == "mean of log" else _pseudo_logs
        of = (
            (lambda runs: _edge(read(runs) @ k, tail))
            if seeds == "paired"
            else (lambda runs: _welch_edge(read(runs), k, tail))
        )
        return sample, [_by(plan(-(_placed(of, sample, own) - 0.3 - weights.bias.total)))]

    return made


def _event(own: int) -> Callable[[], tuple[Sample, list[Decide]]]:
    def made() -> tuple[Sample, list[Decide]]:
        plan = plan_probability(at_least=0.9, margin=0.05, draws=own, levels=LEVELS)

        def decided(table: np.ndarray) -> Decision:
            return decide_probability(replace(plan, draws=len(table)), int(table.sum())).decision

        refuting = max(k for k in range(own) if decide_probability(plan, k).decision.status is Status.REFUTED)
        p = float(brentq(lambda p: bdtr(refuting, own, p) - KILLED, 0.01, 0.99))
        return _column(lambda rng, n: rng.random(n) < p), [decided]

    return made


def _violations(own: int) -> Callable[[], tuple[Sample, list[Decide]]]:
    def made() -> tuple[Sample, list[Decide]]:
        share = 1 - (1 - KILLED) ** (1 / own)

        def decided(table: np.ndarray) -> Decision:
            count = int(table.sum())
            status = Status.REFUTED if count else Status.INCONCLUSIVE
            found = Decision(status, None, 1, 1, 0, 0, False, 0, 0, 0, 0, 0, 0, 0, 1, levels=LEVELS)
            return replace(found, again=RefutingCount(count, len(table), 0.0, 0.025))

        return _column(lambda rng, n: rng.random(n) < share), [decided]

    return made


def _flat(own: int) -> Callable[[], tuple[Sample, list[Decide]]]:
    """Portions that refute as often as the whole does, each by chance: what no more draws can help."""

    def made() -> tuple[Sample, list[Decide]]:
        def decided(table: np.ndarray) -> Decision:
            status = Status.REFUTED if table[0, 0] < KILLED else Status.INCONCLUSIVE
            return Decision(status, None, 1, 1, 0, 0, False, 0, 0, 0, 0, 0, 0, 0, 1)

        return _column(lambda rng, n: rng.random(n)), [decided]

    return made


def _case(name: str, own: int, made: Callable[[], Any], *, promised: bool = True, one_run: int | None = FEWEST,
          statistic: bool = True, detail: str = "") -> Case:  # fmt: skip
    made = lru_cache(made)

    def judged(rule: Callable[[Simulated], Outcome], seed: int) -> Outcome:
        sample, cases = made()
        return rule(Simulated(sample, cases, np.random.default_rng(seed), own, one_run))

    procedures = [Procedure("tries that share 0.05", partial(judged, engine), promised, refute=ERROR)]
    if statistic:
        procedures.append(
            Procedure("one run, as if normal, 0.05 in each of 4 tries", partial(judged, normal), refute=ERROR)
        )
    draw = lambda rng: int(rng.integers(2**62))  # noqa: E731
    return Case(FAMILY, f"{name}, {own} draws", Truth.UNSURE, draw, tuple(procedures), detail=detail)


@lru_cache
def cases() -> tuple[Case, ...]:
    """Every kind and law at the edge."""
    found = [_case(f"expectation, {name}", OWN, _mean(name, OWN), promised=seen) for name, (_, seen) in LAWS.items()]
    found += [_case("expectation, normal", own, _mean("normal", own)) for own in (100, 1600)]
    even, noisy = (1.0,) * 4, (1.0, 1.0, 1.0, 4.0)
    return (
        *found,
        _case("expectation at two sizes, normal", OWN, _mean("normal", OWN, cases=2), detail="one of them true"),
        _case("limit, paired, normal", OWN, _limit("paired", even, OWN)),
        _case("limit, independent, the largest size noisy", OWN, _limit("independent", noisy, OWN)),
        _case("rate, mean of logs, lognormal(0.5)", OWN, _rate("mean of log", "paired", 0.5, OWN)),
        _case("rate, log of mean, lognormal(0.5)", OWN, _rate("log of mean", "paired", 0.5, OWN)),
        _case("rate, log of mean, independent, lognormal(0.5)", OWN, _rate("log of mean", "independent", 0.5, OWN)),
        _case("probability, at least 0.9", OWN, _event(OWN), one_run=1, statistic=False),
        _case("bound in every draw", OWN, _violations(OWN), one_run=1, statistic=False),
        _case("any kind, portions refute as often", OWN, _flat(OWN), one_run=None, statistic=False),
    )
