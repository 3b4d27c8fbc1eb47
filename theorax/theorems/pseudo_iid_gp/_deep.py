"""Several pseudo-iid layers after a Gaussian one: what the theorems on depth share.

The first layer is Gaussian and its inputs are orthogonal, so that its pre-activations are independent N(0, q). Every
later one is h' = sigma_w W phi(h) + b with entries of W of variance 1/n and b ~ N(0, sigma_b^2). In the limit of wide
layers q' = sigma_b^2 + sigma_w^2 E phi(sqrt q z)^2, and a small change of h grows by chi_1 = sigma_w^2 E phi'(sqrt q z)^2
in the square of its length.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int
from sympy import Expr, Integer, Rational, asin, pi, sqrt, sympify

from theorax.language import Efforts, Expansion, Experiment, Index, Measured, Parameter, Subject
from theorax.numerics.extents import Extent
from theorax.numerics.keys import named
from theorax.theorems.pseudo_iid_gp import _gaussian_means as gaussian_means
from theorax.theorems.pseudo_iid_gp import _weight_matrices as weight_matrices
from theorax.theorems.pseudo_iid_gp._ensembles import EnsembleLaw, n, width
from theorax.theorems.pseudo_iid_gp._kernels import phi

l = Index("l", "number of pseudo-iid layers")
q = Parameter("q", "variance of the pre-activations", positive=True)
sw2 = Parameter("sw2", "sigma_w^2", positive=True)
sb2 = Parameter("sb2", "sigma_b^2", nonnegative=True)
growth = Measured(
    "growth", "|J v|^2/|v|^2, J the Jacobian of l layers, mean over inputs and v", over=(l,), positive=True
)
square = Measured("square", "h_i^2 after l layers, mean over units and inputs", over=(l,), positive=True)
INPUTS = 32
IN_POWERS = Expansion(
    powers=(1,),
    rest=Rational(1, 20),
    order=2,
    reference=16,
    reason="moments of a layer are rational in n; beside 1/n at most 0.02 at n = 16 on other seeds",
)

# Closed forms for phi = erf, from the arcsine kernel at two equal inputs and a Gaussian integral.
ERF_SQUARE = 2 / pi * asin(2 * q / (1 + 2 * q))
ERF_SLOPE = 4 / (pi * sqrt(1 + 4 * q))


class Deep(eqx.Module):
    """Pre-activations of a first layer, and the layers that follow."""

    before: Float[Array, "inputs N"]
    directions: Float[Array, "inputs N"]
    weight: Float[Array, "layers N N"]
    bias: Float[Array, "layers N"]
    activation: Int[Array, ""]

    def __call__(self, n: Extent) -> tuple[Float[Array, "layers inputs N"], Float[Array, "layers inputs N"]]:
        """After every layer its pre-activations and the image of the directions, by forward differentiation."""

        def layer(
            state: tuple[Array, Array], parameters: tuple[Array, Array]
        ) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
            W, b = parameters

            def next_layer(h: Float[Array, "inputs N"]) -> Float[Array, "inputs N"]:
                return jnp.where(n.mask, phi(h, self.activation), 0) @ W.T + b

            after = jax.jvp(next_layer, state[:1], state[1:])
            return after, after

        return jax.lax.scan(layer, (self.before, self.directions), (self.weight, self.bias))[1]


def deep(
    key: Array, n: Extent, l: int, law: Array, share: Array, activation: Array, q: Array, sw2: Array, sb2: Array
) -> Deep:
    """All layers drawn."""
    layers = jnp.arange(l)

    def inputs(name: str) -> Float[Array, "inputs N"]:
        return jnp.where(n.mask, jax.random.normal(named(key, name), (INPUTS, n.padded)), 0)

    W = jax.lax.map(lambda layer: weight_matrices.weights(named(key, "weights", layer), n, law, share), layers)
    b = jnp.where(n.mask, jax.random.normal(named(key, "biases"), (l, n.padded)), 0)
    return Deep(
        jnp.sqrt(q) * inputs("first layer"), inputs("directions"), jnp.sqrt(sw2) * W, jnp.sqrt(sb2) * b, activation
    )


def observe(net: Deep, n: Extent) -> dict[str, Float[Array, " layers"]]:
    """Growth and squares after 1, 2, ... layers."""
    h, v = net(n)
    lengths = (net.directions**2).sum(1)
    return dict(growth=((v**2).sum(2) / lengths).mean(1), square=(h**2).sum(2).mean(1) / width(n))


def erf_point(at: Expr, chi: Expr | int = 1) -> dict[Parameter, Expr]:
    """The variances at which q = ``at`` is stationary and a small change grows by ``chi``, for phi = erf."""
    weight = chi / ERF_SLOPE.subs(q, at)
    return {q: at, sw2: weight, sb2: at - weight * ERF_SQUARE.subs(q, at)}


def relu_point(at: Expr, chi: Expr | int = 1) -> dict[Parameter, Expr]:
    """The same for ReLU without biases; every q is stationary at chi = 1, and none elsewhere."""
    return {q: at, sw2: 2 * sympify(chi), sb2: Integer(0)}


def subject(law: EnsembleLaw, activation: int, known: dict[Parameter, Any]) -> Subject:
    """A deep network of this law and activation with these exact values."""
    return law.subject(deep, known, activation=activation)


def experiment(subjects: dict[str, Subject], quick: int = 500) -> Experiment:
    """These networks, one and four layers deep; one program for all of them and all widths."""
    return Experiment(
        padded=True,
        subjects=subjects,
        observe=observe,
        measures=(growth, square),
        sweep={n: (16, 32, 64)},
        along={l: (1, 4)},
        span=4,
        draws=Efforts(quick=quick, standard=2000, thorough=20000),
        dtype="float32",
    )


class Variances(eqx.Module):
    """The map of variances of infinitely wide tanh layers."""

    weight: Float[Array, ""]
    bias: Float[Array, ""]

    def __call__(self, q: Float[Array, ""]) -> Float[Array, ""]:
        """The variance after one more layer."""
        return self.bias + self.weight * gaussian_means.mean(lambda x: jnp.tanh(x) ** 2, q)


def variances(key: Array, bias: Array) -> Variances:
    """The map at sigma_w^2 = 1."""
    return Variances(jnp.ones(()), bias)


def after(step: Variances, steps: Extent) -> dict[str, Float[Array, ""]]:
    """The variance after so many layers, from one on."""
    return dict(fading=jax.lax.fori_loop(0, steps.value, lambda _, q: step(q), jnp.ones(())))
