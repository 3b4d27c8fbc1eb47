"""The decisions once more, slow and literal, from other libraries' parts: both must say the same.

Nothing here imports how the engine decides; what is shared is the weights, which any numbers would serve as.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize, stats

from benchmarks.calibration import find
from benchmarks.calibration.sweeps import DEFAULT, FREE, POWERED, SHORT, SMOOTH
from theorax.decide import law_features
from theorax.decide.bias_aware import bias_of, solve_weights
from theorax.decide.corrections import Corrections
from theorax.decide.designs import Plan, Policy
from theorax.decide.equivalence import decide
from theorax.decide.error_budget import holm
from theorax.decide.estimators import log_of_mean, log_of_mean_independent, proportion
from theorax.decide.gaussian_norm import NoiseNorm
from theorax.decide.status import Side, Status

LEVEL = 0.025


def worst_bias(plan, k):
    """The bound of the bias, term by term, on a fine grid of powers."""
    x, c = [size / plan.sizes[0] for size in plan.sizes], plan.corrections
    worst = 0.0
    for w in np.linspace(c.slowest, c.fastest, 5001):
        worst = max(worst, abs(sum(weight * at**-w for weight, at in zip(k, x, strict=True))))
    rest = sum(abs(weight) * at**-c.remainder_order for weight, at in zip(k, x, strict=True)) if c.remainder else 0.0
    return c.size * worst + c.remainder * rest


def words(estimate, se, df, bias, claimed, margin):
    """(refuted, supported) by the published formulas."""
    off = abs(estimate - claimed)
    refuted = off - stats.t.ppf(1 - LEVEL / 2, df) * se > bias
    supported = margin - off - stats.t.ppf(1 - LEVEL, df) * se > bias
    return bool(refuted), bool(supported and not refuted)


def room_with_tails(scores, claimed, margin):
    """By how much the limits that allow for skewness lie inside the margin, with Hall's cubic inverted by search."""
    z = np.array(scores)
    m, mean, se = len(z), z.mean(), z.std(ddof=1) / math.sqrt(len(z))
    gamma = stats.skew(z) * (z.std() / z.std(ddof=1)) ** 3 / math.sqrt(m)
    if abs(gamma) >= 0.3:
        return -math.inf
    wide = 2 if abs(gamma) >= 0.1 + 1.645 * math.sqrt(6) / m else 1
    quantile = wide * stats.t.ppf(1 - LEVEL, m - 1)

    def ratio(q):
        return optimize.brentq(lambda t: t + gamma * t**2 / 3 + gamma**2 * t**3 / 27 + gamma / 6 - q, -1e3, 1e3)

    rest = np.delete(z, np.argmax(abs(z - np.median(z))))
    radius = stats.t.ppf(1 - LEVEL, m - 2) * rest.std(ddof=1) / math.sqrt(m - 1)
    low = min(mean - se * ratio(quantile), rest.mean() - radius)
    high = max(mean - se * ratio(-quantile), rest.mean() + radius)
    return min(low - (claimed - margin), claimed + margin - high)


@pytest.mark.parametrize(
    ("column", "design", "allowed"),
    [(DEFAULT, SHORT, Corrections()), (FREE, SHORT, SMOOTH), (DEFAULT, POWERED, Corrections())],
    ids=["default class", "free 1/n", "powered"],
)
def test_rates(column, design, allowed):
    plan = Plan(tuple(design.sizes), allowed, draws=design.draws, policy=Policy.PAIRED)
    k = solve_weights(plan).values
    bias = worst_bias(plan, k)
    logs = [math.log(size / plan.sizes[0]) for size in plan.sizes]
    # The weights read off an exponent: no constant, one unit of -log n, and nothing of a known power. Solved by
    # projection, so up to the rounding of a sum of products.
    assert abs(sum(k)) < 1e-13
    assert abs(sum(a * b for a, b in zip(k, logs, strict=True)) + 1) < 1e-13
    prefix = "powered (32 to 8192, 64 draws), + 0.6 (n/n0)^-1/2" if design is POWERED else "+ 0.5 (n/n0)^-1"
    for ending in ("the claim holds, n^-1", "off by the margin, n^-0.9", "off by the margin, n^-1.1"):
        case = find("rates", f"{prefix}, {ending}")
        (judge,) = (procedure.decide for procedure in case.procedures if procedure.name == column)
        for replicate in range(40):
            table = case.data(replicate)
            z = [sum(weight * math.log(q) for weight, q in zip(k, row, strict=True)) for row in table]
            m, mean = len(z), math.fsum(z) / len(z)
            sd = math.sqrt(math.fsum((score - mean) ** 2 for score in z) / (m - 1))
            said = judge(table)
            refuted, supported = words(mean, sd / math.sqrt(m), m - 1, bias, 1.0, 0.1)
            expected = refuted, supported and room_with_tails(z, 1.0, 0.1) > bias
            assert (bool(said.refuted), bool(said.supported)) == expected


