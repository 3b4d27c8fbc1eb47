"""Ensembles: exact identities within derived rounding bounds, laws against exact moments by z-tests of stated level."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

from theorax.errors import StatementError, UsageError
from theorax.numerics import distributions, ensembles, keys
from theorax.numerics.extents import Extent, literal
from theorax.numerics.rounding import gamma

jax.config.update("jax_enable_x64", True)

U = np.finfo(np.float64).eps / 2
# Two-sided level of every z-test of this file, shared among its comparisons: about 100, so z is below 5.3.
LEVEL = 1e-5
Z = special.ndtri(1 - LEVEL / 200)

LAWS = {
    "exponential": (distributions.UnitExponential(), Fraction(1)),
    "dirichlet": (distributions.Dirichlet(Fraction(5, 2)), Fraction(2, 5)),
    "sparse dirichlet": (distributions.Dirichlet(Fraction(1, 2)), Fraction(2)),
    "uniform": (distributions.UnitUniform(), Fraction(1, 3)),
    "bernoulli": (distributions.Bernoulli(Fraction(1, 4)), Fraction(3)),
    "lognormal": (distributions.LogNormal(0.5), math.expm1(0.25)),
    "lognormal, mean one": (distributions.LogNormal(0.5, mean_one=True), math.expm1(0.25)),
    "pareto": (distributions.Pareto(9), Fraction(1, 63)),
}


@pytest.fixture
def key(request):
    return keys.root(keys.seed_of(request.node.name))


@pytest.mark.parametrize(("law", "squared"), LAWS.values(), ids=LAWS)
def test_moments_are_those_of_the_variates(key, law, squared):
    """z-tests of the first two moments with their exact standard errors."""
    draws = np.asarray(law.sample(key, (400, 250)), np.float64).ravel()
    assert (draws >= 0).all()
    for order in (1, 2):
        variance = float(law.moment(2 * order)) - float(law.moment(order)) ** 2
        z = (np.mean(draws**order) - float(law.moment(order))) / math.sqrt(variance / draws.size)
        assert abs(z) < Z
    # A handful of operations on the way to a float.
    assert abs(law.squared_coefficient_of_variation - squared) <= 16 * U * float(squared)
    assert law.coefficient_of_variation == math.sqrt(law.squared_coefficient_of_variation)


def test_infinite_moments_are_said_to_be():
    assert distributions.Pareto(Fraction(3, 2)).mean == 3
    assert distributions.Pareto(Fraction(3, 2)).variance == math.inf
    assert distributions.Pareto(1).coefficient_of_variation == math.inf
    assert distributions.Pareto(3).squared_coefficient_of_variation == Fraction(1, 3)
    assert distributions.Pareto(3).moment(3) == math.inf


@pytest.mark.parametrize(("law", "_"), LAWS.values(), ids=LAWS)
@pytest.mark.parametrize(("size", "padded"), [(5, 5), (5, 9), (1, 4)])
def test_markov_rows_sum_to_one_inside_the_block(key, law, _, size, padded):
    A = np.asarray(ensembles.random_markov(key, law, Extent(size, padded)))
    assert not A[size:].any()
    assert not A[:, size:].any()
    assert (np.abs(A[:size].sum(1) - 1) <= (2 * padded + 2) * U).all()


def test_padding_is_the_literal_block_of_the_same_weights(key):
    weights = distributions.UnitExponential().sample(key, (9, 9))
    padded = np.asarray(ensembles.markov(weights, Extent(6, 9)))[:6, :6]
    plain = np.asarray(ensembles.markov(weights[:6, :6], literal(6)))
    # Both are within (N + 1) u of the same quotient.
    assert (np.abs(padded - plain) <= (10 + 7) * U * plain).all()


def test_row_of_zeros_becomes_uniform():
    A = ensembles.markov(jnp.array([[0.0, 0.0, 7.0], [1.0, 3.0, 0.0], [1.0, 1.0, 1.0]]), Extent(2, 3))
    assert np.asarray(A).tolist() == [[0.5, 0.5, 0.0], [0.25, 0.75, 0.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("T", "d"), [(Extent(4, 4), Extent(4, 4)), (Extent(5, 8), Extent(7, 11)), (Extent(1, 3), Extent(2, 3))]
)
@pytest.mark.parametrize("traced", [False, True])
def test_haar_rows_are_orthonormal(key, T, d, traced):
    draw = (
        jax.jit(lambda T, d: ensembles.haar_rows(key, T, d)) if traced else lambda T, d: ensembles.haar_rows(key, T, d)
    )
    Q = np.asarray(draw(T, d))
    assert not Q[T.value :].any()
    assert not Q[:, d.value :].any()
    # In extended precision, whose own rounding of sums of d products is at most (d + 2) u T.
    wide, size = np.longdouble, T.value
    frame = Q[:size].astype(wide)
    gap = np.linalg.norm(frame @ frame.T - np.eye(size, dtype=wide)) + (d.padded + 2) * np.finfo(wide).eps * size
    assert gap <= ensembles.householder_frame_defect(T.padded, d.padded, np.float64)


def test_the_count_of_a_householder_frame_is_that_of_its_operations():
    """Reflections made and applied as in LAPACK's unblocked routines, once in floats and once in exact arithmetic.

    The exact ones are made of the same numbers as the float ones, as the count supposes, up to the roots, which are
    taken to forty digits.
    """
    generator = np.random.default_rng(3)
    T, d = 3, 5
    A = generator.normal(size=(d, T))
    floats, exact = [], []
    for k in range(T):
        x = A[k:, k].copy()
        for number, reflections in ((float, floats), (Decimal, exact)):
            with localcontext(prec=40):
                y = [number(value) for value in x]
                length = sum(value * value for value in y)
                beta = -np.copysign(1.0, x[0]) * length**0.5 if number is float else -length.sqrt().copy_sign(y[0])
                v = [number(1), *(value * (1 / (y[0] - beta)) for value in y[1:])]
                reflections.append((v, (beta - y[0]) / beta))
        v, tau = floats[-1]
        for j in range(k, T):
            w = sum(a * b for a, b in zip(v, A[k:, j], strict=True))
            A[k:, j] -= tau * w * np.asarray(v)
    frames = []
    for number, reflections in ((float, floats), (Decimal, exact)):
        with localcontext(prec=40):
            columns = [[number(i == j) for i in range(d)] for j in range(T)]
            for k in reversed(range(T)):
                v, tau = reflections[k]
                for column in columns:
                    w = sum((a * b for a, b in zip(v, column[k:], strict=True)), number(0))
                    column[k:] = [b - tau * w * a for a, b in zip(v, column[k:], strict=True)]
            frames.append(columns)
    with localcontext(prec=40):
        computed, orthonormal = (
            np.array([[Decimal(value) for value in column] for column in frame]) for frame in frames
        )
        square = ((orthonormal @ orthonormal.T - np.eye(T, dtype=int)) ** 2).sum()
        assert square < Decimal("1e-70")  # the exact ones are reflections, up to the last five of forty digits
        one = float(((computed - orthonormal) ** 2).sum(1).max().sqrt())
    assert 0 < one <= gamma(T * (26 * d + 86), np.float64)


def test_haar_entries_have_their_second_and_fourth_moments(key):
    """E Q_11^2 = 1/d, E Q_11^4 = 3/(d(d+2)), E Q_11 = 0 (the sign fix), also E Q_11 Q_22 = 0."""
    d, draws = 6, 20000
    Q = np.asarray(
        jax.lax.map(lambda k: ensembles.haar_rows(k, Extent(3, 4), Extent(d, 7)), jax.random.split(key, draws))
    )
    q = Q[:, 0, 0]
    for values, mean in ((q, 0), (q**2, 1 / d), (q**4, 3 / (d * (d + 2))), (q * Q[:, 1, 1], 0), (Q[:, 2, 2], 0)):
        assert abs(values.mean() - mean) / (values.std() / math.sqrt(draws)) < Z


DRAWS = 20000
SIZES = [(1, 5), (4, 5), (5, 5), (4, 6), (6, 6)]  # meant and padded, of either parity


@cache
def bartlett_program(padded):
    """Bartlett factors of any size within one padding, by one compiled program."""

    def factors(key, size, d):
        T, width = Extent(size, padded), Extent(d, 2 * padded)
        return jax.lax.map(lambda one: ensembles.bartlett(one, T, width), jax.random.split(key, DRAWS))

    return jax.jit(factors)


def bartlett_factors(key, size, padded, d):
    """Bartlett factors of T = size without their padding, which holds zeros."""
    R = np.asarray(bartlett_program(padded)(key, size, d))
    assert not R[:, size:].any()
    assert not np.triu(R, 1).any()
    return R[:, :size, :size]


@pytest.mark.parametrize(("size", "padded"), SIZES)
def test_bartlett_has_the_moments_of_the_gram_matrix(key, size, padded):
    r"""S = RR^T is Wishart: E S = d I, E S_ij^2 = d for i != j, Var S_ii = 2d, E log det S = sum of digammas."""
    d = 8
    R = bartlett_factors(key, size, padded, d)
    S = R @ R.transpose(0, 2, 1)
    logdet = 2 * np.log(np.diagonal(R, axis1=1, axis2=2)).sum(1)
    exact = sum(special.digamma((d - i) / 2) for i in range(size)) + size * math.log(2)
    comparisons = [(logdet, exact)]
    for i in range(size):
        for j in range(i + 1):
            comparisons += [(S[:, i, j], d * (i == j)), ((S[:, i, j] - d * (i == j)) ** 2, 2 * d if i == j else d)]
    for values, mean in comparisons:
        assert abs(values.mean() - mean) / (values.std() / math.sqrt(DRAWS)) < Z


@pytest.mark.parametrize(("size", "padded"), SIZES)
def test_bartlett_has_the_law_of_each_entry_and_of_each_pair(key, size, padded):
    """Normals below the diagonal, chi on it, T = d included, in the distance of Kolmogorov; no two entries correlate."""
    R = bartlett_factors(key, size, padded, size)
    for i in range(size):
        assert kolmogorov(special.gammainc((size - i) / 2, np.sort(R[:, i, i] ** 2) / 2)) < furthest(len(R), 100)
        for j in range(i):
            assert kolmogorov(special.ndtr(np.sort(R[:, i, j]))) < furthest(len(R), 100)
    lower = np.tril_indices(size)
    entries = R[:, *lower]
    centred = entries - np.where(lower[0] == lower[1], entries.mean(0), 0)
    for one in range(entries.shape[1]):
        for other in range(one):
            products = centred[:, one] * centred[:, other]
            assert abs(products.mean()) / (products.std() / math.sqrt(len(R))) < Z


@pytest.mark.parametrize(("size", "padded"), [(4, 5), (6, 6)])
def test_bartlett_has_the_spectra_of_literal_gaussian_blocks(key, size, padded):
    """Two samples, each within its distance of the one law: the least and the largest eigenvalue, and one corner."""
    d, first, second = 8, *jax.random.split(key)
    R = bartlett_factors(first, size, padded, d)
    G = np.asarray(jax.random.normal(second, (len(R), size, d)))
    S, literal_S = (A @ A.transpose(0, 2, 1) for A in (R, G))
    spectra, literal_spectra = map(np.linalg.eigvalsh, (S, literal_S))
    for one, other in (
        (spectra[:, 0], literal_spectra[:, 0]),
        (spectra[:, -1], literal_spectra[:, -1]),
        (S[:, -1, 0] * S[:, 0, 0], literal_S[:, -1, 0] * literal_S[:, 0, 0]),
    ):
        places = np.sort(np.concatenate([one, other]))
        counts = [np.searchsorted(np.sort(part), places, side="right") for part in (one, other)]
        assert np.abs(counts[0] - counts[1]).max() / len(one) < 2 * furthest(len(one), 6)


@pytest.mark.parametrize(("size", "padded"), SIZES)
def test_bartlett_uses_no_normal_twice(key, size, padded):
    below = np.abs(bartlett_factors(key, size, padded, padded)[0][np.tril_indices(size, -1)])
    assert len(np.unique(below)) == size * (size - 1) // 2
    assert below.all()


def kolmogorov(law):
    """The largest distance of the ranks of a sorted sample from its law at these points."""
    ranks = np.arange(len(law) + 1) / len(law)
    return max(np.max(law - ranks[:-1]), np.max(ranks[1:] - law))


def furthest(draws, comparisons):
    """The distance that a sample exceeds with probability LEVEL / comparisons at most.

    By the bound of Dvoretzky, Kiefer, Wolfowitz and Massart.
    """
    return math.sqrt(math.log(2 * comparisons / LEVEL) / (2 * draws))


@pytest.mark.parametrize("shape", [0.3, 0.5, 1.0, 2.5, 40.0])
def test_gamma_variates_have_the_gamma_law(key, shape):
    """Kolmogorov-Smirnov at LEVEL / 100."""
    draws = np.sort(np.asarray(distributions.gamma_variates(key, jnp.full(20000, shape))))
    assert kolmogorov(special.gammainc(shape, draws)) < furthest(len(draws), 100)


def test_keys_are_named():
    key = keys.root(7)
    assert keys.named(key, "a") == keys.named(key, "a")
    names = [("a",), ("b",), ("a", 0), ("a", 1), ("a", 0, 1), ("a", 1, 0)]
    assert len({tuple(jax.random.key_data(keys.named(key, *name)).tolist()) for name in names}) == len(names)
    assert keys.seed_of("ab", "c") != keys.seed_of("a", "bc")
    assert 0 <= keys.seed_of("a", 1) < 2**63
    assert jax.random.key_data(keys.root(2**40 + 3)).tolist() == [2**8, 3]


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (lambda: distributions.Dirichlet(0), StatementError, "alpha must be positive"),
        (lambda: distributions.Bernoulli(1.5), StatementError, "p must lie in"),
        (lambda: distributions.Pareto(-1), StatementError, "tail must be positive"),
        (lambda: distributions.Pareto(jnp.float64(2)).mean, StatementError, "pass it as a letter"),
        (lambda: ensembles.haar_rows(keys.root(0), literal(5), literal(4)), UsageError, "of at least 5"),
        (lambda: ensembles.bartlett(keys.root(0), Extent(5, 8), Extent(4, 8)), UsageError, "of at least 5"),
        (lambda: keys.root(-1), UsageError, "does not fit"),
        (lambda: keys.root(1, "mersenne"), UsageError, "threefry2x32, rbg"),
        (keys.seed_of, UsageError, "Write what the draws are for"),
    ],
)
def test_wrong_use_gives_sentences(wrong, error, says):
    with pytest.raises(error, match=says):
        wrong()
