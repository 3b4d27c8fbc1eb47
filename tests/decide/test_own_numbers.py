"""Own numbers: what is public, plans, several verdicts together, and how a verdict shows itself."""

import subprocess
import sys
from dataclasses import replace

import fakes
import pytest
import sweeps
from sweeps import SIZES, power_law

import theorax
from theorax import decide
from theorax.decide.findings import Finding, Found
from theorax.decide.status import Reason, Status
from theorax.decide.verdict import Case, Grounds, Statement
from theorax.errors import DesignError, StatementError


@pytest.fixture
def plan():
    return sweeps.rate_plan()


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
            ((8, 16), "The sweep has 2 sizes"),
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
            ({"margin": 0}, "margin=0 is not valid"),
            ({"margin": -0.1}, "margin=-0.1 is not valid"),
            ({"exponent": float("nan")}, "exponent=nan"),
            ({"draws": 2.5}, "draws=2.5"),
            ({"sd": -1}, "sd=-1"),
            ({"sd": (0.1, 0.2)}, "sd has 2 entries"),
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


class TestTogether:
    def test_many_verdicts_say_which_hold_jointly(self, plan, rng):
        verdicts = {f"claim {i}": decide.rate(plan, power_law(rng, plan)) for i in range(20)}
        found = decide.together(verdicts)
        assert set(found.green) == {name for name, verdict in verdicts.items() if verdict.status == "SUPPORTED"}
        assert set(found.green_alone) == {name for name in found.green if found.members[name].support > 0.025}
        assert found.members.keys() == verdicts.keys()

    def test_names_are_needed(self, plan, rng):
        verdict = decide.rate(plan, power_law(rng, plan))
        with pytest.raises(theorax.UsageError, match="Two verdicts are named"):
            decide.together([verdict, verdict])
        with pytest.raises(theorax.UsageError, match="No verdicts"):
            decide.together([])


def test_a_theorems_verdict_shows_itself(rng):
    """Several cases, a statement over several lines, and numbers that are missing."""
    case = Case(
        "net", {}, None, None, None, None, None, None, Status.INCONCLUSIVE, Reason.BUDGET, None, None, None, None
    )
    verdict = fakes.verdict_of(
        Statement(id="claim", kind="identity", statement="a\n─ = c\nb", design_hash="abc"),
        Grounds(draws=0),
        [Found(Finding.UNDECIDED, "It ran out.", Reason.BUDGET)],
        [case, case],
    )
    shown = str(verdict)
    assert shown.startswith("claim ") and "─ = c" in shown and "It ran out." in shown


def test_a_verdict_shows_itself(plan, rng):
    verdict = decide.rate(plan, power_law(rng, plan))
    shown = verdict._repr_mimebundle_()
    assert shown["text/plain"] == str(verdict) and "q = Θ(n^-1)" in shown["text/html"]
    assert max(map(len, str(verdict).splitlines())) <= 80