def test_the_bound_of_the_bias_is_above_the_fine_grid_and_near_it():
    for allowed, sizes in itertools.product((Corrections(), SMOOTH), (tuple(SHORT.sizes), tuple(POWERED.sizes))):
        plan = Plan(sizes, allowed, policy=Policy.PAIRED)
        weights = solve_weights(plan)
        fine = worst_bias(plan, weights.values)
        # From below by nothing; from above by h^2/8 of the curvature, h the step of the engine's 60 intervals.
        x = np.array(sizes) / sizes[0]
        between = allowed.size * ((allowed.fastest - allowed.slowest) / 60) ** 2 / 8
        between *= float(np.abs(weights.vector) @ (np.log(x) ** 2 * x**-allowed.slowest))
        assert fine * (1 - 1e-12) <= bias_of(plan, weights.vector).total <= fine + between + 1e-12


def objective(plan, k, powers):
    """What the weights minimise: the bias on a grid of powers, and the noise times the quantile."""
    x, c = np.array(plan.sizes) / plan.sizes[0], plan.corrections
    noise = stats.t.ppf(1 - LEVEL, plan.draws - 1) * plan.sd / math.sqrt(plan.draws) * np.linalg.norm(k)
    rest = c.remainder * float(np.abs(k) @ x**-c.remainder_order)
    return c.size * float(np.abs(x ** -powers[:, None] @ k).max()) + rest + noise


@pytest.mark.parametrize("larger", [None, 0, 1])
def test_no_other_solver_finds_better_weights(larger):
    """The default class and both of its redesigns, by sequential quadratic programming.

    Weights that meet the conditions bound the optimum from above, whoever found them; the engine's may lie above theirs
    by its own solver's accuracy of 1e-8 alone. That the other solver comes within a thousandth says that it tried.

    These are the classes under which a refutation outside the class (1.5 (n/n0)^-0.3) stands in a third of the runs:
    with the published rest kept as it is, not in the published quarter.
    """
    allowed = Corrections() if larger is None else Corrections().redesigns(True)[larger]
    plan = Plan(tuple(POWERED.sizes), allowed, draws=POWERED.draws, policy=Policy.PAIRED)
    x, count = np.array(plan.sizes) / plan.sizes[0], len(plan.sizes)
    powers = np.linspace(allowed.slowest, allowed.fastest, 9)
    decays = x ** -powers[:, None]
    conditions = np.stack([-np.log(x), np.ones(count)])
    scale = stats.t.ppf(1 - LEVEL, plan.draws - 1) * plan.sd / math.sqrt(plan.draws)
    rest = allowed.remainder * x**-allowed.remainder_order
    # Unknowns: the weights, a bound of the bias, bounds of the absolute weights.
    start = np.linalg.lstsq(conditions, np.array([1.0, 0.0]), rcond=None)[0]
    found = optimize.minimize(
        lambda v: allowed.size * v[count] + rest @ v[count + 1 :] + scale * np.linalg.norm(v[:count]),
        np.concatenate([start, [np.abs(decays @ start).max()], np.abs(start)]),
        constraints=[
            {"type": "eq", "fun": lambda v: conditions @ v[:count] - [1.0, 0.0]},
            *({"type": "ineq", "fun": lambda v, sign=sign: v[count] + sign * decays @ v[:count]} for sign in (1, -1)),
            *({"type": "ineq", "fun": lambda v, sign=sign: v[count + 1 :] + sign * v[:count]} for sign in (1, -1)),
        ],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    ).x[:count]
    found = found - np.linalg.pinv(conditions) @ (conditions @ found - [1.0, 0.0])
    theirs, ours = objective(plan, found, powers), objective(plan, solve_weights(plan).vector, powers)
    assert ours <= theirs + 1e-8
    assert theirs <= ours * 1.001


