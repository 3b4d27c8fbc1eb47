"""The p-norm regulariser and its conjugate: one power of the weight, and the exponent 1/(p-1) of the gradient.

**Theorem.** Let p > 1, lam > 0, q = p/(p-1) and R(y) = (lam/p) sum_i |y_i|^p. Then, for all z,
y(z)_i = sign(z_i) (|z_i|/lam)^(1/(p-1)) gives <z, y(z)> - R(y(z)) = sum_i |z_i|^q/(q lam^(q-1)),
entry by entry. The derivative of this value by z is y(z). For all y and z, sum_i |z_i|^q/(q
lam^(q-1)) + R(y) - <z, y> >= 0, entry by entry. So R*(z) = sum_i |z_i|^q/(q lam^(q-1)), and grad
R*(z) = y(z).

**Idea.** The supremum of <z, y> - R(y) is attained where its slope in y vanishes, z_i = lam
sign(y_i) |y_i|^(p-1), which is y = y(z). Put this into the function: z_i y_i = lam (|z_i|/lam)^q,
and R takes the share 1/p of it, so the share 1/q is left.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Derivative, Eq, Subs, Symbol

from theorax.language import *
from theorax.numerics.annotations import Entries, Scalar
from theorax.theorems.sparse_topk import _relaxed_topk as setting
from theorax.theorems.sparse_topk._relaxed_topk import SIZES, lam

seen = arrays(
    value="<z, y> - R(y) at y = sign(z) (|z|/lam)^(1/(p-1)), entry by entry",
    conjugate="|z|^q/(q lam^(q-1))",
    more="|z|^q/(q lam^q)",
    gradient="derivative of that value by z",
    power="sign(z) (|z|/lam)^(1/(p-1))",
    steeper="sign(z) (|z|/lam)^q",
    flatter="sign(z) (|z|/lam)^(p-1)",
    short="|z|^q/(q lam^(q-1)) + R(y) - z y, at another point y",
)
H = hypotheses(
    convex=setting.CONVEX,
    regulariser="R(y) is lam/p times the sum of |y_i|^p",
)
exact = Relative(1, 10**9, "rounding stays below it; a power of lam or of z more is of order one away")
attained = Identity(
    seen.value, seen.conjugate, under=H.regulariser, margin=exact, wrong={"lam^q for lam^(q-1)": seen.more},
)
derivative = Identity(
    seen.gradient, seen.power, under=H.regulariser, margin=exact,
    wrong={"exponent q": seen.steeper, "exponent p - 1": seen.flatter},
)
young = Inequality(
    seen.short, at_least=0, under=H.regulariser, margin=Absolute(1, 10**30, "balls of the precision at hand"),
    wrong={"lam^q for lam^(q-1)": dict(of=seen.short + seen.more - seen.conjugate)},
)


class PowerRegulariser(eqx.Module):
    """A point z, another point y, the weight and e = 1/(p-1); ``heavier`` is a factor of R that its conjugate lacks."""

    z: Entries[Any, " n"]
    y: Entries[Any, " n"]
    heavier: Scalar
    e: float = eqx.field(static=True)


def drawn(key, n, p, heavier):
    z, y = setting.scores(key, n), setting.scores(key, n, "y")
    return PowerRegulariser(z, y, heavier, setting.exponent(p))


def observe(model, lam):
    z, y, e, lam = model.z, model.y, model.e, lam * jnp.ones(())
    penalty = lambda y: model.heavier * setting.penalty(y, lam, e)
    size, sign = jnp.abs(z), jnp.where(z < 0, -1.0, 1.0)
    value = setting.conjugate(z, lam, e)
    best = setting.slope(z, lam, e)

    def gain(z):
        """The value at best(z), where |y|^p is the power (|z|/lam)^(e+1): no root is differentiated."""
        root = jnp.abs(z) / lam
        return z * setting.slope(z, lam, e) - model.heavier * lam * setting.raised(root, e + 1) * e / (e + 1)

    return dict(
        value=z * best - penalty(best),
        conjugate=value,
        more=value / lam,
        gradient=jax.grad(lambda z: jnp.sum(gain(z)))(z),
        power=best,
        steeper=sign * setting.raised(size / lam, e + 1),
        flatter=sign * setting.lowered(size / lam, e),
        short=value + penalty(y) - z * y,
    )


@lemma
def stationary():
    """Every positive z and lam, p = 4/3, 3/2, 2 and 3; one entry, as R is a sum over entries."""
    z, weight, y = (Symbol(name, positive=True) for name in ("z", "lam", "y"))
    for order in setting.ORDERS:
        q: Any = order / (order - 1)
        best = (z / weight) ** (q - 1)
        gain = z * y - weight / order * y**order
        yield Step(f"p = {order}: the slope vanishes there", Subs(Derivative(gain, y), y, best), 0)
        yield Step(f"p = {order}: value there", Subs(gain, y, best), z**q / (q * weight ** (q - 1)))
        yield Step(f"p = {order}: the slope of R* is that point", Derivative(z**q / (q * weight ** (q - 1)), z), best)


@settles(attained, derivative)
def positive_entries(claim):
    """Any positive entry and weight, p = 4/3, 3/2, 2 and 3; R and R* are even, and sums over entries."""
    for order in setting.ORDERS:
        z, y = (np.array([Symbol(name, positive=True)], dtype=object) for name in ("z_0", "y_0"))
        model = PowerRegulariser(z, y, 1.0, setting.exponent(order))
        yield Instance(claim, f"p = {order}", observe, model, np.array(lam, dtype=object))


@lemma
def every_order():
    """Every p > 1, written as 1 + 1/e, in z = lam t: both sides of Young's equality at y = t^e."""
    t, weight, e = (Symbol(name, positive=True) for name in ("t", "lam", "e"))
    yield Solved("q of p = 1 + 1/e", Eq(Symbol("q") * (1 / e), 1 + 1 / e), Symbol("q"), e + 1)
    yield Step("z y less R(y)", weight * t * t**e - weight * t**e * t / (1 + 1 / e), weight * t ** (e + 1) / (e + 1))
    yield Step("its derivative by z = lam t", Derivative(weight * t ** (e + 1) / (e + 1), t) / weight, t**e)


whole = Subject(drawn, heavier=1.0)
theorem = Theorem(
    place="the regulariser and its conjugate (the authors' code read; derived here)",
    label="derived",
    hypotheses=H,
    claims=dict(attained=attained, derivative=derivative, young=young),
    proofs=(positive_entries, stationary, every_order),
    experiments=dict(
        random=Experiment(observe, seen, SIZES, at=setting.cases(*setting.ORDERS, lam=2),
                          draws=setting.DRAWS, subjects={
            "R of this weight": whole,
            "R of half the weight": whole(heavier=0.5).breaking(H.regulariser, fails=(attained, derivative, young)),
        }),
    ),
    issues=("The first power of lam in R is a convention of the authors' code; the paper's own was not seen.",),
)
