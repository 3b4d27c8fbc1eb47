"""What a statement says of its randomness, its conditions and its letters is held against what was drawn."""

from __future__ import annotations

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sympy import Integer, Rational, log, symbols

import theorax
from theorax.decide.status import Status
from theorax.language import (
    Absolute,
    Expectation,
    Experiment,
    Hypothesis,
    Identity,
    Impossibility,
    Index,
    Inequality,
    Instance,
    Measured,
    Parameter,
    Relative,
    Size,
    Subject,
    Theorem,
    arrays,
    generic_entries,
    hypotheses,
    numbers,
    settles,
)

n = Size("n", "how many")
x = Measured("x", "a number")
p = Parameter("p", "a number that is fixed")
TENTH = Absolute(1, 10, "a test")
UNBROKEN = hypotheses(usual=Hypothesis("the usual model", unbroken="a test"))
MEAN_ZERO = Expectation(x, 0, margin=TENTH, spread=Rational(1, 3))


def uniform(key, n):
    return jax.random.uniform(key, minval=-0.5, maxval=0.5)


def observed(model):
    return dict(x=model)


@pytest.fixture
def checked(tmp_path):
    def check(claim, *, build=uniform, observe=observed, measures=x, held=UNBROKEN, proofs=(), **experiment):
        parts = {**dict(sweep={n: (4,)}, draws=400, subjects={"the model": Subject(build)}), **experiment}
        drawn = Experiment(observe, measures, **parts)
        theorem = Theorem(hypotheses=held, claims=dict(c=claim), experiments=dict(e=drawn), proofs=proofs)
        return theorax.verify(theorem, id="stated", effort="quick", state=str(tmp_path))["stated"]

    return check


def told(found):
    return " ".join([found.reason or "", *(claim.sentence for claim in found.claims)])


def test_a_rare_event_is_not_taken_for_no_randomness(checked):
    rare = checked(MEAN_ZERO, build=lambda key, n: jnp.where(jax.random.uniform(key) < 0.97, 0.0, 5.0), seeds="none")
    assert rare.status is Status.ERROR and "depends on the key" in told(rare)


def unkeyed(key, n):
    return jnp.asarray(np.random.standard_normal(n))  # noqa: NPY002


def test_numbers_that_do_not_come_from_the_key_are_refused(checked):
    found = checked(MEAN_ZERO, build=lambda key, n: uniform(key, n) + unkeyed(key, n).mean())
    assert found.status is Status.ERROR and "draws from something other than its key" in told(found)


def pair(key, n):
    one, other = jax.random.split(key)
    return jax.random.normal(one, (n,)), jax.random.normal(other, (n,))


def of_numbers(key, n):
    """The same as `pair`, by a computation that JAX cannot trace."""
    return tuple(part * (1.0 if float(part[0]) > 0 else 2.0) for part in pair(key, n))


COMPARED = arrays(left="x . y", right="y . x")
SAME = Identity(COMPARED.left, COMPARED.right, margin=Relative(1, 10**6, "rounding stays below it"))
BELOW = Inequality(COMPARED.left, at_most=1 + COMPARED.right)
REFUSED_BUILDS = {
    "one key twice": (lambda key, n: (jax.random.normal(key, (n,)), jax.random.normal(key, (n,))), "one key twice"),
    "a key of its own": (lambda key, n: (pair(key, n)[0], pair(jax.random.key(5), n)[0]), "a key of its own"),
    "no key": (lambda key, n: (pair(key, n)[0], unkeyed(key, n)), "something other than its key"),
    "no key, untraced": (lambda key, n: (of_numbers(key, n)[0], unkeyed(key, n)), "something other than its key"),
}


def products(model):
    one, other = model
    return dict(left=one @ other, right=other @ one)


def unlooked(found):
    return [line.text for claim in found.claims for line in claim.ledger if line.kind == "keys"]


@pytest.mark.parametrize("claim", [SAME, BELOW], ids=["identity", "inequality"])
@pytest.mark.parametrize("name", REFUSED_BUILDS)
def test_instances_are_drawn_from_their_key_alone(checked, claim, name):
    build, sentence = REFUSED_BUILDS[name]
    found = checked(claim, build=build, observe=products, measures=COMPARED, draws=20)
    assert found.status is Status.ERROR and sentence in told(found)


