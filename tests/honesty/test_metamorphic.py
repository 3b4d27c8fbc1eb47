"""What must not change a verdict, does not; what must move it one way, moves it no other."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.calibration import find
from theorax import decide as own
from theorax.decide.bias_aware import solve_weights
from theorax.decide.corrections import Corrections
from theorax.decide.designs import Plan, Policy, Target
from theorax.decide.equivalence import decide
from theorax.decide.error_budget import holm
from theorax.decide.estimators import betting, catoni, independent, paired, proportion
from theorax.decide.status import Levels, Side, Status

SIZES = tuple(32 * 2.0**i for i in range(9))
PLAN = own.plan_rate(SIZES, exponent=-1, margin=0.1, draws=64, seeds="paired", reading="exact")
UNIT = 2.0**-53
DECIDED = (Status.SUPPORTED, Status.REFUTED)


def tables(rng, count=6):
    """Draws whose verdicts are of every kind: exponents from far off to right."""
    for truth in np.linspace(0.85, 1.05, count):
        yield np.array(SIZES) ** -truth * np.exp(0.2 * rng.standard_normal((64, len(SIZES))))


def rounding_of_logs(table):
    """Both sides round each logarithm, and their sums: a few units in the last place of the largest, per weight."""
    terms = sum(table.shape) + 8
    return 2 * terms * UNIT * np.abs(np.log(table)).max() * np.abs(PLAN.weights.vector).sum()


def same(first, second, within):
    assert first.status == second.status
    assert abs(first.cases[0].estimate - second.cases[0].estimate) <= within


class TestOfTheData:
    @pytest.mark.parametrize("factor", [1e-9, 3.0, 2.0**40])
    def test_units_of_the_quantity(self, factor, rng):
        for table in tables(rng):
            bound = rounding_of_logs(table) + rounding_of_logs(factor * table)
            same(own.rate(PLAN, table), own.rate(PLAN, factor * table), bound)

    def test_units_of_the_size(self, rng):
        """Only ratios of sizes count; powers of two change no bit of them."""
        wide = own.plan_rate([8 * n for n in SIZES], exponent=-1, margin=0.1, draws=64, seeds="paired", reading="exact")
        assert wide.weights.values == PLAN.weights.values
        for table in tables(rng):
            same(own.rate(PLAN, table), own.rate(wide, table), 0.0)

    def test_names_of_the_seeds(self, rng):
        for table in tables(rng):
            shuffled = table[rng.permutation(len(table))]
            same(own.rate(PLAN, table), own.rate(PLAN, shuffled), 2 * rounding_of_logs(table))

    def test_names_of_independent_seeds(self, rng):
        plan = own.plan_rate(SIZES, exponent=-1, margin=0.1, draws=64, seeds="independent", reading="exact")
        for table in tables(rng):
            columns = [rng.permutation(column) for column in table.T]
            same(own.rate(plan, list(table.T)), own.rate(plan, columns), 2 * rounding_of_logs(table))

    def test_refined_then_coarsened(self, rng):
        """Sizes measured in between and dropped again leave no trace."""
        fine = [32 * 2.0 ** (i / 2) for i in range(17)]
        table = np.array(fine) ** -1.0 * np.exp(0.2 * rng.standard_normal((64, 17)))
        coarse = own.plan_rate(fine[::2], exponent=-1, margin=0.1, draws=64, seeds="paired", reading="exact")
        assert own.rate(coarse, table[:, ::2]) == own.rate(PLAN, np.ascontiguousarray(table[:, ::2]))

    @pytest.mark.parametrize(("scale", "shift"), [(4.0, 0.0), (-0.25, 0.0), (-8.0, 1024.0)])
    def test_affine_change_of_the_quantity(self, scale, shift, rng):
        """x -> a x + c with a a power of two: the weights are the same to the bit, and so is every word."""
        sides = {Side.EQUAL: Side.EQUAL, Side.AT_LEAST: Side.AT_MOST, Side.AT_MOST: Side.AT_LEAST}
        plan = Plan((16, 64, 256, 1024), Corrections(), Target.LIMIT, sd=1.0, draws=400, policy=Policy.PAIRED)
        weights = solve_weights(plan)
        for truth, side in itertools.product((0.0, 0.2, 0.4, 0.8), Side):
            x = truth + rng.standard_normal((400, 4))
            bias = weights.bias.total
            here = decide(paired(x, weights.vector, bias), 0.0, 0.5, side)
            there = decide(
                paired(scale * x + shift, weights.vector, abs(scale) * bias),
                shift,
                abs(scale) * 0.5,
                side if scale > 0 else sides[side],
            )
            assert here.status == there.status

    def test_replay(self, rng):
        for table in tables(rng):
            assert own.rate(PLAN, table) == own.rate(PLAN, table.copy())
        again = own.plan_rate(SIZES, exponent=-1, margin=0.1, draws=64, seeds="paired", reading="exact")
        assert again.hash == PLAN.hash


def intervals(rng):
    """One interval of every kind, around zero to one half."""
    zero_one = (rng.random(60) < 0.3).astype(float)
    yield paired(0.3 + 0.1 * rng.standard_normal((12, 1)))
    yield independent([0.3 + rng.standard_normal(5), 0.1 * rng.standard_normal(9)], (1.0, -0.5), 0.02)
    yield paired(0.2 + rng.standard_normal((40, 1)), bias=0.05)
    yield proportion(zero_one)
    yield betting(rng.random(60) ** 2, 0.0, 1.0)
    yield catoni(rng.standard_normal(40), 1.0)


CLAIMED = np.linspace(-0.5, 1.0, 13)


class TestOfTheClaim:
    def test_two_claims_that_exclude_each_other_are_never_both_supported(self, rng):
        for interval, claimed in itertools.product(intervals(rng), CLAIMED):
            for margin in (0.05, 0.2, 0.6):
                apart = decide(interval, claimed + 2 * margin, margin)
                assert {decide(interval, claimed, margin).status, apart.status} != {Status.SUPPORTED}
                above = decide(interval, claimed, margin, Side.AT_LEAST)
                below = decide(interval, claimed - 2 * margin, margin, Side.AT_MOST)
                assert {above.status, below.status} != {Status.SUPPORTED}

    def test_a_claim_and_its_converse_are_never_both_refuted(self, rng):
        for interval, claimed in itertools.product(intervals(rng), CLAIMED):
            sides = [decide(interval, claimed, 0.1, side).status for side in (Side.AT_LEAST, Side.AT_MOST)]
            assert sides != [Status.REFUTED, Status.REFUTED]

    def test_more_bias_never_decides(self, rng):
        for interval, claimed, side in itertools.product(intervals(rng), CLAIMED, Side):
            before = None
            for bias in (0.0, 0.01, 0.05, 0.2, 1.0):
                now = decide(replace(interval, bias=bias), claimed, 0.3, side)
                if before is not None:
                    assert before.status in DECIDED or now.status is Status.INCONCLUSIVE
                    # A refutation may give way to support that stood behind it, never the other way round.
                    assert not (before.status is Status.SUPPORTED and now.status is Status.REFUTED)
                    assert now.p_refute >= before.p_refute and now.p_support >= before.p_support
                before = now

    def test_more_margin_never_takes_support(self, rng):
        for interval, claimed, side in itertools.product(intervals(rng), CLAIMED, Side):
            found = [decide(interval, claimed, margin, side) for margin in (0.01, 0.05, 0.2, 0.5, 2.0)]
            supported = [d.status is Status.SUPPORTED or d.equivalent_within_margin for d in found]
            assert supported == sorted(supported)
            assert len({d.status is Status.REFUTED for d in found}) == 1  # the margin has no say in it

    def test_smaller_levels_never_decide(self, rng):
        for interval, claimed, side in itertools.product(intervals(rng), CLAIMED, Side):
            found = [decide(interval, claimed, 0.3, side, Levels(a, a)) for a in (0.1, 0.025, 0.005)]
            for before, after in itertools.pairwise(found):
                assert before.status in DECIDED or after.status is Status.INCONCLUSIVE

    def test_the_breakdown_factor_is_where_the_word_falls(self, rng):
        for interval, claimed, side in itertools.product(intervals(rng), CLAIMED, Side):
            told = decide(replace(interval, bias=0.04), claimed, 0.3, side)
            if told.status is Status.INCONCLUSIVE:
                continue
            refuted = told.status is Status.REFUTED
            factor = told.breakdown_refute if refuted else told.breakdown_support
            inside = decide(replace(interval, bias=0.04 * factor * (1 - 2.0**-40)), claimed, 0.3, side)
            outside = decide(replace(interval, bias=0.04 * factor * (1 + 2.0**-40)), claimed, 0.3, side)
            assert factor > 1 and inside.status is told.status
            assert outside.status is not told.status

    def test_the_p_values_say_the_same_as_the_word(self, rng):
        for interval, claimed, side in itertools.product(intervals(rng), CLAIMED, Side):
            told = decide(interval, claimed, 0.3, side)
            assert (told.status is Status.REFUTED) == (told.p_refute <= told.levels.refute)
            supported = told.status is Status.SUPPORTED or told.equivalent_within_margin
            assert supported == (told.p_support <= told.levels.support)


class TestOfTheDesign:
    def test_a_finer_sweep_is_never_wider(self):
        """Weights of the coarse sweep, with zeros in between, are among those of the fine one.

        The solver sees the bias at nine powers; between two, a sum of exponentials in w exceeds its ends by at most
        h^2/8 of its curvature, which is B sum |k_i| log^2 x_i x_i^-w at most. The solver's accuracy is 1e-8.
        """
        fine = tuple(32 * 2.0 ** (i / 2) for i in range(17))
        for draws in (16, 64, 256):
            coarse, refined = (solve_weights(Plan(s, draws=draws, policy=Policy.PAIRED)) for s in (fine[::2], fine))
            x, k = np.array(fine) / fine[0], np.abs(refined.vector)
            between = 0.5 * (1.5 / 8) ** 2 / 8 * float(k @ (np.log(x) ** 2 * x**-0.5))
            assert refined.half_width <= coarse.half_width + between + 1e-8

    def test_more_draws_or_less_noise_is_never_wider(self):
        widths = [solve_weights(Plan(SIZES, draws=m, policy=Policy.PAIRED)).half_width for m in (8, 16, 32, 64, 256)]
        assert widths == sorted(widths, reverse=True)
        widths = [
            solve_weights(Plan(SIZES, sd=sd, draws=64, policy=Policy.PAIRED)).half_width for sd in (0.05, 0.2, 0.5)
        ]
        assert widths == sorted(widths)

    def test_a_larger_class_is_never_narrower(self):
        for sizes in (0.5, 0.7, 1.0, 2.0), (0.5, 0.4, 0.3):
            of = (lambda b: Corrections(size=b)) if sizes[-1] > 1 else (lambda w: Corrections(slowest=w))
            widths = [
                solve_weights(Plan(SIZES, of(value), draws=64, policy=Policy.PAIRED)).half_width for value in sizes
            ]
            assert widths == sorted(widths)


class TestOfTheSuite:
    def test_names_do_not_matter(self, rng):
        p = {str(i): float(value) for i, value in enumerate(rng.random(12) ** 3)}
        turned = dict(reversed(p.items()))
        assert holm(p) == {name: holm(turned)[name] for name in p}

    def test_a_further_claim_never_helps_under_holm(self, rng):
        p = {str(i): float(value) for i, value in enumerate(rng.random(8) ** 3)}
        alone = holm(p)
        for further in (0.0, 0.01, 1.0):
            assert all(holm({**p, "new": further})[name] >= alone[name] for name in p)


def test_every_case_draws_the_same_data_again():
    for family, key in (("rates", "clean power law, the claim holds, n^-1"),):
        case = find(family, key)
        assert (case.data(3) == find(family, key).data(3)).all()
