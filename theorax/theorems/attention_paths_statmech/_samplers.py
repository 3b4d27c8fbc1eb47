"""Samplers of the posterior of a small attention network: blocks drawn exactly, Langevin steps, Hamiltonian paths."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorax.numerics.keys import named
from theorax.theorems.attention_paths_statmech._layered_paths import DeepPaths

BLOCKS = dict(a=lambda net: net.readout, V=lambda net: net.values[0], V_0=lambda net: net.embedding)


class LabelledInputs(eqx.Module):
    """Inputs, labels and the temperature."""

    inputs: Float[Array, "P features tokens"]
    labels: Float[Array, " P"]
    T: Float[Array, ""]

    def outputs(self, net: DeepPaths):
        return jax.vmap(net)(self.inputs)


def normal_weights(key, net, scale=1.0):
    """Weights like those of ``net``, drawn again; attention stays."""
    for name, of in BLOCKS.items():
        net = eqx.tree_at(of, net, scale * jax.random.normal(named(key, name), of(net).shape))
    return net


def moved(net, by, step):
    """Every block of ``net`` plus ``step`` times that of ``by``."""
    for of in BLOCKS.values():
        net = eqx.tree_at(of, net, of(net) + step * of(by))
    return net


def squares(net):
    """The sum of squares of all weights."""
    return sum((of(net) ** 2).sum() for of in BLOCKS.values())


def block_draws(key, net, problem: LabelledInputs, disturbed=1.0):
    """Each block in turn from its law given the others and the labels: normal, since f is linear in each block.

    theta = theta_0 + A^T (A A^T + T I)^(-1) (y - A theta_0 - e), with theta_0 of the prior, e of the noise, and A the
    Jacobian. ``disturbed`` scales e.
    """
    for name, of in BLOCKS.items():
        keys = named(key, name)
        replaced = lambda block, net=net, of=of: problem.outputs(eqx.tree_at(of, net, block))
        A = jax.jacrev(replaced)(of(net)).reshape(len(problem.labels), -1)
        first = jax.random.normal(named(keys, "prior"), (A.shape[1],))
        noise = disturbed * jnp.sqrt(problem.T) * jax.random.normal(named(keys, "noise"), (len(A),))
        pulled = jnp.linalg.solve(A @ A.T + problem.T * jnp.eye(len(A)), problem.labels - A @ first - noise)
        net = eqx.tree_at(of, net, (first + A.T @ pulled).reshape(of(net).shape))
    return net


def outputs_by_paths(net, attended):
    """The outputs as sums over paths, where attention looks at the raw input alone."""
    size = len(attended) * net.values[0].shape[2] * attended.shape[2]
    return jnp.einsum("pf,pif->i", net.path_weights() @ net.embedding, attended) / jnp.sqrt(1.0 * size)


def potential(net, problem: LabelledInputs, attended):
    """Minus the log density of the posterior, up to a constant; ``attended`` inputs, paths x examples x features.

    Attention looks at the raw input alone, so that one look serves every step of a path.
    """
    misfit = outputs_by_paths(net, attended) - problem.labels
    return (misfit**2).sum() / (2 * problem.T) + squares(net) / 2


slopes = jax.grad(potential)


def attended_by(net, problem: LabelledInputs):
    """The input that each path brings to the last token of each example."""
    return jax.vmap(net.attended, out_axes=1)(problem.inputs)


def langevin(net, noises, problem: LabelledInputs, step):
    """Unadjusted steps: down the slope, and a normal number of variance 2 ``step`` for every weight."""
    attended = attended_by(net, problem)

    def once(net, noise):
        return moved(moved(net, slopes(net, problem, attended), -step), noise, jnp.sqrt(2 * step)), None

    return jax.lax.scan(once, net, noises)[0]


def brownian(key, net, count):
    """Standard normal numbers for each of ``count`` steps and each weight."""
    return jax.vmap(lambda k: normal_weights(k, net))(jax.random.split(named(key, "Brownian"), count))


def hamiltonian(key, net, problem: LabelledInputs, step, steps):
    """One path of ``steps`` leapfrog steps with new velocities, accepted as its energy allows."""
    start, attended = normal_weights(named(key, "velocities"), net), attended_by(net, problem)

    def once(state, _):
        net, velocity, pull = state
        velocity = moved(velocity, pull, -step / 2)
        net = moved(net, velocity, step)
        pull = slopes(net, problem, attended)
        return (net, moved(velocity, pull, -step / 2), pull), None

    (end, velocity, _), _ = jax.lax.scan(once, (net, start, slopes(net, problem, attended)), length=steps)
    before, after = (potential(part, problem, attended) for part in (net, end))
    gained = before + squares(start) / 2 - after - squares(velocity) / 2
    # A path that has left the numbers has no energy; it is not accepted.
    accepted = jnp.log(jax.random.uniform(named(key, "accepted"))) <= jnp.nan_to_num(gained, nan=-jnp.inf)
    return jax.tree.map(lambda new, old: jnp.where(accepted, new, old), end, net)
