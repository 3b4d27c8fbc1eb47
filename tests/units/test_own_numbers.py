"""Plans and tests of a user's own numbers: rates, limits, sequences."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import theorax
from theorax import decide
from theorax.decide.plans import SweepPlan
from theorax.errors import DesignError, ObservationError, StatementError
from theorax.verifiers.outcome import Case, Verdict
from theorax.verifiers.statistics import estimate
from theorax.verifiers.statistics.summaries import Moments, Summary

SIZES = tuple(2.0**i for i in range(5, 14))
SMOOTH = decide.Expansion(rest=0.6, order=2, reason="a smooth expansion in the step size")


def power_law(rng, plan: SweepPlan, exponent=-1.0, sd=0.2, constant=1.0):
    n = np.array(plan.sizes)
    draws = plan.core.planned_draws[0]
    return constant * n**exponent * (1 + 0.5 * (n / n[0]) ** -0.5) * rng.lognormal(0, sd, (draws, len(n)))


@pytest.fixture
def plan():
    return decide.plan_rate(SIZES, exponent=-1, margin=0.1, draws=64)


def test_what_is_imported():
    """Deciding on arrays needs neither SymPy nor JAX, nor the parts of SciPy that are slow to import."""
    program = (
        "import sys; from theorax import decide\n"
        "plan = decide.plan_rate([8, 16, 32, 64], exponent=-1, margin=0.5, draws=4)\n"
        "decide.rate(plan, [[1 / n, 1.1 / n, 0.9 / n, 1 / n + 0.001] for n in plan.sizes[:3]] + [[1 / 64] * 4][:1]"
        " if False else __import__('numpy').random.default_rng(0).lognormal(0, 0.1, (4, 4)))\n"
        "print(*[m for m in ('sympy', 'jax', 'equinox', 'scipy.stats', 'rich', 'networkx') if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == ""


def test_it_is_a_name_of_the_package():
    assert theorax.decide is decide and "decide" in theorax.__all__


def test_every_public_name_exists():
    assert all(getattr(decide, name) is not None for name in decide.__all__)


class TestPlan:
    def test_tells_what_it_can_see(self, plan):
        assert plan.decides and plan.bias < plan.half_width < plan.margin < plan.noticeable
        assert plan.cost == 64 * sum(SIZES)
        for part in ("q = Θ(n^-1)", "32 to 8192 (9 sizes), 64 draws at each", "half-width", plan.hash):
            assert part in str(plan)

    def test_a_plan_that_cannot_decide_names_the_cheapest_that_can(self):
        weak = decide.plan_rate(SIZES[:5], exponent=-1, margin=0.1, draws=8)
        better = weak.cheapest()
        assert not weak.decides and better.decides and better.power() >= 0.8
        assert better.design in str(weak)

    @pytest.mark.parametrize(
        "change",
        [
            {"margin": 0.2},
            {"exponent": -2.0},
            {"sd": 0.3},
            {"draws": 65},
            {"side": "at most"},
            {"floor": 1e-9},
            {"levels": decide.Levels(0.01, 0.01)},
            {"corrections": decide.Corrections(size=0.6)},
            {"name": "other"},
            {"seeds": "paired"},
            {"average": "log of mean"},
            {"sizes": SIZES[1:]},
        ],
    )
    def test_everything_enters_the_hash(self, plan, change):
        assert replace(plan, **change).hash != plan.hash
        assert replace(plan).hash == plan.hash and hash(replace(plan)) == hash(plan)

    def test_is_frozen(self, plan):
        with pytest.raises(AttributeError):
            plan.margin = 1.0

    @pytest.mark.parametrize(
        ("sizes", "said"),
        [
            ((8, 16), "2 sizes were given"),
            ((8, 32, 16), "Size 3 (16) does not exceed size 2 (32)"),
            ((8, 16, 16, 32), "Size 3 (16) repeats size 2 (16)"),
            ((0, 1, 2), "Size 1 is 0"),
            ((1, 2, float("nan")), "Size 3 (nan)"),
        ],
    )
    def test_sizes_that_cannot_be_meant(self, sizes, said):
        with pytest.raises(DesignError) as told:
            decide.plan_rate(sizes, exponent=-1, margin=0.1)
        assert said in str(told.value)

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"margin": 0}, "margin=0 cannot be meant"),
            ({"margin": -0.1}, "margin=-0.1 cannot be meant"),
            ({"exponent": float("nan")}, "exponent=nan"),
            ({"draws": 2.5}, "draws=2.5"),
            ({"draws": 1}, "fewer than two draws"),
            ({"sd": -1}, "sd=-1"),
            ({"sd": (0.1, 0.2)}, "2 entries of sd"),
            ({"seeds": "pairde"}, "did you mean `paired`"),
            ({"side": "at moost"}, "did you mean `at most`"),
            ({"floor": -1}, "floor=-1"),
        ],
    )
    def test_fields_that_cannot_be_meant(self, given, said):
        with pytest.raises(DesignError) as told:
            decide.plan_rate(SIZES, **{"exponent": -1, "margin": 0.1, **given})
        assert said in str(told.value)

    def test_a_sharper_class_owes_a_reason(self):
        with pytest.raises(StatementError, match="reason"):
            decide.Corrections(size=0.1)


class TestRate:
    def test_a_true_rate_is_supported_and_a_wrong_one_refuted(self, plan, rng):
        values = power_law(rng, plan)
        assert decide.rate(plan, values).status == "SUPPORTED"
        assert decide.rate(replace(plan, exponent=-1.3), values).status == "REFUTED"

    def test_the_verdict_is_complete(self, plan, rng):
        verdict = decide.rate(plan, power_law(rng, plan))
        case = verdict.cases[verdict.worst]
        assert verdict.design_hash == plan.hash and verdict.kind == "rate" and verdict.as_ == "n"
        assert {part.kind for part in verdict.ledger} == {"class", "moment", "independence", "float model"}
        assert verdict.draws == 64 * 9 and verdict.sizes == SIZES and len(case.points) == 9
        assert case.interval[0] < -1 < case.interval[1] and case.breakdown > 1
        assert any("plateau" in part for part in verdict.unseen)
        assert 0 <= verdict.p_support <= 0.025 < verdict.p_refute

    def test_one_sided_rates(self, plan, rng):
        fast = power_law(rng, plan, exponent=-1.5)
        assert decide.rate(replace(plan, side="at most"), fast).status == "SUPPORTED"
        assert decide.rate(replace(plan, side="at least"), fast).status == "REFUTED"

    def test_exponentials(self, rng):
        plan = decide.plan_rate(
            np.linspace(3, 60, 8),
            exponent=-0.3,
            margin=0.03,
            form="exponential",
            corrections=decide.Prefactor(1, reason="a polynomial prefactor"),
        )
        n = np.array(plan.sizes)
        values = np.exp(-0.3 * n) * n**0.5 * rng.lognormal(0, 0.2, (32, len(n)))
        assert decide.rate(plan, values).status == "SUPPORTED"
        assert decide.rate(replace(plan, exponent=-0.4), values).status == "REFUTED"

    def test_what_lies_below_the_floor_is_not_read(self, plan, rng):
        floor = 1 / 20_000
        values = power_law(rng, plan, sd=0.05) + floor
        guarded = decide.rate(replace(plan, floor=floor), values)
        assert decide.rate(plan, values).status != "SUPPORTED"
        assert guarded.status != "REFUTED"
        assert any("of 9 sizes are read" in part.text for part in guarded.ledger)
        nothing = decide.rate(replace(plan, floor=1.0), values)
        assert (nothing.status, nothing.reason) == ("INCONCLUSIVE", "numeric_floor")

    def test_log_of_mean(self, plan, rng):
        values = power_law(rng, plan)
        for seeds in ("paired", "independent"):
            assert decide.rate(replace(plan, average="log of mean", seeds=seeds), values).status == "SUPPORTED"

    def test_an_exponential_does_not_fit_the_class_of_a_power(self, plan, rng):
        n = np.array(SIZES)
        values = np.exp(-0.01 * n) * rng.lognormal(0, 0.2, (64, 9))
        verdict = decide.rate(plan, values)
        assert verdict.status == "REFUTED" and "contradict the declared class" in verdict.sentence
        near = decide.rate(replace(plan, exponent=verdict.cases[0].estimate), values)
        assert (near.status, near.reason) == ("INCONCLUSIVE", "class_refuted")

    def test_a_power_that_an_exponential_fits_as_well_is_not_supported(self, rng):
        sizes = np.linspace(10, 20, 6)
        plan = decide.plan_rate(
            sizes, exponent=-1, margin=0.2, sd=0.01, corrections=decide.Corrections(0.0, reason="an exact law")
        )
        values = sizes**-1.0 * rng.lognormal(0, 0.01, (32, 6))
        assert decide.rate(plan, values).status == "SUPPORTED"
        assert decide.rate(replace(plan, rival=(-0.3, -0.2)), values).status == "SUPPORTED"
        assert decide.rate(replace(plan, rival=(-0.3, -0.01)), values).status == "INCONCLUSIVE"

    def test_soft_orders_are_wider(self, plan):
        soft = replace(plan, side="at most", corrections=decide.Corrections(loglog=1))
        assert soft.bias > plan.bias

    def test_columns_and_tables_are_the_same_data(self, plan, rng):
        values = power_law(rng, plan)
        assert decide.rate(plan, values) == decide.rate(plan, list(values.T))

    @pytest.mark.parametrize(
        ("spoil", "said"),
        [
            (lambda v: v[:-1], "63 draws were given at n = 32 (size 1), 64 were planned"),
            (lambda v: np.concatenate([v, v]), "128 draws were given"),
            (lambda v: v[:, 1:], "Write a table draws x sizes, 9 columns wide"),
            (lambda v: v.T, "It looks transposed"),
            (lambda v: v[0], "shape (9,)"),
            (lambda v: list(v.T)[:4], "4 arrays of draws were given where 9 sizes"),
            (lambda v: [["a"] * 64] * 9, "no array of numbers"),
            (lambda v: v * 1j, "no array of numbers"),
            (lambda v: [[[1.0]] * 64] * 9, "one per size"),
            (lambda v: 3.0, "A float was given"),
            (lambda v: v[:0], "are empty"),
        ],
    )
    def test_shapes_that_are_not_planned(self, plan, rng, spoil, said):
        with pytest.raises(ObservationError) as told:
            decide.rate(plan, spoil(power_law(rng, plan)))
        assert said in str(told.value)

    @pytest.mark.parametrize(
        ("value", "said"),
        [(np.nan, "is nan. No mean"), (np.inf, "is inf. No mean"), (0.0, "is 0. A rate"), (-1, "is -1. A rate")],
    )
    def test_values_that_have_no_logarithm(self, plan, rng, value, said):
        values = power_law(rng, plan)
        values[16, 2] = value
        with pytest.raises(ObservationError) as told:
            decide.rate(plan, values)
        assert f"Draw 17 at n = 128 (size 3) {said}" in str(told.value)

    def test_rescaling_changes_nothing(self, plan, rng):
        values = power_law(rng, plan)
        first, second = decide.rate(plan, values), decide.rate(plan, 1e-7 * values)
        assert first.status == second.status
        # The estimate is a difference of logarithms near 16, with weights of total size below 2.
        assert first.cases[0].interval == pytest.approx(second.cases[0].interval, abs=64 * 16 * 2.0**-52)

    def test_monotone_in_the_margin(self, plan, rng):
        values = power_law(rng, plan, exponent=-1.05)
        supported = [
            decide.rate(replace(plan, margin=margin), values).p_support for margin in (0.05, 0.1, 0.15, 0.2, 0.4)
        ]
        assert supported == sorted(supported, reverse=True)


class TestSequence:
    plan = decide.plan_sequence([8, 16, 32, 64, 128, 256], exponent=-1, margin=0.1, corrections=SMOOTH)
    n = np.array(plan.sizes)

    def test_an_order_is_supported_a_wrong_one_refuted(self):
        values = (1 + 6 / self.n) / self.n
        assert decide.sequence(self.plan, values).status == "SUPPORTED"
        assert decide.sequence(replace(self.plan, exponent=-2), values).status == "REFUTED"

    def test_it_spends_no_error_rate(self):
        verdict = decide.sequence(self.plan, 1 / self.n)
        assert verdict.level is None and verdict.p_support is None
        assert "is excluded" in verdict.sentence

    def test_a_limit(self):
        plan = decide.plan_sequence(self.plan.sizes, to=1 / 3, margin=0.02, corrections=SMOOTH)
        assert decide.sequence(plan, 1 / 3 + 1 / self.n).status == "SUPPORTED"
        assert decide.sequence(replace(plan, to=0.4), 1 / 3 + 1 / self.n).status == "REFUTED"

    def test_errors_of_the_values_widen_the_bias(self):
        noisy = decide.plan_sequence(self.plan.sizes, exponent=-1, margin=0.1, corrections=SMOOTH, errors=0.05)
        assert noisy.bias > self.plan.bias
        assert decide.sequence(noisy, 1 / self.n).status == "INCONCLUSIVE"

    @pytest.mark.parametrize(
        ("values", "said"),
        [
            (np.ones(5), "shape (5,)"),
            (np.ones((2, 6)), "shape (2, 6)"),
            ([1, 1, 1, np.nan, 1, 1], "n = 64 (size 4) is nan"),
            ([1, 1, 0, 1, 1, 1], "n = 32 (size 3) is 0"),
        ],
    )
    def test_values_that_cannot_be_read(self, values, said):
        with pytest.raises(ObservationError) as told:
            decide.sequence(self.plan, values)
        assert said in str(told.value)

    def test_one_claim_at_a_time(self):
        for given in ({}, {"exponent": -1, "to": 0.0}):
            with pytest.raises(DesignError, match="Write one of them"):
                decide.plan_sequence([1, 2, 4, 8], margin=0.1, **given)


class TestLimit:
    plan = decide.plan_limit(
        [64.0 * 2**i for i in range(7)],
        to=0.0,
        margin=0.2,
        draws=400,
        sd=1.0,
        corrections=decide.Corrections(rest=0, reason="one power"),
    )
    x = np.array(plan.sizes) / 64

    def test_a_limit_is_supported_and_a_wrong_one_refuted(self, rng):
        values = 0.4 * self.x**-0.5 + rng.standard_normal((400, 7))
        assert decide.limit(self.plan, values).status == "SUPPORTED"
        assert decide.limit(replace(self.plan, to=0.5), values).status == "REFUTED"

    def test_few_draws_with_light_tails_asserted_say_nothing(self, rng):
        plan = replace(self.plan, draws=20)
        verdict = decide.limit(plan, rng.standard_normal((20, 7)))
        assert (verdict.status, verdict.reason) == ("INCONCLUSIVE", "moments_undeclared")
        assert "at least 30 draws" in verdict.sentence

    def test_a_declared_range_or_variance(self, rng):
        values = (rng.uniform(-1, 1, (4000, 7)) + 0.01).clip(-1, 1)
        for moments in (decide.Bounded(-1, 1), decide.BoundedVariance(0.4)):
            plan = replace(self.plan, draws=4000, moments=moments)
            assert decide.limit(plan, values).status == "SUPPORTED"
            assert decide.limit(replace(plan, to=0.5), values).status == "REFUTED"
        with pytest.raises(ObservationError, match="outside the declared range"):
            decide.limit(replace(plan, moments=decide.Bounded(-0.5, 0.5)), values)

    def test_the_sd_is_planned_never_read_off_the_data(self):
        with pytest.raises(DesignError, match="No sd was planned"):
            decide.plan_limit(SIZES, to=0.0, margin=0.1)
        assert decide.plan_limit(SIZES, to=0.5, margin=0.1, moments=decide.Bounded(0, 1)).sd == 0.5

    def test_undeclared_moments_are_refused(self):
        with pytest.raises(DesignError, match="did you mean `light tails`"):
            decide.plan_limit(SIZES, to=0.0, margin=0.1, moments="light tail")


class TestSummaries:
    """One pass and any weights give what the scores themselves give."""

    def test_paired(self, rng):
        table = rng.standard_normal((50, 4)) + 3 * rng.standard_normal((50, 1))
        k = np.array([0.2, -1.0, 0.3, 0.5])
        fast, literal = Summary.of_table(table).interval(k), estimate.paired(table, k)
        # Both form about 50 x 4 products and sums of terms below 12 in size.
        assert fast.estimate == pytest.approx(literal.estimate, abs=200 * 12 * 2.0**-52)
        assert fast.se == pytest.approx(literal.se, rel=1e-9) and fast.se >= literal.se
        assert fast.df == literal.df

    def test_independent(self, rng):
        samples = [rng.standard_normal(count) for count in (10, 20, 30)]
        k = np.array([1.0, -2.0, 1.0])
        fast, literal = Summary.of_columns(samples).interval(k), estimate.independent(samples, k)
        assert (fast.estimate, fast.se, fast.df) == pytest.approx((literal.estimate, literal.se, literal.df), rel=1e-12)

    def test_merged(self, rng):
        sample = 5 + rng.standard_normal(1000)
        merged = Moments()
        for part in np.split(sample, [0, 1, 17, 500]):
            merged = merged + Moments.of(part)
        whole = Moments.of(sample)
        assert merged.count == whole.count
        assert (merged.mean, merged.squares, merged.magnitude) == pytest.approx(
            (whole.mean, whole.squares, whole.magnitude), rel=1000 * 2.0**-50
        )

    def test_a_spread_that_cancels_is_never_understated(self, rng):
        common = 1e3 * rng.standard_normal((40, 1))
        table = common + 1e-9 * rng.standard_normal((40, 2))
        k = np.array([1.0, -1.0])
        assert Summary.of_table(table).interval(k).se >= estimate.paired(table, k).se

    def test_equal_values_have_no_spread(self):
        assert Summary.of_table(np.full((5, 2), 0.1)).interval([1.0, 0.0]).se == 0
        assert Summary.of_columns([np.full(5, 0.1)]).interval([1.0]).se == 0


class TestLaw:
    def test_one_size(self, rng):
        plan = decide.plan_law(to=decide.Normal(), draws=20_000)
        values = rng.standard_normal(20_000)
        assert decide.law(plan, values).status == "SUPPORTED"
        assert decide.law(plan, 1.1 * values).status == "REFUTED"

    @pytest.mark.parametrize("law", [decide.Normal(1, 2), decide.Uniform(-1, 3), decide.Exponential(2)])
    def test_characteristic_functions_against_draws(self, law, rng):
        draws = {
            decide.Normal: lambda: rng.normal(1, 2, 40_000),
            decide.Uniform: lambda: rng.uniform(-1, 3, 40_000),
            decide.Exponential: lambda: rng.exponential(2, 40_000),
        }[type(law)]()
        plan = decide.plan_law(to=law, draws=40_000)
        assert decide.law(plan, draws).status == "SUPPORTED"
        assert str(law.wider(1.0)) == str(law)

    def test_two_samples(self, rng):
        plan = decide.plan_law(to=decide.Sample(30_000, 1.0), draws=30_000, margin=0.04)
        first, second = rng.standard_normal((2, 30_000))
        assert decide.law(plan, first, second).status == "SUPPORTED"
        assert decide.law(plan, 1.5 * first, second).status == "REFUTED"
        for reference in (None, second[:-1]):
            with pytest.raises(ObservationError, match="reference draws"):
                decide.law(plan, first, reference)

    def test_variances_given_what_a_draw_holds(self, rng):
        n = np.array([16, 32, 64, 128, 256])
        allowed = decide.Corrections(size=0.05, slowest=1, reason="an expansion of the moments in 1/n")
        plan = decide.plan_law(n, to=decide.Normal(), draws=500, sd=0.1, conditional=True, corrections=allowed)
        mixture = 1 + 0.6 * (rng.chisquare(n, (500, 5)) / n - 1)
        assert decide.law(plan, mixture).status == "SUPPORTED"
        assert decide.law(replace(plan, to=decide.Normal(0, 1.1)), mixture).status == "REFUTED"

    def test_what_cannot_be_planned(self):
        with pytest.raises(DesignError, match="No class of corrections"):
            decide.plan_law([8, 16, 32], to=decide.Normal(), draws=100)
        with pytest.raises(DesignError, match="is no law"):
            decide.plan_law(to="normal", draws=100)
        with pytest.raises(DesignError, match="standard deviation"):
            decide.Normal(0, -1)


class TestCounts:
    def test_a_probability(self, rng):
        plan = decide.plan_probability(at_least=0.95, margin=0.02, draws=3000)
        assert decide.probability(plan, rng.random(3000) < 0.97).status == "SUPPORTED"
        assert decide.probability(plan, rng.random(3000) < 0.9).status == "REFUTED"
        assert decide.probability(replace(plan, draws=30), rng.random(30) < 0.9).status == "INCONCLUSIVE"

    def test_more_outcomes_than_planned_are_refused(self):
        plan = decide.plan_probability(at_least=0.9, margin=0.1, draws=10)
        with pytest.raises(ObservationError, match=r"decide\.monitor"):
            decide.probability(plan, np.ones(11))
        with pytest.raises(ObservationError, match="An event happens or does not"):
            decide.probability(plan, np.full(10, 0.5))

    def test_a_monitor_may_be_asked_after_every_draw(self, rng):
        plan = decide.plan_probability(at_least=0.9, margin=0.05, draws=5000)
        for truth, status in ((0.99, "SUPPORTED"), (0.7, "REFUTED")):
            watch = decide.monitor(plan)
            while not watch.stopped:
                verdict = watch.add(rng.random() < truth)
            assert verdict.status == status and verdict.e_value > 1 / 0.025 and watch.draws < 1000
            assert watch.add(np.ones(100)) == verdict  # frozen

    def test_a_monitor_before_any_draw(self):
        assert decide.monitor(decide.plan_probability(at_least=0.9, margin=0.05, draws=5000)).verdict.status == (
            "INCONCLUSIVE"
        )

    def test_a_bound_in_every_row(self, rng):
        plan = decide.plan_inequality(draws=500)
        left = rng.random(500)
        assert decide.inequality(plan, left, 1.0).status == "SUPPORTED"
        assert decide.inequality(plan, left, 0.9).status == "REFUTED"
        rounded = decide.inequality(plan, left, left - 1e-12, errors=1e-9)
        assert rounded.status == "INCONCLUSIVE" and "within the declared errors" in rounded.sentence
        assert decide.inequality(replace(plan, draws=50), left[:50], 1.0).status == "INCONCLUSIVE"
        with pytest.raises(ObservationError, match="row 3 is nan"):
            decide.inequality(replace(plan, draws=3), [0, 0, np.nan], 1.0)

    def test_the_cheapest_plan_decides(self):
        weak = decide.plan_probability(at_least=0.99, margin=0.01, draws=100)
        assert not weak.decides and weak.cheapest().decides and weak.cheapest().power() >= 0.8


class TestMean:
    @pytest.mark.parametrize("moments", ["light tails", decide.Bounded(0, 1), decide.BoundedVariance(0.1)], ids=str)
    def test_means(self, moments, rng):
        plan = decide.plan_mean(to=0.5, margin=0.1, draws=1000, sd=0.3, moments=moments)
        values = rng.random(1000)
        assert decide.mean(plan, values).status == "SUPPORTED"
        assert decide.mean(replace(plan, to=0.8), values).status == "REFUTED"
        assert decide.mean(replace(plan, to=0.8, side="at most"), values).status == "SUPPORTED"

    def test_two_values(self, rng):
        plan = decide.plan_mean(to=0.01, margin=0.025, draws=400, moments=decide.TwoValues())
        assert decide.mean(plan, rng.random(400) < 0.01).status == "SUPPORTED"

    def test_a_median_needs_no_moments(self, rng):
        plan = decide.plan_quantile(to=0.0, margin=0.3, draws=1000)
        values = rng.standard_cauchy(1000)
        assert decide.quantile(plan, values).status == "SUPPORTED"
        assert decide.quantile(replace(plan, to=1.0), values).status == "REFUTED"
        with pytest.raises(DesignError, match="unbounded"):
            decide.plan_quantile(to=0.0, margin=0.3, draws=4)

    def test_what_was_not_planned(self, rng):
        plan = decide.plan_mean(to=0.5, margin=0.1, draws=100, sd=0.3)
        with pytest.raises(ObservationError, match=r"shape \(99,\)"):
            decide.mean(plan, rng.random(99))
        with pytest.raises(ObservationError, match="Draw 1 is nan"):
            decide.mean(plan, np.full(100, np.nan))


class TestSuite:
    def test_an_adjustment_takes_away(self, plan, rng):
        verdicts = {f"claim {i}": decide.rate(plan, power_law(rng, plan)) for i in range(20)}
        after = decide.adjust(verdicts)
        assert {v.status for v in after.values()} <= {"SUPPORTED", "INCONCLUSIVE"}
        assert all(verdicts[name].status == "SUPPORTED" for name, v in after.items() if v.status == "SUPPORTED")

    def test_names_are_needed(self, plan, rng):
        verdict = decide.rate(plan, power_law(rng, plan))
        with pytest.raises(theorax.UsageError, match="Two verdicts are named"):
            decide.adjust([verdict, verdict])
        with pytest.raises(theorax.UsageError, match="No verdicts"):
            decide.adjust([])


class TestMetamorphic:
    """What must not change when the data or the claim are told in another way."""

    CLAIMS = tuple(np.linspace(-1.3, -0.7, 13))

    def test_claim_and_negation_are_never_both_supported(self, plan, rng):
        """Two margins apart, the ranges of exponents that two claims leave are disjoint."""
        far, near = -1 - 2 * plan.margin, -1
        for exponent in self.CLAIMS:
            values = power_law(rng, plan, exponent=exponent)
            for first, second in (("exact", "exact"), ("at most", "at least")):
                steep = decide.rate(replace(plan, side=first, exponent=far), values).status
                flat = decide.rate(replace(plan, side=second, exponent=near), values).status
                assert {steep, flat} != {"SUPPORTED"}

    def test_a_wider_margin_never_loses_support(self, plan, rng):
        for exponent in self.CLAIMS:
            values = power_law(rng, plan, exponent=exponent)
            statuses = [decide.rate(replace(plan, margin=m), values).status for m in (0.06, 0.1, 0.2, 0.3)]
            supported = [status == "SUPPORTED" for status in statuses]
            assert supported == sorted(supported)
            assert len({status == "REFUTED" for status in statuses}) == 1  # the margin is no part of a refutation

    def test_a_larger_class_never_decides_more(self, plan, rng):
        """For the same weights: other weights are another estimate of the same data."""
        from theorax.verifiers.decision import Status
        from theorax.verifiers.statistics.bias import bias_of
        from theorax.verifiers.statistics.decide import decide as decided

        weights = plan.weights
        for exponent in self.CLAIMS:
            summary = Summary.of_table(np.log(power_law(rng, plan, exponent=exponent)))
            open_ = []
            for factor in (0.0, 0.5, 1.0, 2.0, 4.0):
                larger = replace(plan.core, corrections=decide.Corrections(0.5 * factor, rest=0.1 * factor, reason="x"))
                interval = summary.interval(weights.vector, bias_of(larger, weights.vector).total)
                open_.append(decided(interval, 1.0, 0.1).status is Status.INCONCLUSIVE)
            assert open_ == sorted(open_)

    def test_the_order_of_the_draws_is_of_no_account(self, plan, rng):
        values = power_law(rng, plan)
        first, second = decide.rate(plan, values), decide.rate(plan, rng.permutation(values))
        assert first.status == second.status
        # Sums of 64 terms below 16 in size, in another order.
        assert first.cases[0].estimate == pytest.approx(second.cases[0].estimate, abs=64 * 16 * 2.0**-52)

    def test_replay_is_bitwise(self, plan, rng):
        values = power_law(rng, plan)
        assert str(decide.rate(plan, values)) == str(decide.rate(plan, values.copy()))


def test_draws_that_come_in_pieces(plan, rng):
    values = power_law(rng, plan)
    stream = decide.Stream(logs=True)
    for row in values:
        stream.add(np.array(plan.sizes), row)
    assert decide.rate(plan, stream).cases[0].estimate == pytest.approx(
        decide.rate(plan, values).cases[0].estimate,
        abs=64 * 16 * 2.0**-52,  # sums of 64 terms below 16
    )
    stream.add(np.array([32.0]), np.array([1.0]))
    with pytest.raises(ObservationError, match="65 draws were streamed at n = 32, 64 were planned"):
        decide.rate(plan, stream)
    limit = decide.plan_limit(plan.sizes, to=1.0, margin=0.5, draws=64, sd=0.3)
    stream = decide.Stream(logs=False)
    stream.add(np.tile(SIZES, 64), rng.normal(1, 0.3, 64 * 9))
    assert decide.limit(limit, stream).status == "SUPPORTED"


def test_a_theorems_verdict_shows_itself(rng):
    """Several cases, a statement over several lines, and numbers that are missing."""
    case = Case("net", {}, None, None, None, None, None, None, "INCONCLUSIVE", "budget", None, None, None, None)
    verdict = Verdict(
        *(
            "claim",
            "identity",
            "a\n─ = c\nb",
            "",
            "INCONCLUSIVE",
            "budget",
            "It ran out.",
            "",
            None,
            None,
            None,
            None,
            None,
        ),
        draws=0,
        sizes=(),
        design_hash="abc",
        cases=(case, case),
        worst=0,
    )
    shown = str(verdict)
    assert shown.startswith("claim ") and "─ = c" in shown and "It ran out." in shown


def test_a_verdict_shows_itself(plan, rng):
    verdict = decide.rate(plan, power_law(rng, plan))
    shown = verdict._repr_mimebundle_()
    assert shown["text/plain"] == str(verdict) and "q = Θ(n^-1)" in shown["text/html"]
    assert max(map(len, str(verdict).splitlines())) <= 80
