"""Residues and degrees: exact where a program is rational, silent about what they cannot know."""

import random
from fractions import Fraction

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from flint import fmpz

from theorax.errors import UsageError
from theorax.numerics.arithmetics import (
    Degree,
    FiniteField,
    Residues,
    Symbolic,
    UndecidedComparison,
    UnsupportedPrimitive,
    ZeroDivisor,
    evaluate,
)
from theorax.numerics.arithmetics.degree import height

jax.config.update("jax_enable_x64", True)

FIELD = FiniteField.drawn(random.Random(1), exponentials=True)
PLAIN = FiniteField.drawn(random.Random(2))


def residue(number, modulus):
    ratio = Fraction(number)
    return ratio.numerator * pow(ratio.denominator, -1, modulus) % modulus


def test_fields_are_drawn_from_the_primes_of_62_bits():
    draws = random.Random(3)
    for exponentials in (False, True):
        for _ in range(20):
            field = FiniteField.drawn(draws, exponentials)
            assert 2**61 <= field.prime < 2**62
            assert fmpz(field.prime).is_prime()
            if exponentials:
                assert field.prime == 2 * field.order + 1
                assert fmpz(field.order).is_prime()
                assert pow(field._generator, field.order, field.prime) == 1 != field._generator


def test_a_number_that_is_no_prime_makes_no_field():
    with pytest.raises(UsageError, match="not prime"):
        FiniteField(2**61)
    with pytest.raises(UsageError, match="prime order"):
        FiniteField(PLAIN.prime, 7919)


RATIONAL = {
    "polynomial": lambda x, y: x**3 - 2 * x * y + 0.1,
    "quotients": lambda x, y: (x + y) / (x - y) / x - x**-2,
    "products": lambda x, y: jnp.stack([x, y]) @ jnp.stack([x * y, 1 / y], axis=1),
    "gradient": jax.grad(lambda x, y: jnp.sum((x @ y) ** 2 / (1 + jnp.sum(x**2)))),
    "scan": lambda x, y: jax.lax.scan(lambda c, r: (c * r + y[0], c / r), 1.0, x),
    "cumulated": lambda x, y: jnp.cumsum(x) * jnp.cumprod(y) + jnp.prod(x) - jnp.mean(y),
    "variance": lambda x, y: jnp.var(x) + jnp.var(y, ddof=1),
}


@pytest.mark.parametrize("field", [PLAIN, FIELD], ids=["plain", "with exponentials"])
@pytest.mark.parametrize("name", RATIONAL)
def test_rational_programs_are_exact(name, field, rng):
    # The same program on rationals, by SymPy: an independent arithmetic of the very numbers.
    x, y = rng.integers(1, 40, size=(2, 3)) / 8 + np.arange(3)
    exactly = [np.array([sympy.Rational(*v.as_integer_ratio()) for v in side.tolist()]) for side in (x, y)]
    wanted = jax.tree_util.tree_leaves(evaluate(RATIONAL[name], exactly, Symbolic()))
    found = jax.tree_util.tree_leaves(evaluate(RATIONAL[name], (x, y), field))
    for one, other in zip(found, wanted, strict=True):
        assert one.through == frozenset()
        expected = [sympy.simplify(entry) for entry in other.reshape(-1)]
        assert [int(v) for v in one.value.reshape(-1)] == [
            int(entry.p) * pow(int(entry.q), -1, field.prime) % field.prime for entry in expected
        ]
        if field.order:
            assert one.known.all()
            assert [int(v) for v in one.exponent.reshape(-1)] == [
                int(entry.p) * pow(int(entry.q), -1, field.order) % field.order for entry in expected
            ]


def test_a_divisor_that_vanishes_asks_for_another_field():
    with pytest.raises(ZeroDivisor):
        evaluate(lambda v: 1 / (v - v), (np.ones(2),), PLAIN)


def generic(shape, seed=0, field=FIELD):
    return field.random(shape, random.Random(seed))


