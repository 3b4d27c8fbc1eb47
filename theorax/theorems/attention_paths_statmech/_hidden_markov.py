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

FEATURES, TOKENS, TESTS = 200, 31, 300
INPUTS = FEATURES + TOKENS
SHARPNESS = 10.0
"""Factor of all scores."""
THROUGH = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]])
"""The paths through every head: both heads of the first layer, then both of the last."""


class MarkovTask(eqx.Module):
    """Inputs that the paths bring to the last token, of examples with labels and of test examples with their classes."""

    attended: Float[Array, "m P features"]
    labels: Float[Array, " P"]
    tests: Float[Array, "m tests features"]
    classes: Float[Array, " tests"]

    def order(self, N, T):
        """The problem of the action where all widths are N."""
        paths = jnp.einsum("pif,qjf->pqij", self.attended, self.attended) / INPUTS
        return Order(paths, self.labels, T, N * jnp.ones(3), (2, 4))

    def accuracy(self, U, T):
        """The share of test examples whose class is the sign of the mean predictor with the kernel K(U)."""
        S = mixed_kernel(U, self.attended) + T * jnp.eye(len(self.labels))
        solved = jnp.linalg.solve(S, self.labels)
        mean = jnp.einsum("pif,pf->i", self.tests, U @ jnp.einsum("qjf,j->qf", self.attended, solved))
        return (mean * self.classes > 0).mean(dtype=float)


def sequence(key):
    """A class, +1 or -1, and the tokens of a sequence of this class, inputs x tokens."""
    c = jax.random.rademacher(named(key, "class"), (), float)
    stays = jax.random.uniform(named(key, "stays"), (TOKENS - 1,)) < 0.5 + 0.2 * c
    # The first factor is independent of the others: it makes the first state a coin's toss.
    first = jax.random.rademacher(named(key, "first"), (), float)
    states = first * jnp.cumprod(jnp.where(stays, 1.0, -1.0))
    # Noise is isotropic: the two vectors may be axes.
    vectors = jnp.sqrt(1.0 * FEATURES) * jnp.eye(FEATURES, 2)
    shown = vectors @ jnp.stack([states > 0, states < 0]) + jax.random.normal(
        named(key, "noise"), (FEATURES, TOKENS - 1)
    )
    return c, jnp.concatenate([jnp.pad(shown, ((0, 0), (1, 0))), jnp.eye(TOKENS)])


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

    def example(row):
        c, x = sequence(named(key, "sequence", row))
        return c, attended_by(layers, x)

    # Tokens of all sequences at once would fill the memory of one draw.
    classes, attended = jax.lax.map(example, jnp.arange(P + TESTS), batch_size=20)
    attended = attended.swapaxes(0, 1)
    lot = jax.random.rademacher(named(key, "lot"), (P,), float)
    labels = jnp.where(informed == 1, classes[:P], lot)
    return MarkovTask(attended[:, :P], labels, attended[:, P:], classes[P:])


def head_scores(U):
    """The sum of |U| over pairs of paths of which one or both pass the head, over the largest of these sums."""
    sums = (np.maximum(THROUGH[:, :, None], THROUGH[:, None, :]) * jnp.abs(U)).sum((1, 2))
    return sums / sums.max()


def pruned(U):
    """The order parameter of the Gaussian process without the head of the least score, over all four paths."""
    scores = head_scores(U)
    kept = 1 - jnp.where(scores == scores.min(), 1, 0) @ THROUGH
    # Two of the four paths stay, and a kernel is divided by their number.
    return jnp.diag(2.0 * kept)