def test_the_jackknife(rng):
    """Delete one draw after the other and compute the whole estimator anew."""
    k = (0.7, -0.2, -0.5)
    for seeds in ("paired", "independent"):
        table = np.exp(0.5 * rng.standard_normal((9, 3)))
        m = len(table)

        def whole(rows):
            return sum(weight * math.log(np.mean(rows[:, i])) for i, weight in enumerate(k))

        if seeds == "paired":
            pseudo = [m * whole(table) - (m - 1) * whole(np.delete(table, s, axis=0)) for s in range(m)]
            estimate, se, df = np.mean(pseudo), np.std(pseudo, ddof=1) / math.sqrt(m), m - 1
            found = log_of_mean(table, k)
        else:
            parts, estimate = [], 0.0
            for i, weight in enumerate(k):
                column = table[:, i]
                values = [
                    m * math.log(column.mean()) - (m - 1) * math.log(np.delete(column, s).mean()) for s in range(m)
                ]
                estimate += weight * np.mean(values)
                parts.append(weight**2 * np.var(values, ddof=1) / m)
            se = math.sqrt(sum(parts))
            df = sum(parts) ** 2 / sum(part**2 / (m - 1) for part in parts)
            found = log_of_mean_independent(list(table.T), k)
        # Nine draws of order one in double precision: pseudo-values lose a factor of m of their sixteen digits.
        assert np.allclose((found.estimate, found.se, found.df), (estimate, se, df), rtol=1e-12, atol=1e-13)


def test_clopper_and_pearson():
    for draws, successes in itertools.product((5, 50, 400), (0, 1, 3, 5)):
        interval = proportion(np.arange(draws) < successes)
        exact = stats.binomtest(successes, draws).proportion_ci(0.95, "exact")
        assert np.allclose((interval.lower(LEVEL), interval.upper(LEVEL)), exact, rtol=1e-9, atol=1e-12)
        for p0 in (0.1, 0.5, 0.9):
            told = decide(interval, p0, 0.05, Side.AT_LEAST)
            below = stats.binomtest(successes, draws, p0, alternative="less").pvalue
            above = stats.binomtest(successes, draws, p0 - 0.05, alternative="greater").pvalue
            assert np.allclose((told.p_refute, told.p_support), (below, above), rtol=1e-9)
            refuted = below <= LEVEL
            supported = above <= LEVEL and not refuted
            assert (told.status is Status.REFUTED, told.status is Status.SUPPORTED) == (refuted, supported)


def test_holm_is_the_closure_of_bonferroni(rng):
    """A claim is rejected iff every intersection that holds it is, by its smallest p times its size."""
    for _ in range(20):
        p = {str(i): float(value) for i, value in enumerate(rng.random(5) ** 3)}
        adjusted = holm(p)
        for name in p:
            groups = [g for size in range(1, 6) for g in itertools.combinations(p, size) if name in g]
            closed = max(min(1.0, len(group) * min(p[member] for member in group)) for group in groups)
            # One product of a small whole number: a unit in the last place.
            assert adjusted[name] == pytest.approx(closed, rel=2.0**-51)


def test_the_noise_of_a_law(rng):
    """The quantile of the norm of Gaussian noise, against noise drawn another way."""
    frequencies = law_features.gauss_hermite()
    table = law_features.features_of_samples(rng.standard_normal(500), frequencies)
    covariance = np.cov(table, rowvar=False) / len(table)
    noise = NoiseNorm.of(covariance)
    values, vectors = np.linalg.eigh(covariance)
    other = (rng.standard_normal((40_000, len(values))) * np.sqrt(np.maximum(values, 0))) @ vectors.T
    for level in (0.5, 0.1, 0.025):
        share = float((np.linalg.norm(other, axis=1) >= noise.quantile(level)).mean())
        assert abs(share - level) <= 3.29 * math.sqrt(level * (1 - level) / 40_000)  # 99.9 % on either side