SEEN = {
    # identities of functions that a field follows, or that hold for every interpretation
    "exponentials of sums": (lambda x: jnp.exp(x[0] + x[1]), lambda x: jnp.exp(x[0]) * jnp.exp(x[1])),
    "softmax forgets a shift": (jax.nn.softmax, lambda x: jax.nn.softmax(x + 3.7)),
    "masked softmax": (
        lambda x: jax.nn.softmax(jnp.where(jnp.arange(4) < 2, x, -jnp.inf))[:2],
        lambda x: jax.nn.softmax(x[:2]),
    ),
    "tanh is odd": (jnp.tanh, lambda x: -jnp.tanh(-x)),
    "tanh by the logistic function": (jnp.tanh, lambda x: 2 * jax.nn.sigmoid(2 * x) - 1),
    "erf is odd": (jax.lax.erf, lambda x: -jax.lax.erf(-x)),
    "cosh and sinh": (lambda x: jnp.cosh(x) ** 2 - jnp.sinh(x) ** 2, jnp.ones_like),
    "relu": (lambda x: jax.nn.relu(x) - jax.nn.relu(-x), lambda x: x),
    "max and min": (lambda x: jnp.maximum(x[0], x[1]) + jnp.minimum(x[0], x[1]), lambda x: x[0] + x[1]),
    "one norm in two orders": (lambda x: jnp.sqrt(x[0] ** 2 + x[1] ** 2), lambda x: jnp.sqrt(x[1] ** 2 + x[0] ** 2)),
    "rsqrt": (lambda x: jax.lax.rsqrt(x) * jnp.sqrt(x), jnp.ones_like),
    "nested exponentials": (lambda x: jnp.exp(jnp.exp(x)) * jnp.exp(-jnp.exp(x)), jnp.ones_like),
    "log_softmax forgets a shift": (jax.nn.log_softmax, lambda x: jax.nn.log_softmax(x - 0.3)),
}
UNSEEN = {
    # true identities of the real functions that a field does not see: a reject is no refutation
    "a root squared": (lambda x: jnp.sqrt(x) ** 2, lambda x: x),
    "log and exp": (lambda x: jnp.exp(jnp.log(x)), lambda x: x),
    "sines": (lambda x: jnp.sin(x) ** 2 + jnp.cos(x) ** 2, jnp.ones_like),
}
FALSE = {
    "tanh is even": (jnp.tanh, lambda x: jnp.tanh(-x)),
    "exp of a product": (lambda x: jnp.exp(x[0] * x[1]), lambda x: jnp.exp(x[0]) * jnp.exp(x[1])),
    "softmax forgets a factor": (jax.nn.softmax, lambda x: jax.nn.softmax(2 * x)),
    "softmax by the last bit": (jax.nn.softmax, lambda x: jax.nn.softmax(x) * (1 + 2**-52)),
    "relu is linear": (lambda x: jax.nn.relu(x[0] + x[1]), lambda x: jax.nn.relu(x[0]) + jax.nn.relu(x[1])),
    "abs": (jnp.abs, lambda x: x),
}


def agree(pair):
    left, right = (evaluate(side, (generic((4,)),), FIELD) for side in pair)
    assert left.through | right.through
    return bool(np.all(left.value == right.value))


@pytest.mark.parametrize("name", SEEN)
def test_what_holds_for_every_interpretation_is_seen(name):
    assert agree(SEEN[name])


@pytest.mark.parametrize("name", [*UNSEEN, *FALSE])
def test_what_does_not_is_not(name):
    assert not agree({**UNSEEN, **FALSE}[name])


def test_the_functions_met_are_recorded_where_they_are_met():
    plain, rooted = evaluate(lambda v: (v * v, jnp.sqrt(v) + jnp.exp(v)), (generic((2,)),), FIELD)
    assert plain.through == frozenset()
    assert rooted.through == {"sqrt", "exp"}
    layer = eqx.nn.LayerNorm(3)
    assert "sqrt" in evaluate(layer, (generic((3,)),), FIELD).through