def test_python_of_a_build_runs_as_often_for_many_instances_as_for_few(checked):
    def counted_of(ran):
        # A function of its own for each check: a program that was traced before is not traced again.
        def counted(key, n):
            ran.append(n)
            return pair(key, n)

        return counted

    counts = []
    for draws in (20, 60):
        ran = []
        found = checked(BELOW, build=counted_of(ran), observe=products, measures=COMPARED, draws=draws)
        assert found.status is not Status.ERROR
        counts.append(len(ran))
    assert counts[1] == counts[0] < 10


def test_keys_that_could_not_be_followed_are_not_looked_at(checked):
    found = checked(BELOW, build=of_numbers, observe=products, measures=COMPARED, draws=300)
    assert found.status is not Status.ERROR
    traced = checked(BELOW, build=pair, observe=products, measures=COMPARED, draws=300)
    assert unlooked(found) and not unlooked(traced), (unlooked(found), told(found), told(traced))


def test_a_distance_that_is_no_number_is_not_far(checked):
    seen = numbers(distance="of a restart", planted="of a planted member", started="where its search starts")
    far = Impossibility(
        log(seen.distance), Rational(1, 2), planted=seen.planted, started=seen.started, tol=Rational(1, 10)
    )
    found = checked(
        far,
        build=lambda key, n: (jnp.where(n == 4, 3.0, -3.0), jax.random.uniform(key, (3,))),
        observe=lambda model: dict(distance=model[0] + model[1][0], planted=model[1][1] / 100, started=1 + model[1][2]),
        measures=seen,
        sweep={n: (4, 8)},
    )
    assert found.status is Status.ERROR and "neither near nor far" in told(found)


@pytest.mark.parametrize(("low", "status"), [(1.0, Status.SUPPORTED), (-1.0, Status.VACUOUS)])
def test_a_hypothesis_holds_at_every_value_of_its_index(low, status, checked):
    k = Index("k", "which")
    y = Measured("y", "one of two", over=(k,))
    found = checked(
        MEAN_ZERO,
        observe=lambda model: dict(x=model, y=jnp.array([1.0, low])),
        measures=(x, y),
        held=hypotheses(positive=Hypothesis("y is positive", holds=y > 0, unbroken="a test")),
        along={k: (1, 2)},
    )
    assert found.claims[0].status is status


def test_what_is_no_number_satisfies_no_hypothesis(checked):
    small = hypotheses(small=Hypothesis("its logarithm is small", holds=log(x) < 2, unbroken="a test"))
    found = checked(MEAN_ZERO, held=small)
    assert not found.status.holds and "of the draws" in told(found)


@pytest.mark.parametrize(("where", "said"), [(p > 2, "No case of the experiment"), (n > 5, "not fixed in a case")])
def test_a_condition_that_holds_nowhere_is_named(where, said, checked):
    found = checked(Expectation(x, 0, margin=TENTH, where=where), at={p: Integer(1)})
    assert found.status is Status.INCONCLUSIVE and said in told(found)


@pytest.mark.parametrize(
    ("observe", "said"),
    [
        (lambda model: dict(x=1j * model), "as complex numbers"),
        (lambda model: model, "Return a dictionary"),
        (lambda model: dict(x="3"), "observe returned x = '3'"),
        (lambda model: dict(x=None), "observe returned x = None"),
    ],
)
def test_what_observe_returns_is_real_numbers_by_name(observe, said, checked):
    found = checked(MEAN_ZERO, observe=observe)
    assert found.status is Status.ERROR and said in told(found)


def test_the_scope_of_a_proof_names_what_its_symbols_assume_and_what_is_fixed(checked):
    out = arrays(left="a side", right="the other")
    same = Identity(out.left, out.right, margin=Absolute(1, 10**6, "a test"))

    def observe(model):
        w, gain = model
        return dict(left=gain * jnp.sqrt(w**2), right=w)

    @settles(same)
    def steps():
        """Any vector."""
        entries = np.array(symbols("a b", nonnegative=True), dtype=object)
        yield Instance(same, "the root of a square", observe, (entries, 1))

    found = checked(
        same,
        build=lambda key, n: (jnp.abs(jax.random.normal(key, (2,))), jnp.ones(())),
        observe=observe,
        measures=out,
        proofs=(steps,),
        draws=8,
    )
    assert found.status is Status.PROVED
    assert "nonnegative: a, b" in told(found) and "model[1] held fixed" in told(found)


