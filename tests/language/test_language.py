"""Values that check their own mathematics: what cannot be meant is refused with what to write instead."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sympy import And, I, Integer, Rational, Symbol, cos, exp, pi, sqrt

from theorax.errors import StatementError
from theorax.language import (
    Absolute,
    Characteristic,
    Corrections,
    Efforts,
    Expansion,
    Expectation,
    Experiment,
    Hypothesis,
    Identity,
    Image,
    Index,
    Inequality,
    Law,
    Limit,
    Measured,
    Parameter,
    Proof,
    Rate,
    Relative,
    Size,
    Step,
    Subject,
    Theorem,
    gaussian,
    generic_entries,
    hypotheses,
    quarter_circle,
    radius_of_disk,
)
from theorax.language.proofs import sides_of

n = Size("n", "how many")
a = Parameter("a", "a number", positive=True)
x = Measured("x", "a measured number", positive=True)
s = Measured("s", "a sample", sample=True)
d = Size("d", "how wide")
k = Index("k", "which")
CLASS = Expansion(powers=(1,), rest=0.1, order=2, reason="a test")


def limit(**changed):
    return Limit(**{**dict(of=x, to=a, as_=n, approach=CLASS, margin=Relative(1, 10, "a test")), **changed})


def rate(**changed):
    return Rate(
        **{**dict(of=x, like=n**-1, as_=n, approach=Corrections(), margin=Absolute(1, 10, "a test")), **changed}
    )


OTHER = hypotheses(g="another")
H, UNBROKEN = hypotheses(h="something holds"), hypotheses(h=Hypothesis("something holds", unbroken="a test"))


def build(key, n):
    return n


def observe(net):
    return dict(x=net)


def experiment(**changed):
    parts = dict(
        subjects={"one": Subject(build)}, observe=observe, measures=(x,), sweep={n: (2, 4, 8)}, at=({a: Integer(1)},)
    )
    return Experiment(**{**parts, **changed})


def theorem(**changed):
    parts = dict(
        place="a test",
        label="derived",
        hypotheses=UNBROKEN,
        claims=dict(mean=limit()),
        experiments=dict(numbers=experiment()),
    )
    return Theorem(**{**parts, **changed})


def of_width(**changed):
    return dict(numbers=experiment(**changed))


def test_a_limit_in_a_letter_that_is_the_swept_one_stands():
    assert theorem(claims=dict(mean=limit(as_=d)), experiments=of_width(derived={d: n})).claims["mean"].tending == d


def shapeless():
    yield Step("nothing", 1, 1)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: Size("n m", "two words"), "is no name"),
        (lambda: Size("n", " "), "has no meaning"),
        (lambda: Relative(0, 1, "a test"), "is no margin"),
        (lambda: Relative(1, 10, "a test").around(0.0), "around zero is zero"),
        (lambda: limit(margin=None), "has no margin"),
        (lambda: Relative(1, 10, " "), "has no reason"),
        (lambda: limit(of=a), "holds no measured letter"),
        (lambda: limit(to=x), "which only a draw can tell"),
        (lambda: limit(to=a / n), "still depends on n"),
        (lambda: limit(to=Integer(0)), "Write Absolute"),
        (lambda: limit(as_=a), "is not a Size"),
        (lambda: rate(margin=Relative(1, 10, "a test")), "is relative"),
        (lambda: rate(like=n**-1 + n**-2), "neither a power of n nor an exponential"),
        (lambda: Identity(x, x), "the same expression"),
        (lambda: Inequality(x), "no bound"),
        (lambda: Inequality(x, at_most=a, at_least=a), "two bounds"),
        (lambda: Expectation(x, a), "has no margin"),
        (
            lambda: Law(s, quarter_circle(a), as_=n, approach=CLASS, scale=a, margin=Absolute(1, 1, "a test")),
            "margin of a law",
        ),
        (lambda: Image(x, x, Integer(1), (Integer(0), Integer(2))), "has mass 2"),
        (lambda: Subject(lambda n: n), "takes ['n']"),
        (lambda: experiment(sweep={}), "sweeps 0 letters"),
        (lambda: experiment(sweep={n: (4, 2)}), "not an increasing list"),
        (lambda: experiment(at=({a: 0.5},)), "Write Rational(1, 2)"),
        (lambda: experiment(subjects={}), "has no subjects"),
        (lambda: experiment(observe=lambda net, m: net), "asks for m"),
        (lambda: experiment(measures=(Measured("y", "over k", over=(k,)),)), "no values are given"),
        (lambda: Step("shapes", np.ones(2), np.ones(3)), "compares shapes"),
        (lambda: Proof(lambda: iter(())), "has no docstring"),
        (lambda: Proof(shapeless), "has no docstring"),
        (lambda: theorem(label="guessed"), "is no honesty label"),
        (
            lambda: theorem(claims=dict(mean=limit(as_=d)), experiments=of_width(at=({a: Integer(1), d: Integer(4)},))),
            "sweeps n",
        ),
        (lambda: theorem(claims=dict(mean=limit(as_=d)), experiments=of_width(derived={d: n**2})), "sweeps n"),
        (lambda: theorem(claims=dict(mean=limit(as_=d)), experiments=of_width(derived={d: 2 * n})), "sweeps n"),
        (lambda: theorem(claims=dict(mean=limit(as_=d)), experiments=of_width(derived={d: 4})), "sweeps n"),
        (lambda: limit(margin=0.1), "margin=0.1 is a float"),
        (lambda: limit(under="h"), "under='h' is a str"),
        (lambda: limit(where="a > 1"), "is a str"),
        (lambda: limit(approach="default"), "approach='default' is a str"),
        (lambda: limit(spread="big"), "spread='big' has no meaning"),
        (lambda: limit(wrong=[1]), "wrong=[1] is a list"),
        (lambda: Law(s, "normal", as_=n, approach=CLASS), "to='normal' is a str"),
        (lambda: experiment(measures="x"), "measures='x' is a str"),
        (lambda: experiment(observe=None), "observe=None is a NoneType"),
        (lambda: experiment(sweep=n), "sweep=n is a Size"),
        (lambda: experiment(sweep={n: (4.5, 8)}), "sweep=4.5 is a float"),
        (lambda: experiment(draws="100"), "draws='100' is a str"),
        (lambda: experiment(seeds="pair"), "seeds='pair' has no meaning"),
        (lambda: experiment(dtype="bfloat16"), "dtype='bfloat16' has no meaning"),
        (lambda: experiment(span=0), "span=0 has no meaning"),
        (lambda: experiment(at={"a": 1}), "at='a' is a str"),
        (lambda: experiment(along={k: (0, 1)}), "counts from one"),
        (lambda: experiment(along={k: (1, 1)}), "each value once"),
        (lambda: experiment(subjects=[Subject(build)]), "is a list"),
        (lambda: Subject(3), "build=3 is an int"),
        (lambda: Subject(build).breaking("h"), "hypothesis='h' is a str"),
        (lambda: hypotheses(h=3), "h=3 is an int"),
        (lambda: hypotheses(h=Hypothesis("x is positive", holds=x > 0)), "has decided it already"),
        (lambda: hypotheses(h=Hypothesis("two", holds=And(s > 0, s < 2))), "It is one relation"),
        (
            lambda: theorem(hypotheses=hypotheses(h=Hypothesis("s is small", holds=s < 1, unbroken="a test"))),
            "does not measure s",
        ),
        (lambda: theorem(claims=[limit()]), "is a list"),
        (lambda: theorem(claims={"a b": limit()}), "A reader types ID.name"),
        (lambda: theorem(claims={3: limit()}), "claims=3 is an int"),
        (lambda: theorem(experiments=experiment()), "is an Experiment"),
        (lambda: theorem(hypotheses=dict(h="a sentence")), "is a dict"),
        (lambda: theorem(issues="one"), "issues='one' is a str"),
        (lambda: theorem(place=3), "place=3 is an int"),
        (
            lambda: theorem(claims=dict(mean=limit(corrected="same"), same=limit(corrected="mean"))),
            "which is corrected itself",
        ),
        (lambda: theorem(claims={}), "needs a claim"),
        (lambda: theorem(claims=dict(mean=limit(under=Hypothesis("g holds", name="g")))), "needs the hypothesis 'g'"),
        (lambda: theorem(claims=dict(mean=limit(to=Symbol("b")))), "holds the symbol b"),
        (lambda: theorem(claims=dict(mean=limit(corrected="better"))), "corrected by 'better'"),
        (lambda: theorem(hypotheses=H), "broken by no control"),
        (lambda: theorem(experiments=dict(numbers=experiment(at=({},)))), "holds a, which has no value"),
        (lambda: theorem(experiments={}), "not clear which"),
        (
            lambda: theorem(experiments=dict(numbers=experiment(subjects={"one": Subject(build).breaking(H.h)}))),
            "has no evidence",
        ),
        (
            lambda: theorem(
                experiments=dict(
                    numbers=experiment(subjects={"one": Subject(build), "two": Subject(build).breaking(OTHER.g)})
                )
            ),
            "breaks the hypothesis 'g'",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(wrong, said):
    with pytest.raises(StatementError) as refused:
        wrong()
    assert said in str(refused.value)
    assert str(refused.value).rstrip().endswith(".")


@pytest.mark.parametrize(
    ("like", "exponent", "exponential"),
    [
        (n**-1, -1, False),
        (n ** (1 - 2 * k), 1 - 2 * k, False),
        (exp(-a * n), -a, True),
        (a * sqrt(n), Rational(1, 2), False),
    ],
)
def test_the_exponent_of_a_rate(like, exponent, exponential):
    claim = rate(like=like)
    assert claim.exponent - exponent == 0
    assert claim.is_exponential is exponential


def test_letters_that_share_only_their_name_are_different_letters():
    assert Size("n", "how many") == n
    assert Size("n", "something else") != n
    assert Parameter("n", "a number") != n
    over = Measured("x", "a measured number", positive=True, over=(k,))
    # SymPy's cache would return n*x, built before, if the two were one.
    assert (n * x).atoms(Measured) == {x}
    assert [letter.over for letter in (n * over).atoms(Measured)] == [(k,)]


def test_letters_survive_pickling():
    for letter in (a, x, s, Measured("y", "over k", over=(k,))):
        assert pickle.loads(pickle.dumps(letter)) == letter


def test_moments_of_the_quarter_circle_are_catalan():
    law = quarter_circle(2 * a)
    assert [law.moment(2 * j) / a ** (2 * j) for j in (1, 2, 3)] == [1, 2, 5]
    assert radius_of_disk(a).moment(2) == a**2 / 2


def test_the_characteristic_function_of_an_image_is_that_of_its_density():
    # The uniform law on (0, 1): E exp(i t X) = (exp(i t) - 1) / (i t).
    u = Symbol("u")
    uniform = Image(u, u, Integer(1), (Integer(0), Integer(1)))
    t = np.array([0.3, 2.0, 9.0])
    # Quadrature stops at 1e-13 times the root of at most 2048 nodes.
    assert np.abs(uniform.characteristic(t, {}) - (np.exp(1j * t) - 1) / (1j * t)).max() < 1e-13 * np.sqrt(2048)


def test_a_law_scaled_is_the_law_of_the_scaled_variable():
    u = Symbol("u")
    law = Image(cos(u), u, 1 / pi, (Integer(0), pi))
    assert law.scaled(a).moment(2) == a**2 * law.moment(2)


def test_efforts_and_sizes():
    swept = experiment(sweep={n: Efforts(quick=(2,), standard=(2, 4), thorough=(2, 4, 8))}, draws=Efforts(1, 2, 3))
    assert swept.sizes("standard") == (2, 4)
    assert swept.number_of_draws("thorough") == 3


def test_a_subject_is_evidence_control_or_neither():
    mean = limit()
    subjects = {
        "plain": Subject(build),
        "control": Subject(build).breaking(H.h, fails=mean),
        "neither": Subject(build).breaking(H.h),
    }
    stated = theorem(hypotheses=H, claims=dict(mean=mean), experiments=dict(numbers=experiment(subjects=subjects)))
    claim = stated.claims["mean"]
    assert set(stated.evidence(claim)) == {"plain"}
    assert set(stated.controls("mean")) == {"control"}


def test_an_instance_compares_arrays_with_a_number():
    m = Measured("m", "a matrix", array=True)
    claim = Identity(m, 0, margin=Absolute(1, 1, "a test"))
    step = Step("entry by entry", *sides_of(claim, {"m": np.array([[a, 0], [0, -a]], dtype=object)}))
    assert step.entries == ((a, Integer(0)), (Integer(0), Integer(0)), (Integer(0), Integer(0)), (-a, Integer(0)))


def test_a_characteristic_function_gives_moments_and_scales():
    t = Symbol("t", real=True)
    mixture = Characteristic(cos(t / 2) * exp(-(t**2) / 6), t)
    assert gaussian(a).moment(4) == 3 * a**2
    assert mixture.moment(2) == Rational(7, 12)
    assert mixture.scaled(Integer(3)).moment(2) == 9 * mixture.moment(2)
    at = np.array([0.0, 1.5])
    assert np.allclose(mixture.characteristic(at, {}), np.cos(at / 2) * np.exp(-(at**2) / 6), rtol=1e-15, atol=0)
    assert gaussian(a).characteristic(at, {a: 2.0})[1] == pytest.approx(np.exp(-2.25), rel=1e-15)


@pytest.mark.parametrize(("of", "message"), [(2 * exp(-1), "at t = 0"), ("odd", "conjugate")])
def test_what_is_no_characteristic_function_is_refused(of, message):
    t = Symbol("t", real=True)
    with pytest.raises(StatementError, match=message):
        Characteristic(exp(t) if of == "odd" else of, t)
    assert Characteristic(exp(I * t), t).moment(1) == 1


def test_a_claim_is_read_exactly_unless_it_says_otherwise():
    assert limit().reading == "exact"
    assert limit(reading="margin").reading == rate(reading="margin").reading == "margin"
    with pytest.raises(StatementError, match="reading='both' is unknown"):
        limit(reading="both")
    # One instance on which it fails refutes each of these.
    with pytest.raises(StatementError, match="One instance on which it fails refutes it"):
        Inequality(x, at_most=a, reading="margin")
    with pytest.raises(StatementError, match="One instance on which it fails refutes it"):
        Identity(x, a, margin=Relative(1, 10, "a test"), reading="margin")


@pytest.mark.parametrize("shape", [(), (3,), (12,), (2, 3), (10, 10), (11, 11), (2, 12), (12, 2), (2, 11, 3)])
def test_generic_entries_are_as_many_symbols_as_places(shape):
    entries = generic_entries("w", *shape)
    assert entries.shape == shape and len(set(entries.ravel().tolist())) == entries.size
    assert shape != (2, 3) or str(entries[1, 2]) == "w_12"
    assert shape != (11, 11) or str(entries[1, 10]) == "w_1_10"
