"""Plans: the probability of a decision that each kind states, against the share of simulated checks that support the claim.

The claim holds exactly, no correction is present, and the noise is the planned one. Every kind is planned at three numbers
of draws: with about one chance in two, and well above and below it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator

from theorax import decide
from theorax.decide.corrections import Expansion
from theorax.decide.plans import Planned
from theorax.decide.stopping import LooksPlan, looks
from theorax.decide.verdict import Verdict

__all__ = ["PLANS", "PlanRow", "allowed", "supported"]

SIZES = (16, 32, 64, 128)
KNOWN = Expansion((1,), rest=0.02, order=2, reason="an expansion in 1/n")


@dataclass(frozen=True)
class PlanRow:
    """A plan and a check of the claim on simulated draws; ``at_least``: the plan states a lower bound."""

    kind: str
    plan: Planned | LooksPlan
    check: Callable[[Generator], Verdict]
    at_least: bool = False

    @property
    def name(self) -> str:
        """The kind, and the draws of the plan."""
        design = self.plan.plan.design if isinstance(self.plan, LooksPlan) else self.plan.design
        return f"{self.kind}: {design}"


def _mean(draws: int, side: str = "exact", moments: Any = "light tails", sd: float = 1.0) -> PlanRow:
    plan = decide.plan_mean(to=1.0, margin=0.3, draws=draws, sd=sd, side=side, moments=moments, reading="exact")

    def sample(rng: Generator) -> np.ndarray:
        if isinstance(moments, decide.Bounded):
            return rng.uniform(moments.low, moments.high, draws)
        return 1.0 + sd * rng.standard_normal(draws)

    kind = f"mean, {side}" if moments == "light tails" else f"mean, {type(moments).__name__}"
    return PlanRow(kind, plan, lambda rng: decide.mean(plan, sample(rng)), at_least=moments != "light tails")


def _quantile(draws: int) -> PlanRow:
    plan = decide.plan_quantile(to=0.0, margin=0.3, draws=draws, sd=1.0, reading="exact")
    return PlanRow("median", plan, lambda rng: decide.quantile(plan, rng.standard_normal(draws)))


def _limit(draws: int, seeds: str) -> PlanRow:
    plan = decide.plan_limit(
        SIZES, to=1.0, margin=0.1, draws=draws, sd=0.3, seeds=seeds, corrections=KNOWN, reading="exact"
    )
    return PlanRow(
        f"limit, {seeds}", plan, lambda rng: decide.limit(plan, 1 + 0.3 * rng.standard_normal((draws, len(SIZES))))
    )


def _rate(draws: int, average: str, **more: Any) -> PlanRow:
    plan = decide.plan_rate(
        SIZES, exponent=-1, margin=0.2, draws=draws, sd=0.4, seeds="independent", corrections=KNOWN, average=average,
        reading="exact", **more,
    )  # fmt: skip

    def sample(rng: Generator) -> np.ndarray:
        noise = rng.standard_normal((draws, len(SIZES)))
        factors = np.exp(0.4 * noise) if average == "mean of log" else np.maximum(1 + 0.4 * noise, 0.01)
        return factors / np.asarray(SIZES)

    return PlanRow(f"rate, {average}{', rival' if more else ''}", plan, lambda rng: decide.rate(plan, sample(rng)))


def _law(draws: int) -> PlanRow:
    plan = decide.plan_law(
        to=decide.Normal(), excludes=[decide.Normal(0, math.sqrt(1.5))], draws=draws, reading="exact"
    )
    return PlanRow("law", plan, lambda rng: decide.law(plan, rng.standard_normal(draws)))


def _law_of_limit(draws: int) -> PlanRow:
    plan = decide.plan_law(
        SIZES, to=decide.Normal(), excludes=[decide.Normal(0, math.sqrt(2))], draws=draws, seeds="independent",
        corrections=Expansion((1,), rest=0.01, order=2, reason="Edgeworth"), reading="exact",
    )  # fmt: skip
    return PlanRow("limit of laws", plan, lambda rng: decide.law(plan, rng.standard_normal((draws, len(SIZES)))))


def _probability(draws: int, at_least: float) -> PlanRow:
    plan = decide.plan_probability(at_least=at_least, margin=0.05, draws=draws, reading="exact")
    return PlanRow(
        f"probability {at_least:g}", plan, lambda rng: decide.probability(plan, rng.random(draws) < at_least)
    )


def _looks(draws: int) -> PlanRow:
    plan = decide.plan_looks(decide.plan_mean(to=1.0, margin=0.3, draws=draws, sd=1.0, reading="exact"))
    return PlanRow(
        "mean, three looks",
        plan,
        lambda rng: looks(plan, lambda _, count: 1 + rng.standard_normal(count)),
        at_least=True,
    )


def _bound(draws: int) -> PlanRow:
    plan = decide.plan_inequality(draws=draws, reading="exact")
    return PlanRow("bound", plan, lambda rng: decide.inequality(plan, rng.random(draws), 1.0))


PLANS: tuple[PlanRow, ...] = (
    *map(_mean, (8, 80, 95, 140)),
    *map(partial(_mean, side="at most"), (35, 60, 110)),
    *(_mean(draws, moments=decide.Bounded(0.0, 2.0), sd=1 / math.sqrt(3)) for draws in (60, 100)),
    *map(_quantile, (100, 130, 200)),
    *map(partial(_limit, seeds="independent"), (100, 150, 250)),
    *map(partial(_limit, seeds="paired"), (100, 150, 250)),
    *map(partial(_rate, average="mean of log"), (90, 130, 220)),
    *map(partial(_rate, average="log of mean"), (220,)),
    *(_rate(draws, "mean of log", rival=(-0.2, -0.03)) for draws in (220,)),
    *map(_law, (300, 400, 550)),
    *map(_law_of_limit, (300, 450)),
    *(_probability(draws, 0.95) for draws in (100, 160, 300)),
    *(_probability(draws, 0.5) for draws in (380, 800)),
    *map(_looks, (100, 170)),
    *map(_bound, (180, 240)),
)


def supported(row: PlanRow, replicates: int, seed: int = 0) -> float:
    """The share of simulated checks that support the claim."""
    rngs = (np.random.default_rng((seed, replicate)) for replicate in range(replicates))
    return sum(row.check(rng).status.holds for rng in rngs) / replicates


def allowed(power: float, replicates: int) -> float:
    """The band of a share around a power: 99.9 % of the binomial law, and a hundredth for what plans approximate.

    Guards and the alarm of a class, none of which a plan counts, take up to a hundredth of the supports each.
    """
    return 3.29 * math.sqrt(max(power * (1 - power), 1 / replicates) / replicates) + 0.02


def main(replicates: int = 500) -> int:
    """Print the table that `benchmarks/results/calibration_plans.txt` holds; one where a plan is off."""
    print(f"Stated probability of a decision, and share of {replicates} simulated checks that support the claim.")
    print("python -m benchmarks.calibration.plans; band: 99.9 % of the binomial law and 0.02 for guards.")
    print(f"{'plan':66}{'stated':>8}{'found':>8}{'band':>7}")
    off = 0
    for row in PLANS:
        power, found = row.plan.power(), supported(row, replicates)
        band = allowed(power, replicates)
        within = found - power >= -band and (row.at_least or found - power <= band)
        off += not within
        bound = "≥ " if row.at_least else ""
        print(f"{row.name:66}{bound + f'{power:.3f}':>8}{found:8.3f}{band:7.3f}{'' if within else '  OFF'}", flush=True)
    return 1 if off else 0


if __name__ == "__main__":
    raise SystemExit(main())
