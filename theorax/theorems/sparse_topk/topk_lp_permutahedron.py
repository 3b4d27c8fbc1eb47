"""Hard top-k is a linear program over a permutahedron: the mask, and where magnitudes count the mask times the scores.

**Theorem.** Let phi(x) = x or x^2/2, P(w) the convex hull of the permutations of w, s the entries
of phi(x) in decreasing order, f(x) = sum_i s_i w_i, and y be w permuted like phi(x). (a) If w is
decreasing and scores of different weights differ, then f(x) = max over P(w) of <phi(x), .>,
attained at y, and f(x) = sum_l (w_l - w_(l+1)) (l s_l + sum_i (phi(x_i) - s_l)_+), w_(n+1) = 0. (b)
If scores of different weights differ and g = phi'(x) y, then, for z near x, f(z) - f(x) - <g, z -
x> is at most max(w) |z - x|^2/2 for phi(x) = x^2/2, and 0 for phi(x) = x; it is at least 0 if w >=
0 or phi(x) = x. So g = grad f. (c) If w is decreasing, and w >= 0 or phi(x) = x, then
f((x + z)/2) <= (f(x) + f(z))/2 for all x and z.

**Idea.** With t_l = s_l in the formula of (a), every y in P(w) has at most this value, whatever the
t_l, by summation by parts; the permuted w meets it. With k ones in w, y is the 0/1 mask, and g is
the mask for phi(x) = x and the k largest magnitudes, with signs, for phi(x) = x^2/2.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from sympy import symbols

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.sparse_topk import _relaxed_topk as setting
from theorax.theorems.sparse_topk._relaxed_topk import SIZES, k

seen = arrays(
    bound="sum of (w_l - w_(l+1)) times l s_l + sum_i (phi(x_i) - s_l)_+",
    reached="<phi(x), y>, y being w permuted like phi(x)",
    scaled="the bound over k",
    least="<s, w> with s in increasing order",
    steps="w_l - w_(l+1), l below n",
    rise="f(z) - f(x) - <g, z - x>, g = phi'(x) times w permuted like phi(x), for several z near x",
    signed="the same with w permuted like x",
    square="half of the sum of (z - x)^2 times the largest w where phi(x) = x^2/2, zero where phi(x) = x",
    middle="f at the middle of x and other points",
    mean="the mean of f at both",
)
H = hypotheses(
    decreasing="w is decreasing",
    gap="scores of different weights differ",
    nonnegative="no entry of w is negative, or phi is the identity",
)
balls = Absolute(1, 10**30, "both sides are one number to the precision of the balls, errors are of order one")
program = Optimum(
    seen.bound, bound=seen.reached, feasible=seen.steps >= 0, under=(H.decreasing, H.gap), bound_by="no_more", margin=balls,
    wrong={"w/k for w": dict(value=seen.scaled), "the smallest": dict(value=seen.least)},
)
subgradient = Inequality(
    seen.rise, at_least=0, under=(H.gap, H.nonnegative), margin=balls,
    wrong={"ranks of x for those of phi(x)": dict(of=seen.signed)},
)
tangent = Inequality(
    seen.rise, at_most=seen.square, under=H.gap, margin=balls,
    wrong={"ranks of x for those of phi(x)": dict(of=seen.signed)},
)
convex = Inequality(
    seen.middle - seen.mean, at_most=0, under=(H.decreasing, H.nonnegative), margin=balls,
    wrong={"concave": dict(of=seen.mean - seen.middle)},
)
ONES, DRAWN, NEGATIVE = range(3)


class Permutahedron(eqx.Module):
    """Scores, points near and far, weights, k, and phi: x^2/2 for ``magnitude``, x otherwise."""

    x: jax.Array
    near: jax.Array
    far: jax.Array
    w: jax.Array
    k: jax.Array
    magnitude: bool = eqx.field(static=True)

    def phi(self, x):
        return x**2 / 2 if self.magnitude else x

    def value(self, x):
        return jnp.sort(self.phi(x)) @ self.w[::-1]


def drawn(key, n, k, magnitude, weights, increasing, tie):
    """Scores at least a fifth apart in size; points near them are a twentieth away."""
    apart = jnp.arange(n) - n // 2 + 0.3 + jax.random.uniform(named(key, "jitter"), (n,), minval=-0.1, maxval=0.1)
    x = jax.random.permutation(named(key, "order"), apart)
    ranked = jnp.argsort(-jnp.abs(x) if magnitude else -x)
    x = x.at[ranked[int(k)]].set(x[ranked[int(k) - 1]]) if tie else x
    near = x + jax.random.uniform(named(key, "near"), (16, n), minval=-0.05, maxval=0.05)
    far = jax.random.normal(named(key, "far"), (32, n))
    positive = -jnp.sort(-jax.random.uniform(named(key, "w"), (n,)))
    w = (setting.leading(n, k), positive, jnp.where(jnp.arange(n) == 0, 1.0, -0.5))[int(weights)]
    return Permutahedron(x, near, far, w[::-1] if increasing else w, jnp.asarray(k), bool(magnitude))


def observe(model):
    x, w, scores = model.x, model.w, model.phi(model.x)
    s = jnp.sort(scores)[::-1]
    steps = w - jnp.concatenate([w[1:], w[:1] * 0])
    above = jnp.maximum(scores[None, :] - s[:, None], 0).sum(1) + (jnp.arange(len(x)) + 1) * s
    # Of two equal scores each is given the weight of the first of their ranks.
    like = lambda x: w[(x[None, :] > x[:, None]).sum(1)]
    inner = x if model.magnitude else jnp.ones_like(x)
    away = model.near - x
    gain = jax.vmap(model.value)(model.near) - model.value(x)
    return dict(
        bound=steps @ above,
        reached=scores @ like(scores),
        scaled=steps @ above / model.k,
        least=jnp.sort(scores) @ w,
        steps=steps[:-1],
        rise=gain - away @ (inner * like(scores)),
        signed=gain - away @ (inner * like(x)),
        square=(away**2).sum(1) / 2 * jnp.max(w) if model.magnitude else 0 * gain,
        middle=jax.vmap(lambda z: model.value((model.near[0] + z) / 2))(model.far),
        mean=jax.vmap(lambda z: (model.value(model.near[0]) + model.value(z)) / 2)(model.far),
    )


@lemma
def no_more():
    """Two ones among three: what the bound keeps over any y in [0, 1] that sums to two, as terms that are not negative."""
    t, a, b, c = symbols("t a b c", real=True)
    y = (*symbols("y_1:3", nonnegative=True),)
    z = 2 - y[0] - y[1]
    # Scores t + a and t + b above t, and t - c below it: the positive parts are a and b.
    reached = (t + a) * y[0] + (t + b) * y[1] + (t - c) * z
    yield Step("2 t + a + b, less <phi, y>", 2 * t + a + b - reached, a * (1 - y[0]) + b * (1 - y[1]) + c * z)
    u, v = symbols("u v", real=True)
    yield Step("<s, w> by parts, for two scores", a * u + b * v, (u - v) * a + v * (a + b))


@lemma
def near_a_point():
    """One score of either sign that stays among the leading ones: what f gains beyond its slope."""
    x, z, w = symbols("x z w", real=True)
    yield Step("phi = x^2/2", w * (z**2 - x**2) / 2 - w * x * (z - x), w * (z - x) ** 2 / 2)
    yield Step("the midpoint, where both are kept", w * (x**2 + z**2) / 4 - w * ((x + z) / 2) ** 2 / 2,
               w * (x - z) ** 2 / 8)


mask = Subject(drawn, magnitude=False, weights=ONES, increasing=False, tie=False)
magnitude = mask(magnitude=True)
theorem = Theorem(
    place="top-k as a linear program over the permutahedron (reconstructed)",
    label="reconstructed",
    hypotheses=H,
    claims=dict(program=program, subgradient=subgradient, tangent=tangent, convex=convex),
    proofs=(no_more, near_a_point),
    experiments=dict(
        scores=Experiment(observe, seen, SIZES, at={k: 2}, draws=setting.DRAWS, subjects={
            "mask": mask,
            "magnitudes": magnitude,
            "mask, weights drawn": mask(weights=DRAWN),
            "magnitudes, weights drawn": magnitude(weights=DRAWN),
            "mask, negative weights": mask(weights=NEGATIVE),
            "magnitudes, negative weights": magnitude(weights=NEGATIVE).breaking(
                H.nonnegative, fails=(subgradient, convex),
            ),
            "mask, weights in increasing order": mask(weights=DRAWN, increasing=True).breaking(
                H.decreasing, fails=(program, convex),
            ),
            "mask, a tie": mask(tie=True).breaking(H.gap, fails=(program, subgradient, tangent)),
            "magnitudes, a tie": magnitude(tie=True).breaking(H.gap, fails=(program, subgradient, tangent)),
        }),
    ),
    issues=("At a tie every split of the tied weights is optimal, and no gradient exists.",),
)