def test_a_field_has_no_order():
    for program in (lambda v: jnp.where(v > 0, v, -v), lambda v: v == 2.0, jnp.argmax):
        with pytest.raises((UndecidedComparison, UnsupportedPrimitive)):
            evaluate(program, (generic((3,)),), FIELD)


def test_comparisons_of_constants_are_decided_whatever_the_domain():
    program = lambda v: jnp.where(jnp.sqrt(2.0) > 1.4, v, 0 * v)  # noqa: E731
    assert np.all(evaluate(program, (generic((3,)),), FIELD).value == generic(3).value)
    rational = lambda v: jnp.where(jnp.asarray(2.0) * 0.75 > 1.4, v, 0 * v)  # noqa: E731
    assert height(evaluate(rational, (Degree().variables((3,)),), Degree())) == (1.0, 0.0)


DEGREES = {
    "constant": (lambda x: 0 * x + 0.75, 0, np.log2(3)),
    "linear": (lambda x: 3 * x[0] - x[1], 1, 2),
    "square": (lambda x: jnp.sum(x) ** 2, 2, 4),
    "quotient": (lambda x: (x[0] + x[1]) / (x[2] - x[3]), 2, 1),
    "sum of quotients": (lambda x: x[0] / x[1] + x[2] / x[3], 4, 1),
    "normalised": (lambda x: x / jnp.sum(x), 2, 0),
    "matrix product": (lambda x: x.reshape(2, 2) @ x.reshape(2, 2), 2, 1),
    "flipped": (lambda x: 1 / (1 / x[0]), 1, 0),
}


@pytest.mark.parametrize("name", DEGREES)
def test_degrees_and_norms_are_those_of_the_formula(name):
    program, degree, bits = DEGREES[name]
    found = height(evaluate(program, (Degree().variables((4,)),), Degree()))
    assert found[0] == degree
    assert bits <= found[1] <= bits + 1e-9  # rounded up, by 2^-44 per operation


@pytest.mark.parametrize("name", [name for name in RATIONAL if name != "scan"])
def test_the_bounds_hold_for_expanded_polynomials(name):
    letters = [np.array(sympy.symbols(f"{name}:3")) for name in "xy"]
    bound = evaluate(RATIONAL[name], [Degree().variables((3,))] * 2, Degree())
    exact = evaluate(RATIONAL[name], letters, Symbolic())
    for place, entry in enumerate(exact.reshape(-1)):
        above, below = sympy.fraction(sympy.cancel(sympy.together(entry)))
        degrees = [sympy.Poly(part, *np.concatenate(letters)).total_degree() for part in (above, below)]
        assert degrees[0] <= bound.above.reshape(-1)[place]
        assert degrees[1] <= bound.below.reshape(-1)[place]
        norm = sum(abs(c) for c in sympy.Poly(above, *np.concatenate(letters)).coeffs())
        assert sympy.log(norm, 2).evalf() <= bound.norm_above.reshape(-1)[place] + 1e-6


@pytest.mark.parametrize(
    "function", [jnp.exp, jnp.tanh, jnp.sqrt, jnp.abs, lambda v: jnp.maximum(v, 0), lambda v: v**0.5]
)
def test_what_is_not_rational_has_no_degree(function):
    with pytest.raises(UnsupportedPrimitive):
        evaluate(function, (Degree().variables((2,)),), Degree())


def test_an_infinity_that_a_mask_hides_is_no_obstacle_and_another_is():
    masked = lambda v: jnp.where(jnp.arange(2) < 1, v, jnp.inf)  # noqa: E731
    assert height(evaluate(lambda v: masked(v)[:1], (Degree().variables((2,)),), Degree())) == (1.0, 0.0)
    with pytest.raises(UnsupportedPrimitive):
        height(evaluate(masked, (Degree().variables((2,)),), Degree()))
    assert not evaluate(masked, (generic((2,)),), FIELD).finite[1]


def test_products_of_matrices_agree_with_their_definition(rng):
    x, y = generic((2, 3, 4), 5), generic((2, 4, 5), 6)
    fast = FIELD.dot(x, y)
    slow = FIELD.sum(
        FIELD.binary("mul", Residues(x.value[:, :, None, :]), Residues(y.value.transpose(0, 2, 1)[:, None, :, :]))
    )
    assert np.all(fast.value == slow.value)
    assert fast.known.all()