def test_a_proof_without_a_step_is_refused(checked):
    @theorax.language.derives(MEAN_ZERO)
    def steps():
        """Any number."""

    found = checked(MEAN_ZERO, proofs=(steps,))
    assert found.status is Status.ERROR and "yields no step" in told(found)


def test_the_draws_of_an_instance_are_counted_and_not_its_entries(checked):
    out = arrays(left="an array")
    found = checked(
        Inequality(out.left, at_most=10),
        build=lambda key, n: jax.random.normal(key, (5,)),
        observe=lambda model: dict(left=model),
        measures=out,
        draws=3,
    )
    assert [point.draws for point in found.claims[0].cases[0].points] == [3]


def test_a_proof_of_a_function_whose_results_are_thrown_away_settles_nothing(checked):
    out = arrays(left="a side", right="the other")
    same = Identity(out.left, out.right, margin=Absolute(1, 10**6, "a test"))

    factor = 2.0  # a free name of the function, as of one that another function makes

    def helper(w):
        return dict(left=factor * w, right=w + w)

    def observe(w):
        helper(w)
        return dict(left=jnp.sqrt(w**2), right=w)

    def handed_on(w):
        return {**helper(w), "beside": w}

    @settles(same)
    def steps():
        """Any vector."""
        yield Instance(same, "twice", helper, generic_entries("w", 2))

    parts = dict(build=lambda key, n: 8 + jax.random.normal(key, (2,)), measures=out, proofs=(steps,), draws=8)
    found = checked(same, observe=observe, **parts)
    assert found.status is Status.ERROR and "whose results are not what is measured" in told(found)

    def chosen(w):
        return jax.tree.map(lambda one, other: jnp.where(w[0] > -100, one, other), helper(w), helper(-w))

    def one_by_one(w):
        return jax.vmap(helper)(w)

    def computed_again(w):
        return {**helper(w), "left": 2 * (1 * w)}

    for whole in (
        handed_on,
        chosen,
        one_by_one,
        computed_again,
        jax.jit(handed_on),
        jax.jit(helper),
        jax.jit(jax.jit(helper)),
    ):
        # What was compiled before is not entered again, and is found all the same.
        assert [checked(same, observe=whole, **parts).status for _ in range(2)] == [Status.PROVED] * 2, whole

    def thrown_away_one_by_one(w):
        jax.vmap(helper)(w)
        return dict(left=jnp.sqrt(w**2), right=w)

    assert checked(same, observe=thrown_away_one_by_one, **parts).status is Status.ERROR


class Called(eqx.Module):
    """A program that is an object."""

    def __call__(self, w):
        return dict(left=2 * w, right=w + w)


def doubled(w, sign=1):
    return dict(left=2 * sign * w, right=w + sign * w)


@pytest.mark.parametrize(
    "program",
    [
        Called(),
        Called().__call__,
        partial(doubled, sign=-1),
        jax.jacfwd(doubled),
        jax.vmap(doubled),
        jax.jit(jax.vmap(doubled)),
    ],
)
def test_a_proof_of_an_object_or_of_a_function_transformed_settles_nothing(checked, program):
    out = arrays(left="a side", right="the other")
    same = Identity(out.left, out.right, margin=Absolute(1, 10**6, "a test"))

    @settles(same)
    def steps():
        """Any vector."""
        yield Instance(same, "a program", program, generic_entries("w", 2))

    parts = dict(build=lambda key, n: 8 + jax.random.normal(key, (2,)), measures=out, proofs=(steps,), draws=8)
    for observe in (lambda w: doubled(w, 1), lambda w: dict(left=doubled(w)["left"], right=jnp.sqrt(4 * w**2))):
        assert checked(same, observe=observe, **parts).status is Status.ERROR


def test_every_line_of_the_evidence_has_to_return_what_was_proved(checked):
    out = arrays(left="a side", right="the other")
    same = Identity(out.left, out.right, margin=Absolute(1, 10**6, "a test"))

    def observe(model):
        w, kind = model
        return doubled(w) if kind is None else dict(left=jnp.sqrt(w**2), right=w)

    @settles(same)
    def steps():
        """Any vector."""
        yield Instance(same, "twice", doubled, generic_entries("w", 2))

    def built(kind):
        return lambda key, n: (8 + jax.random.normal(key, (2,)), kind)

    parts = dict(measures=out, proofs=(steps,), draws=8, observe=observe)
    assert (
        checked(same, subjects=dict(one=Subject(built(None)), other=Subject(built(None))), **parts).status
        is Status.PROVED
    )
    assert (
        checked(same, subjects=dict(one=Subject(built(None)), other=Subject(built(1.0))), **parts).status
        is Status.ERROR
    )


