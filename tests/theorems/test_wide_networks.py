"""Samplers of wide layers: what they keep in every draw, and the moments of real weights."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorax.errors import UsageError
from theorax.numerics import platform
from theorax.numerics.extents import Extent
from theorax.numerics.keys import root
from theorax.theorems.pseudo_iid_gp import _weight_matrices as weight_matrices
from theorax.theorems.pseudo_iid_gp import _wide_networks as wide_networks

platform.enable()
U = 2.0**-53
SIZE, PADDED, DRAWS = 8, 12, 20000
SHARES = {"low rank": 0.5, "fixed rank": 1.0, "blocks": 2.0}  # rank four, and fewer ranks than inputs
# Two inputs, the second one not centred: sums of activations matter to correlated rows.
F = np.zeros((2, PADDED))
F[:, :SIZE] = np.random.default_rng(5).normal(size=(2, SIZE))
F[1, :SIZE] += 1


def _sampled(key, features, n, law, share):
    return wide_networks.layer(key, features, n, law, share)


def _literally(key, features, n, law, share):
    return features @ weight_matrices.weights(key, n, law, share).T


@functools.cache
def program(draw):
    """One program for all laws of a menu: their place is traced."""
    return jax.jit(
        lambda keys, features, size, law, share, padded: jax.lax.map(
            lambda key: draw(key, features, Extent(size, padded), law, share), keys
        ),
        static_argnames="padded",
    )


@functools.cache
def drawn(draw, law):
    place, share = np.int32(weight_matrices.MENU.index(law)), SHARES.get(law, 1.0)
    keys = jax.random.split(root(11 if draw is _sampled else 12), DRAWS)
    return np.asarray(program(draw)(keys, F, np.int32(SIZE), place, share, padded=PADDED))


def moments(h):
    """Per draw: second and fourth moments of both inputs, of one unit and of pairs of units."""
    h = h[:, :, :SIZE]
    a, b = h[:, 0], h[:, 1]
    pairs = [(a, a, a, a), (a, a, b, b), (a, b, a, b), (b, b, b, b)]
    fourth = [
        (np.einsum("du,dv->d", p * q, r * s) - (p * q * r * s).sum(1)) / (SIZE * (SIZE - 1)) for p, q, r, s in pairs
    ]
    own = [(p * q * r * s).mean(1) for p, q, r, s in pairs]
    second = [(p * q).mean(1) for p, q in ((a, a), (a, b), (b, b))]
    apart = [(p.sum(1) * q.sum(1) - (p * q).sum(1)) / (SIZE * (SIZE - 1)) for p, q in ((a, a), (a, b))]
    return np.stack([*second, *apart, *own, *fourth])


@pytest.mark.parametrize("law", wide_networks.SAMPLERS)
def test_moments_of_two_inputs_are_those_of_real_weights(law):
    one, other = moments(drawn(_sampled, law)), moments(drawn(_literally, law))
    error = np.sqrt((one.var(axis=1) + other.var(axis=1)) / DRAWS) + SIZE**3 * U
    # 8 laws, 13 moments: five standard errors are a level of 6e-5 in all.
    assert (np.abs(one.mean(axis=1) - other.mean(axis=1)) <= 5 * error).all()


@pytest.mark.parametrize("law", wide_networks.SAMPLERS)
def test_padding_stays_zero_and_sizes_may_be_traced(law):
    h = drawn(_sampled, law)
    assert not h[:, :, SIZE:].any()
    assert np.isfinite(h).all()


def test_triangles_have_the_gram_matrix_of_what_they_stand_for():
    rng = np.random.default_rng(1)
    dependent = rng.normal(size=(4, 16))
    dependent[2] = dependent[0] - 2 * dependent[1]
    dependent[3] = 0
    bound = 50 * 16 * U * np.linalg.norm(dependent) ** 2
    R = np.asarray(wide_networks.triangles(jnp.asarray(dependent)))[..., 0]
    assert np.abs(R.T @ R - dependent @ dependent.T).max() <= bound
    assert not np.tril(R, -1).any()
    labels = np.arange(16) % 3
    R = np.asarray(wide_networks.triangles(jnp.asarray(dependent), jnp.asarray(labels)))
    for label in range(3):
        part = dependent[:, labels == label]
        assert np.abs(R[..., label].T @ R[..., label] - part @ part.T).max() <= bound
    assert not R[..., 3:].any()


@pytest.mark.parametrize("law", ["haar", "hadamard"])
def test_orthogonal_weights_keep_products_of_activations(law):
    for h in drawn(_sampled, law)[:5]:
        assert np.abs(h @ h.T - F @ F.T).max() <= SIZE**2 * 10 * U * np.linalg.norm(F) ** 2


def test_weights_of_rank_one_send_two_inputs_to_one_direction():
    h = drawn(_sampled, "fixed rank")[:5]
    assert np.linalg.matrix_rank(h).tolist() == [1] * 5


def test_networks_have_the_first_layer_and_the_biases_of_the_sampler():
    """Equal second moments of a deep network at two inputs, layer by layer; units at zero activation keep their bias."""
    x = jnp.asarray([[1.0, -0.5, 0.3], [0.2, 0.4, -1.0]])
    n, depth, haar = Extent(4, 6), Extent(3, 4), wide_networks.place("haar")
    letters = dict(law=haar, share=1.0, activation=jnp.tanh, weight_variance=1.5, bias_variance=0.2)

    def literal_network(key):
        return jax.vmap(wide_networks.deep_network(key, 3, n, depth, **letters), out_axes=1)(x)

    def sampler(key):
        return wide_networks.pre_activations(key, x, n, depth, **letters)

    found = []
    for seed, program in enumerate((literal_network, sampler)):
        run = jax.jit(lambda keys, program=program: jax.lax.map(program, keys))
        h = np.asarray(run(jax.random.split(root(seed), 8000)))
        assert h.shape == (8000, 4, 2, 6)
        assert not h[:, 3:].any()
        assert not h[..., 4:].any()
        found.append(np.einsum("dlau,dlbu->dlab", h[:, :3], h[:, :3]) / 4)
    # First layer: bias_variance + weight_variance <x, x'>/3.
    exact = 0.2 + 1.5 * np.asarray(x @ x.T) / 3
    for products in found:
        error = products[:, 0].std(axis=0) / np.sqrt(8000)
        assert (np.abs(products[:, 0].mean(axis=0) - exact) <= 5 * error).all()
    one, other = found
    error = np.sqrt((one.var(axis=0) + other.var(axis=0)) / 8000)
    assert (np.abs(one.mean(axis=0) - other.mean(axis=0)) <= 5 * error).all()


def test_a_law_without_sampler_says_so():
    with pytest.raises(UsageError, match="did you mean `gaussian`"):
        wide_networks.place("gausian")
    assert np.isnan(drawn(_sampled, "uniform")).all()