def test_a_polynomial_vanishes_at_the_share_of_points_that_its_degree_allows():
    # In a small field the bound is visible: x (x - 1) ... (x - 9) has its ten zeros among 101 points.
    small, degree, count = FiniteField(101), 10, 5000
    points = small.random((count,), random.Random(5))
    values = evaluate(lambda x: jnp.prod(jnp.stack([x - k for k in range(degree)]), axis=0), (points,), small)
    share = degree / 101
    # Four standard errors of a share: a false alarm in 16000 seeds, and the seed is fixed.
    assert abs(np.mean(values.value == 0) - share) < 4 * np.sqrt(share * (1 - share) / count)


PARTLY = {
    "sqrt": jnp.sqrt,
    "rsqrt": jax.lax.rsqrt,
    "log": jnp.log,
    "log1p": jnp.log1p,
    "power": lambda x: x**0.5,
    "arcsin": jnp.arcsin,
    "arccos": jnp.arccos,
    "arccosh": jnp.arccosh,
    "arctanh": jnp.arctanh,
}
TESTS = {
    "isnan": jnp.isnan,
    "itself": lambda x: x == x,
    "isfinite": jnp.isfinite,
    "below infinity": lambda x: x < jnp.inf,
}


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("name", PARTLY)
def test_no_exact_domain_says_that_a_number_is_one_where_it_may_be_none(name, test):
    def program(x):
        return jnp.where(TESTS[test](jnp.exp(2 * PARTLY[name](x))), x, 0.0)

    draws = random.Random(5)
    letter = np.array(sympy.Symbol("x", real=True), dtype=object)
    for domain, given in ((FIELD, FIELD.random((), draws)), (PLAIN, PLAIN.random((), draws)), (Symbolic(), letter)):
        with pytest.raises((UndecidedComparison, UnsupportedPrimitive)) as caught:
            evaluate(program if domain is not PLAIN else lambda x: TESTS[test](PARTLY[name](x)) * x, (given,), domain)
        assert caught.type is UndecidedComparison
    assert not evaluate(lambda x: jnp.isnan(x**2 - x), (FIELD.random((), draws),), FIELD)
    assert not evaluate(lambda x: jnp.isnan(x**2 - x), (letter,), Symbolic())


@pytest.mark.parametrize("program", [lambda x: x * jnp.inf > 0, lambda x: jnp.isnan(x * jnp.inf)])
def test_a_field_decides_nothing_of_a_number_times_infinity(program):
    with pytest.raises(UndecidedComparison):
        evaluate(lambda x: jnp.where(program(x), x, 0.0), (FIELD.random((), random.Random(5)),), FIELD)


@pytest.mark.parametrize("name", PARTLY)
def test_symbols_note_the_functions_whose_domain_their_assumptions_leave_open(name):
    free, half = sympy.Symbol("x", real=True), sympy.Rational(3, 2) if name == "arccosh" else sympy.Rational(1, 2)
    for given, noted in ((free, 1), (half, 0)):
        domain = Symbolic()
        evaluate(PARTLY[name], (np.array(given, dtype=object),), domain)
        assert len(domain.unsettled) == noted
    outside = -half if name == "arccosh" else sympy.Integer(-3)
    assert evaluate(PARTLY[name], (np.array(outside, dtype=object),), Symbolic()).item() is sympy.nan


def test_the_logarithm_of_the_gamma_function_is_followed_where_it_is_one_function():
    for letter, known in ((sympy.Symbol("x", positive=True), True), (sympy.Symbol("x", real=True), False)):
        given = np.array(letter, dtype=object)
        if known:
            assert evaluate(jax.lax.lgamma, (given,), Symbolic()).item() == sympy.loggamma(letter)
        else:
            with pytest.raises(UnsupportedPrimitive, match="lgamma"):
                evaluate(jax.lax.lgamma, (given,), Symbolic())
