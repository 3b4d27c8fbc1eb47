"""The hidden Markov task: two classes of chains, heads that can tell them apart, and regression with path kernels.

The states of a chain are +1 and -1; it stays in its state with probability 7/10 in one class and 3/10 in the other. A
token shows its state as one of two orthogonal vectors plus noise, and its position. A zero token stands in front.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorax.numerics.keys import named
from theorax.theorems.attention_paths_statmech._layered_paths import mixed_kernel
from theorax.theorems.attention_paths_statmech._paths import Order

FEATURES, TOKENS, TESTS = 200, 31, 500
INPUTS = FEATURES + TOKENS
SHARPNESS = 10.0
"""Factor of all scores."""


class Task(eqx.Module):
    """Inputs that the paths bring to the last token, of examples with labels and of test examples with their classes."""

    attended: Float[Array, "m P features"]
    labels: Float[Array, " P"]
    tests: Float[Array, "m tests features"]
    classes: Float[Array, " tests"]

    def order(self, N, T):
        """The problem of the action where all widths are N."""
        paths = jnp.einsum("pif,qjf->pqij", self.attended, self.attended) / INPUTS
        return Order(paths, self.labels, T, N * jnp.ones(3), (2, 4))

    def tested(self, U, T):
        """Of the mean predictor with the kernel K(U), on test examples: the share of right signs, the overlap with classes."""
        S = mixed_kernel(U, self.attended) + T * jnp.eye(len(self.labels))
        solved = jnp.linalg.solve(S, self.labels)
        agreement = self.classes * jnp.einsum("pif,pf->i", self.tests, U @ jnp.einsum("qjf,j->qf", self.attended, solved))
        return (agreement > 0).mean(), agreement.mean() / jnp.sqrt((agreement**2).mean())


def chains(key, rows):
    """Classes, and sequences of tokens, rows x inputs x tokens."""
    classes = jax.random.rademacher(named(key, "classes"), (rows,), float)
    stays = jax.random.uniform(named(key, "stays"), (rows, TOKENS - 1)) < 0.5 + 0.2 * classes[:, None]
    first = jax.random.rademacher(named(key, "first"), (rows, 1), float)
    states = first * jnp.cumprod(jnp.where(stays, 1.0, -1.0), axis=1)
    shown = jax.random.normal(named(key, "noise"), (rows, FEATURES, TOKENS - 1))
    # Noise is isotropic: the two vectors may be axes.
    for axis, state in enumerate((1, -1)):
        shown = shown.at[:, axis].add(jnp.sqrt(1.0 * FEATURES) * (states == state))
    shown = jnp.concatenate([jnp.zeros((rows, FEATURES, 1)), shown], axis=2)
    return classes, jnp.concatenate([shown, jnp.broadcast_to(jnp.eye(TOKENS), (rows, TOKENS, TOKENS))], axis=1)


def comparing():
    """Scores of the head that looks at the token before if it shows the same state, else at the zero token."""
    scores = np.zeros((INPUTS, INPUTS))
    difference = np.zeros(FEATURES)
    difference[:2] = 1 / np.sqrt(FEATURES), -1 / np.sqrt(FEATURES)  # +1 and -1 on the two vectors
    scores[:FEATURES, :FEATURES] = np.outer(difference, difference)
    keys, queries = FEATURES + np.arange(TOKENS - 1), FEATURES + np.arange(1, TOKENS)
    scores[keys, queries] = 1
    scores[FEATURES, queries] = 1.5
    return jnp.asarray(scores)


def random_head(key):
    """Scores of order one for every pair of tokens, from features, positions and both."""
    scale = jnp.concatenate([jnp.full(FEATURES, FEATURES**-0.5), jnp.ones(TOKENS)])
    return scale[:, None] * scale * jax.random.normal(key, (INPUTS, INPUTS))


def attended_by(layers, x):
    """The input that each path of two layers brings to the last token of x, paths x inputs.

    It is `DeepPaths.attended` with these scores; of the last layer the weights of one token are computed, not of all.
    """
    first, second = (SHARPNESS * scores for scores in layers)
    weights = jax.nn.softmax(jnp.einsum("fs,hfg,gt->hst", x, first, x), axis=1)
    last = jax.nn.softmax(jnp.einsum("fs,hfg,g->hs", x, second, x[:, -1]), axis=1)
    reached = jnp.einsum("hst,kt->hks", weights, last)
    return (reached @ x.T).reshape(-1, len(x))


def posed(key, P, comparison, informed):
    """``comparison`` = 0 puts a random head in the place of the good one, ``informed`` = 0 draws the labels by lot."""
    good = jnp.where(comparison == 1, comparing(), random_head(named(key, "in its place")))
    layers = (
        jnp.stack([good, random_head(named(key, "first layer"))]),
        jnp.stack([jnp.zeros((INPUTS, INPUTS)), random_head(named(key, "second layer"))]),
    )
    classes, x = chains(key, P + TESTS)
    attended = jax.vmap(lambda x: attended_by(layers, x), out_axes=1)(x)
    lot = jax.random.rademacher(named(key, "lot"), (P,), float)
    labels = jnp.where(informed == 1, classes[:P], lot)
    return Task(attended[:, :P], labels, attended[:, P:], classes[P:])
