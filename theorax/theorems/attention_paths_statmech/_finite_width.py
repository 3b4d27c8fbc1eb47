"""Finite networks beside the minimum of the action: their order parameters and posterior means at widths that grow."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.numerics.keys import named
from theorax.theorems.attention_paths_statmech._layered_paths import drawn_deep
from theorax.theorems.attention_paths_statmech._paths import Order
from theorax.theorems.attention_paths_statmech._posterior import posterior_means
from theorax.theorems.attention_paths_statmech._saddle import mixed


class Drawn(eqx.Module):
    """The order parameter of a network, and the problem that its labels pose."""

    U: Float[Array, "m m"]
    problem: Order


def build_networks(key, P, N, T, deviation, noise):
    """Labels of the network itself; ``deviation``: that of V and a, ``noise``: the variance of the labels' noise over T."""
    network = drawn_deep(key, (N, N), 2, 3, deviation=deviation)
    inputs = jax.random.normal(named(key, "inputs"), (P, 3, 3))
    disturbed = jnp.sqrt(noise * T) * jax.random.normal(named(key, "noise"), (P,))
    attended = jax.vmap(network.attended, out_axes=1)(inputs)
    paths = jnp.einsum("pif,qjf->pqij", attended, attended) / 3
    labels = jax.vmap(network)(inputs) + disturbed
    return Drawn(network.order_parameter(), Order(paths, labels, T, 1.0 * N * jnp.ones(2), (2,)))


def observe_networks(model, P):
    """One number a network: the order parameter less posterior means, of the right action and of wrong ones."""
    U, problem = model.U, model.problem
    q = problem.labels @ jnp.linalg.solve(problem.kernel(jnp.eye(2)), problem.labels) / P

    def first_row(widths, labels):
        wrong = eqx.tree_at(lambda order: (order.widths, order.labels), problem, (widths, labels))
        return posterior_means(lambda U: U[0], wrong)

    factors, labelled = jnp.array([[1.0, 1.0], [1e6, 1.0], [2.0, 2.0], [1.0, 1.0]]), jnp.array([1.0, 1.0, 1.0, 0.0])
    means = jax.vmap(first_row)(factors * problem.widths, labelled[:, None] * problem.labels)
    order, shallow, doubled, unlabelled = (U[0, 0] - means[:, 0]) * (q - 1) / (q + 1)
    pair, alone = (U[0, 1] - means[0, 1]) * means[0, 1], U[0, 1] * means[0, 1]
    return dict(order=order, shallow=shallow, doubled=doubled, unlabelled=unlabelled, pair=pair, alone=alone)


class Orthogonal(Order):
    """A problem whose path kernels are diagonal, as if the inputs that examples bring were orthogonal."""

    paths: Float[Array, "m m P"]

    def variances(self, U):
        return jnp.einsum("pq,pqi->i", U, self.paths) / len(U) + self.noise

    def energy(self, U):
        return (jnp.log(self.variances(U)) + self.labels**2 / self.variances(U)).sum()

    def predicted(self, U, across: Float[Array, "m m new P"]):
        return mixed(U, across) @ (self.labels / self.variances(U))


class ActionAndPosterior(eqx.Module):
    """The problem of the action, and that of the posterior; kernels of new inputs and examples."""

    action: Orthogonal
    posterior: Orthogonal
    across: Float[Array, "m m new P"]
    away: Float[Array, ""]
    prior: Float[Array, ""]


def build_sweep(key, N, T, away, few, prior, noise):
    """As many examples and features as the width: P/N and N_0/N are fixed.

    ``few`` > 0: so many examples, and a readout of this width; ``prior``: the variance of its entries for the posterior.
    """
    drawn = jax.random.normal(named(key, "inputs and labels"), (2 * (1 + NEW) + 1, N))
    count = jnp.where(few > 0, few, 1.0 * N)
    seen = jnp.arange(N) < count
    labels, examples, new = 2 * seen * drawn[0], seen * drawn[1:3], drawn[3:].reshape(2, NEW, N)
    # An example brings sqrt(N_0) times its number along an axis of its own, and a new input brings normal entries.
    paths, across = (
        jnp.einsum("pi,qi->pqi", examples, examples),
        jnp.einsum("pni,qi->pqni", new, examples) / jnp.sqrt(N),
    )
    widths = jnp.stack([count, 1.0 * N])
    # With u_a = prior v the posterior of U/prior is that of standard weights, at prior times the kernels.
    action = Orthogonal(paths, labels, T, widths, (2,))
    posterior = Orthogonal(prior * paths, labels, T * noise, widths, (2,))
    return ActionAndPosterior(action, posterior, (across + across.swapaxes(0, 1)) / 2, away, prior)


NEW = 8
"""New inputs at which predictions are compared."""


def observe_sweep(compared):
    """One number a problem: posterior means of U (2 x 2) and of new outputs (new), against those at the minimum."""
    _, (saddle,), _ = compared.action.saddle()
    saddle = compared.away * saddle
    posterior, prior = compared.posterior, compared.prior
    entries = lambda U: prior * U.reshape(-1)
    predicted = lambda U: posterior.predicted(U, prior * compared.across)
    means = posterior_means(lambda U: jnp.concatenate([entries(U), entries(U) ** 2, predicted(U)]), posterior)
    mean, squares, prediction = means[:4].reshape(2, 2), means[4:8], means[8:]
    missed = prediction - compared.action.predicted(saddle, compared.across)
    return dict(
        bias=jnp.linalg.norm(mean - saddle), spread=jnp.sqrt(squares.sum() - (mean**2).sum()),
        missed=jnp.sqrt((missed**2).mean()), process=jnp.linalg.norm(mean - jnp.eye(2)),
    )