@pytest.mark.parametrize(
    ("function", "inverse", "said"),
    [
        (jnp.arccos, jnp.cos, "where acos is defined"),
        (jnp.log, jnp.exp, "where log is defined"),
        (jnp.sqrt, jnp.square, "where sqrt is defined"),
        (lambda w: jnp.sqrt(jnp.arctanh(w)), lambda w: jnp.tanh(w**2), "where atanh, sqrt are defined"),
        (lambda w: jnp.log(jnp.exp(w)), lambda w: w, ""),
        (lambda w: jnp.log1p(w**2), lambda w: w, ""),
    ],
)
def test_a_proof_on_symbols_says_of_which_functions_it_took_the_domain_for_granted(checked, function, inverse, said):
    out = arrays(left="a side", right="the other")
    same = Identity(out.left, out.right, margin=Absolute(1, 10**6, "a test"))

    def observe(w):
        left = inverse(function(w))
        return dict(left=left, right=w if said else left + 0)

    @settles(same)
    def steps():
        """Any vector."""
        yield Instance(same, "both sides", observe, generic_entries("w", 2))

    found = checked(
        same,
        build=lambda key, n: 0.1 + 0.8 * jax.random.uniform(key, (2,)),
        observe=observe,
        measures=out,
        proofs=(steps,),
        draws=8,
    )
    assert found.status is Status.PROVED
    assert (said in found.claims[0].scope) if said else ("defined" not in found.claims[0].scope)


@pytest.mark.parametrize("given", [0, 0.0, np.array(Integer(0), dtype=object), np.array(0.0)])
def test_a_letter_of_an_instance_is_the_number_that_the_program_was_given(checked, given):
    out, t = arrays(left="a side", right="the other"), Parameter("t", "a factor")
    same = Identity(t * out.left, out.right, margin=Absolute(1, 10**6, "a test"))

    def observe(w, t):
        return dict(left=w, right=w * t)

    def proof(letters):
        @settles(same)
        def steps():
            """Any vector."""
            yield Instance(same, "both sides", observe, generic_entries("w", 2), given, letters=letters)

        return steps

    parts = dict(build=lambda key, n, t: jax.random.normal(key, (2,)), observe=observe, measures=out, draws=8)
    parts["sweep"], parts["at"] = {n: (4,)}, ({t: 0},)
    said = told(checked(same, proofs=(proof({t: 2}),), **parts))
    assert "two numbers by one name" in said, said
    assert "two numbers by one name" not in told(checked(same, proofs=(proof({t: 0}),), **parts))


@pytest.mark.parametrize("count", [2, 5])
def test_instances_say_how_much_of_their_law_they_leave_open_and_their_rows_have_the_word_of_the_claim(checked, count):
    entries = arrays(left="a vector", right="the same")

    def normal(key, n):
        return jax.random.normal(key, (2,))

    claim = Inequality(entries.left, at_most=2)
    found = checked(claim, build=normal, observe=lambda w: dict(left=w, right=w), measures=entries, draws=count)
    (said,) = found.claims
    assert said.status is Status.CERTIFIED and {case.status for case in said.cases} == {Status.CERTIFIED}
    # So many instances without a violation have the probability of the first attempt's level where that share violates.
    share = 100 * (1 - (0.025 * 6 / np.pi**2) ** (1 / count))
    assert any(f"up to {share:.2g} % of their law" in text for text in said.unseen), said.unseen


@pytest.mark.parametrize("shape", [(), (2,)])
@pytest.mark.parametrize("bound", [2, 10**6])
def test_a_verdict_says_of_a_bound_that_it_is_loose(checked, shape, bound):
    seen = arrays(left="a number") if shape else numbers(left="a number")
    found = checked(
        Inequality(seen.left, at_most=bound),
        build=lambda key, n: jax.random.uniform(key, shape, minval=0.5),
        observe=lambda w: dict(left=w),
        measures=seen,
        draws=5 if shape else 400,
    )
    (said,) = found.claims
    assert said.status in (Status.SUPPORTED, Status.CERTIFIED), told(found)
    assert any(text.startswith("LOOSE") for text in said.unseen) == (bound > 2), said.unseen
