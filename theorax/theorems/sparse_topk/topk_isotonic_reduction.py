"""One sort and one isotonic problem give the relaxed top-k: among decreasing v the least R*(s - v) + sum w_i phi(v_i).

**Theorem.** Let p > 1, lam > 0, R(y) = (lam/p) sum |y_i|^p, w decreasing and nonnegative, phi(x) =
x (mask) or x^2/2 (magnitudes). Let s be x, or |x| for magnitudes, in decreasing order, and v the
decreasing sequence with the least R*(s - v) + sum_i w_i phi(v_i). Let y be grad R*(s - v) in the
order of x, with the signs of x for magnitudes, and theta = |y|, or |y|/v for magnitudes. Then theta
is in P(w), the hull of the permutations of w, and the least value equals <x, y> - sum_i theta_i
phi*(y_i/theta_i) - R(y), which y and theta maximise over all y and theta in P(w). For the mask and
w of k ones and n - k zeros, y_i = min(1, ((x_i - tau)_+/lam)^(1/(p-1))), sum y_i = k. In the order
of s, u = s - lam |y|^(p-1) has <phi(u), theta' - theta> <= 0 for all permutations theta' of w.

**Idea.** On a block of equal v, theta sums to the block's w, so theta is in P(w). Every theta in
P(w) and y give a value below every value of the isotonic problem, by Fenchel and Young for R and
phi and by parts for decreasing v. The y above attains it.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import sympy
from sympy import Derivative, Rational, Subs, symbols

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.sparse_topk import _relaxed_topk as setting
from theorax.theorems.sparse_topk._relaxed_topk import n

seen = arrays(
    isotonic="R*(s - v) + sum w_i phi(v_i) at the v that pooling finds",
    relaxed="<x, y> - sum theta_i phi*(y_i/theta_i) - R(y) at the y that it gives, in the order of x",
    unsigned="the same without the signs of x",
    squared="the same with y = ((s - v)/lam)^q in the place of ((s - v)/lam)^(q-1)",
    room="what the sums of the first theta leave of those of w, inside blocks, and theta_i - theta_(i+1)",
    sum="sum of theta",
    mass="sum of w",
    off="the largest difference of y from min(1, ((x - tau)_+/lam)^(1/(p-1))), for the mask",
    off_power="the same with the exponent p - 1",
    rival="<phi(u), theta' - theta> at u = |x| - lam |y|^(p-1) or x - lam y^(p-1), for permutations theta' of w",
)
H = hypotheses(
    convex=setting.CONVEX,
    sorted="s is decreasing",
    order="phi(x) has the order by which x is sorted",
    weights="w is decreasing",
)
whole = (H.sorted, H.order, H.weights)
step = Rational(1, 2**18)  # v and tau are known to 2^-44; for p = 3 entries of y are known to the root of that
optimal = Optimum(
    seen.isotonic, bound=seen.relaxed, feasible=seen.room >= 0, under=whole, bound_by="weak_duality_of_blocks",
    margin=Absolute(1, 10**8, "v is known to 2^-44, and both values move by its square root at most; errors are above 1/100"),
    wrong={
        "signs dropped": dict(bound=seen.unsigned), "exponent q": dict(bound=seen.squared),
    },
)
closed = Inequality(
    seen.off, at_most=step, under=(H.sorted, H.weights), wrong={"exponent p - 1": dict(of=seen.off_power)},
)
projection = Inequality(
    seen.rival, at_most=step, under=H.weights, wrong={"the other way": dict(at_most=None, at_least=step)},
)


class IsotonicTopk(eqx.Module):
    """Scores, the order in which they are taken, weights, what pooling finds, tau of the mask, and permutations of w.

    ``magnitude``: phi is x^2/2, otherwise x; ``ones``: w has k ones.
    """

    x: jax.Array
    order: jax.Array
    w: jax.Array
    v: jax.Array
    tau: jax.Array
    others: jax.Array
    e: float = eqx.field(static=True)
    magnitude: bool = eqx.field(static=True)
    ones: bool = eqx.field(static=True)


def drawn(key, n, k, p, lam, magnitude, ones, by, increasing):
    """``by``: the order of phi(x), that of x, or none."""
    x, e = setting.scores(key, n), setting.exponent(p)
    x = x.at[0].set(-3.0)  # a large negative score: by magnitude it is the first
    size = jnp.abs(x) if magnitude else x
    order = (jnp.argsort(-size), jnp.argsort(-x), jnp.arange(n))[int(by)]
    w = setting.leading(n, k) if ones else -jnp.sort(-jax.random.uniform(named(key, "w"), (n,)))
    w = w[::-1] if increasing else w
    v = setting.isotonic(size[order], w, lam, e, bool(magnitude))
    others = jnp.stack([jax.random.permutation(named(key, "others", place), w) for place in range(8)])
    tau = setting.between(x, k, lam, e)
    return IsotonicTopk(x, order, w, v, tau, others, e, bool(magnitude), bool(ones))


def observe(model, lam):
    x, order, w, v, e = model.x, model.order, model.w, model.v, model.e
    size = jnp.abs(x) if model.magnitude else x
    sign = jnp.where(x < 0, -1.0, 1.0) if model.magnitude else jnp.ones_like(x)
    s = size[order]
    phi = lambda v: v**2 / 2 if model.magnitude else v
    # On a block theta is shared out like y, so that its sum there is exactly that of w.
    block = jnp.where(v[:, None] == v[None, :], 1.0, 0.0)
    found, alone = setting.slope(s - v, lam, e), block.sum(1) == 1
    mass = block @ w
    share = jnp.where(alone | (mass == 0), 1.0, found / jnp.where(alone | (mass == 0), 1.0, block @ found))
    theta = jnp.where(alone, w, share * mass)
    y = theta * v if model.magnitude else theta
    inner = jnp.append(v[:-1] == v[1:], jnp.zeros(1, bool))
    back = jnp.argsort(order)

    def below(y, sign):
        """The value of the relaxed problem at y, which sign puts back."""
        cost = theta * phi(v) if model.magnitude else 0 * y
        return (x * sign * y[back]).sum() - cost.sum() - setting.penalty(y, lam, e).sum()

    u = s - lam * setting.lowered(jnp.maximum(found, 0), e)
    mask = setting.masked(x, model.tau, lam, e)
    plain = model.ones and not model.magnitude
    root = jnp.clip((x - model.tau) / lam, 0, 1)
    other = setting.lowered(root, e)
    return dict(
        isotonic=setting.conjugate(s - v, lam, e).sum() + (w * phi(v)).sum(),
        relaxed=below(y, sign),
        unsigned=below(y, -sign) if not model.magnitude else below(y, jnp.ones_like(sign)),
        squared=below(setting.raised(jnp.abs(s - v) / lam, e + 1), sign),
        room=jnp.append(jnp.where(inner, jnp.cumsum(w) - jnp.cumsum(theta), 1), theta[:-1] - theta[1:]),
        sum=theta.sum(),
        mass=w.sum(),
        off=jnp.max(jnp.abs(found[back] - mask)) if plain else 0 * lam * jnp.ones(()),
        off_power=jnp.max(jnp.abs(found[back] - other)) if plain else 0 * lam * jnp.ones(()),
        rival=(model.others - theta) @ phi(u),
    )


@lemma
def weak_duality_of_blocks():
    """Two scores, any decreasing v and theta in P(w), phi(v) = v^2/2 and v, p = 2: the difference as terms >= 0."""
    s, v, t, w = (symbols(f"{name}_1:3", real=True) for name in "svtw")
    weight = symbols("lam", positive=True)
    for name, phi, cost in (
        ("magnitudes", lambda v: v**2 / 2, lambda t, y: y**2 / (2 * t)),
        ("mask", lambda v: v, lambda t, y: 0),
    ):
        y = symbols("y_1:3", real=True)
        above: Any = sum((s[i] - v[i]) ** 2 / (2 * weight) + w[i] * phi(v[i]) for i in range(2))
        below = sum(s[i] * y[i] - cost(t[i], y[i]) - weight * y[i] ** 2 / 2 for i in range(2))
        rest = sum((s[i] - v[i] - weight * y[i]) ** 2 / (2 * weight) for i in range(2))
        # Terms of Fenchel and Young for phi, and (w - theta) phi(v), not negative by parts for decreasing v.
        young = sum(t[i] * phi(v[i]) + cost(t[i], y[i]) - v[i] * y[i] for i in range(2))
        left = sum((w[i] - t[i]) * phi(v[i]) for i in range(2))
        at = {} if name == "magnitudes" else {y[0]: t[0], y[1]: t[1]}
        yield Step(
            f"{name}: the difference of both values", (above - below).subs(at), sympy.Add(rest, young, left).subs(at)
        )
        if name == "magnitudes":
            yield Step("Young's term of an entry", t[0] * v[0] ** 2 / 2 + y[0] ** 2 / (2 * t[0]) - v[0] * y[0],
                       (t[0] * v[0] - y[0]) ** 2 / (2 * t[0]))
    a, b = symbols("a b", real=True)
    yield Step("by parts", ((w[0] - t[0]) * a + (w[1] - t[1]) * b).subs(t[1], w[0] + w[1] - t[0]),
               (w[0] - t[0]) * (a - b))


@lemma
def block_equations():
    """A block of two, p = 4/3: stationarity in its common value, for both phi."""
    a, b, v, total = symbols("s_1 s_2 v W", positive=True)
    weight = symbols("lam", positive=True)
    loss = ((a - v) ** 4 + (b - v) ** 4) / (4 * weight**3)
    for name, phi, slope in (("mask", v, 1), ("magnitudes", v**2 / 2, v)):
        yield Step(f"{name}: lam^3 times the slope", weight**3 * Derivative(loss + total * phi, v),
                   -((a - v) ** 3) - (b - v) ** 3 + weight**3 * total * slope)
    x, y = symbols("x y", real=True)
    yield Solved("n = 2, k = 1, p = 2: v of a block", (x - v) + (y - v) - weight, v, [(x + y - weight) / 2])
    first = Rational(1, 2) + (x - y) / (2 * weight)
    yield Step("its y of the first entry", Subs((x - v) / weight, v, (x + y - weight) / 2), first)


relaxed = Subject(drawn, magnitude=False, ones=True, by=0, increasing=False)
magnitude = relaxed(magnitude=True)
theorem = Theorem(
    place="reduction to isotonic optimisation (reconstructed; it agrees with the authors' code)",
    label="reconstructed",
    uses=("topk_pnorm_conjugate", "topk_lp_permutahedron"),
    hypotheses=H,
    claims=dict(optimal=optimal, closed=closed, projection=projection),
    proofs=(weak_duality_of_blocks, block_equations),
    experiments=dict(
        scores=Experiment(observe, seen, {n: Efforts((6,), (6, 8), (6, 8))},
                          at=setting.cases(Rational(4, 3), 2, 3, k=3, lam=Rational(1, 2)),
                          draws=Efforts(2, 3, 8), subjects={
            "mask": relaxed,
            "magnitudes": magnitude,
            "mask, weights drawn": relaxed(ones=False),
            "magnitudes, weights drawn": magnitude(ones=False),
            "mask, no sort": relaxed(by=2).breaking(H.sorted, fails=(optimal, closed)),
            "magnitudes in the order of x": magnitude(by=1).breaking(H.order, fails=optimal),
            "mask, w increasing": relaxed(increasing=True).breaking(H.weights, fails=(optimal, closed, projection)),
        }),
    ),
    issues=(
        "Without a sort the entries still sum to k: a check of the sum alone would pass.",
        "For p = 2, phi(x) = x and any decreasing w, u is x less lam y: y is the projection of x/lam onto P(w).",
    ),
)
