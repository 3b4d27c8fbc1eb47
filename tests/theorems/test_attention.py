"""Attention networks: identities of the fix, padding against literal sizes, the fast sampler against the literal."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

from theorax.errors import UsageError
from theorax.numerics import distributions, ensembles, keys
from theorax.numerics.extents import Extent, literal
from theorax.theorems.mind_the_gap import _attention as attention

jax.config.update("jax_enable_x64", True)

U = np.finfo(np.float64).eps / 2
T, D, L = Extent(6, 8), Extent(9, 10), 3


@pytest.fixture
def key(request):
    return keys.root(keys.seed_of(request.node.name))


def _rounding(net, X_0):
    """A bound on the rounding of X_L: to first order each of the 2L products, of length K, adds K u |A| |X| |W|.

    Attention matrices are themselves within (N + 4) u, entry by entry, of the exact ones; removal adds 2u. Matrices of
    moduli carry all of it: 2L products and L matrices, each at most (N + D + 8) u relative to the moduli.
    """
    moduli = np.abs(np.asarray(X_0))
    J = 1 / net.T.value
    for A, W in zip(net.attentions, net.values, strict=True):
        moduli = (np.abs(np.asarray(A.matrix)) + J) @ moduli @ np.abs(np.asarray(W))
    return 3 * len(net.values) * (moduli.shape[0] + moduli.shape[1] + 8) * U * moduli


def _cut(net, T, d):
    """The same network without padding."""
    t, w = T.value, d.value
    attentions = tuple(attention.MarkovAttention(A.matrix[:t, :t]) for A in net.attentions)
    return attention.AttentionNet(attentions, tuple(W[:w, :w] for W in net.values), literal(t), literal(w), net.removed)


@pytest.mark.parametrize("values", ["gaussian", "identity", "orthogonal"])
@pytest.mark.parametrize("removed", [0.0, 0.5, 1.0])
def test_padded_net_is_the_literal_one(key, values, removed):
    net = attention.markov_net(key, T, D, L, distributions.UnitExponential(), removed, values)
    X_0 = ensembles.haar_rows(keys.named(key, "tokens"), T, D)
    padded, plain = np.asarray(net(X_0)), np.asarray(_cut(net, T, D)(X_0[: T.value, : D.value]))
    assert padded.shape == (L, T.padded, D.padded)
    assert not padded[:, T.value :].any()
    assert not padded[:, :, D.value :].any()
    block = (slice(None, T.value), slice(None, D.value))
    assert (np.abs(padded[-1][block] - plain[-1]) <= 2 * _rounding(net, X_0)[block]).all()


def test_naive_and_fixed_nets_differ_by_one_common_token(key):
    """X_L = 1 v^T + Y_L with v = (1/T) (A_{L-1} ... A_1 X_0 W_1 ... W_L)^T 1, both nets built from one key."""
    naive = attention.markov_net(key, T, D, L, distributions.UnitUniform())
    fixed = attention.markov_net(key, T, D, L, distributions.UnitUniform(), removed=1)
    X_0 = ensembles.haar_rows(keys.named(key, "tokens"), T, D)
    v = np.asarray(X_0)
    for A in naive.attentions[:-1]:
        v = np.asarray(A.matrix) @ v
    for W in naive.values:
        v = v @ np.asarray(W)
    common = T.mask[:, None] * v.sum(0) / T.value
    gap = np.abs(np.asarray(naive(X_0)[-1]) - np.asarray(fixed(X_0)[-1]) - common)
    # Three evaluations, each within the bound.
    assert (gap <= 3 * _rounding(naive, X_0)).all()


def test_gradient_norm_identity(key):
    """|dX_L/dW_l|_F = |A_L..A_1 X_0 W_1..W_{l-1}|_F |W_{l+1}..W_L|_F for attention that does not look at the tokens."""
    net = attention.markov_net(key, T, D, L, distributions.UnitExponential())
    X_0 = ensembles.haar_rows(keys.named(key, "tokens"), T, D)
    jacobian = jax.jacobian(lambda W: net.with_values(2, W)(X_0)[-1])(net.values[1])
    before = np.linalg.multi_dot(
        [*(np.asarray(A.matrix) for A in net.attentions[::-1]), np.asarray(X_0 @ net.values[0])]
    )
    exact = np.linalg.norm(before) * np.linalg.norm(np.asarray(net.values[2])[: D.value])
    # Padded columns of W_l move padded columns of nothing: W_3 is zero there. Products of six matrices, in norm.
    size = (T.padded + D.padded + 8) * 3 * L * U
    condition = np.prod([np.linalg.norm(A.matrix) for A in net.attentions]) * np.linalg.norm(net.values[0])
    assert abs(np.linalg.norm(jacobian) - exact) <= size * condition * np.linalg.norm(net.values[2]) * math.sqrt(
        T.padded
    )


ATTENTIONS = {
    "key-query": lambda key: attention.keyquery_net(key, T, D, 1).attentions[0],
    "markov": lambda key: attention.markov_net(key, T, D, 1, distributions.UnitExponential()).attentions[0],
    "identity": lambda key: attention.IdentityAttention(),
    "uniform": lambda key: attention.UniformAttention(),
}


@pytest.mark.parametrize("kind", ATTENTIONS)
def test_attention_is_row_stochastic_inside_the_block(key, kind):
    X = ensembles.gaussian(keys.named(key, "tokens"), T, D)
    A = np.asarray(ATTENTIONS[kind](key)(X, T))
    assert A.shape == (T.padded, T.padded)
    assert not A[T.value :].any()
    assert not A[:, T.value :].any()
    assert (np.abs(A[: T.value].sum(1) - 1) <= (2 * T.padded + 2) * U).all()


def test_keyquery_is_the_softmax_of_the_paper(key):
    X = ensembles.gaussian(keys.named(key, "tokens"), T, D)
    module = attention.keyquery_net(key, T, D, 1, beta=0.7).attentions[0]
    scores = 0.7 * np.asarray(X @ module.W_Q @ module.W_K.T @ X.T)[:6, :6] / math.sqrt(9)
    A = np.asarray(module(X, T))[:6, :6]
    # Scores carry the rounding of their products, sums of moduli times (2D + T) u; exp turns it into a relative error,
    # which the quotient doubles, and two evaluations double once more.
    moduli = 0.7 * np.abs(X) @ np.abs(module.W_Q) @ np.abs(module.W_K).T @ np.abs(X).T / 3
    bound = 4 * (4 * (2 * D.padded + T.padded) * U * float(moduli.max()) + 4 * T.padded * U)
    assert (np.abs(A - special.softmax(scores, axis=1)) <= bound * A).all()
    assert np.isfinite(np.asarray(jax.jacobian(lambda X: module(X, T))(X))).all()


def test_gaussian_attention_has_no_row_sums_to_keep(key):
    matrix = ensembles.gaussian(key, T, T, 1 / math.sqrt(T.value))
    assert attention.GaussianAttention(matrix)(jnp.zeros((8, 10)), T) is matrix


def test_layer_norm_and_skip(key):
    net = attention.markov_net(key, T, D, 1, distributions.UnitUniform(), skip=True, layer_norm=True)
    bare = attention.markov_net(key, T, D, 1, distributions.UnitUniform(), skip=True)
    X_0 = ensembles.haar_rows(keys.named(key, "tokens"), T, D)
    plain = attention.markov_net(key, T, D, 1, distributions.UnitUniform())(X_0)[0] + X_0
    assert np.array_equal(np.asarray(bare(X_0)[0]), np.asarray(plain))
    X = np.asarray(net(X_0)[0])[:6, :9]
    # A sum of nine terms of modulus at most 3, and centring beforehand.
    assert (np.abs(X.sum(1)) <= 2 * 9 * 9 * 3 * U).all()
    assert (X.var(1) < 1).all()
    assert not np.asarray(net(X_0)[0])[6:].any()


@pytest.mark.parametrize("values", ["gaussian", "identity", "orthogonal"])
@pytest.mark.parametrize("removed", [0.0, 1.0])
def test_fast_sampler_has_the_law_of_the_literal_network(key, values, removed):
    """Welch's two-sample comparison of the bulk's sum of fourth powers at every layer; level 1e-5 for the table."""
    law, draws = distributions.UnitExponential(), 2000
    z = special.ndtri(1 - 1e-5 / (2 * 6 * L * 2))

    def bulk(X):
        s = jnp.linalg.svd(X, compute_uv=False)[:, : T.padded]
        return jnp.concatenate([jnp.sum(s[:, 1:] ** 4, axis=1), s[:, 0]])

    def literal_net(k):
        X_0 = ensembles.haar_rows(keys.named(k, "tokens"), T, D)
        return bulk(attention.markov_net(k, T, D, L, law, removed, values, "1/sqrt(d)")(X_0))

    def fast(k):
        return bulk(attention.markov_products(k, law, T, D, L, removed, values, "1/sqrt(d)"))

    left, right = jax.random.split(key)
    a = np.asarray(jax.jit(lambda ks: jax.lax.map(literal_net, ks))(jax.random.split(left, draws)))
    b = np.asarray(jax.jit(lambda ks: jax.lax.map(fast, ks))(jax.random.split(right, draws)))
    error = np.sqrt((a.var(0) + b.var(0)) / draws)
    assert (np.abs(a.mean(0) - b.mean(0)) <= z * error).all()


def test_dirichlet_mean_of_the_removed_matrix(key):
    """E |A_perp|_F^2 = (T-1)/(alpha T + 1), exactly; z-test at level 1e-5."""

    def draw(k):
        A = ensembles.random_markov(k, distributions.Dirichlet(2), T)
        return jnp.sum(attention.mean_token_removed(A, T) ** 2)

    values = np.asarray(jax.jit(lambda ks: jax.lax.map(draw, ks))(jax.random.split(key, 4000)))
    z = (values.mean() - 5 / 13) / (values.std() / math.sqrt(4000))
    assert abs(z) < special.ndtri(1 - 1e-5 / 2)


def test_nets_are_modules(key):
    net = attention.markov_net(key, T, D, L, distributions.UnitUniform())
    assert len(jax.tree.leaves(eqx.filter(net, eqx.is_array))) == 2 * L


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda k: attention.markov_net(k, T, D, 0, distributions.UnitUniform()), "depth of at least 1"),
        (
            lambda k: attention.markov_net(k, T, D, 1, distributions.UnitUniform(), values="haar"),
            "gaussian, identity, orthogonal",
        ),
        (lambda k: attention.markov_net(k, T, D, 1, distributions.UnitUniform(), sigma="xavier"), "1/sqrt"),
        (lambda k: attention.markov_products(k, distributions.UnitUniform(), D, T, 1), "of at least 9"),
        (lambda k: attention.AttentionNet((), (), T, D), "as many attentions as values"),
        (
            lambda k: attention.markov_net(k, T, D, 1, distributions.UnitUniform()).with_values(2, jnp.eye(10)),
            "layers are 1 to 1",
        ),
    ],
)
def test_wrong_use_gives_sentences(key, wrong, says):
    with pytest.raises(UsageError, match=says):
        wrong(key)
