"""The distance bound between residual network and neural ODE is attained, to first order in 1/N and for every L.

The field phi(s, x) = v + C s + L (x - p(s)) has the parabola p(s) = v s + C s^2/2 as its flow from zero, whatever L
is: C is its acceleration, L its Lipschitz constant. The network falls behind by C/(2 N^2) in each layer, and what it
is behind grows by 1 + L/N.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Function, Rational, Symbol, exp, limit, oo, rsolve, simplify

from theorax.language import (
    Efforts,
    Expansion,
    Experiment,
    Hypothesis,
    Identity,
    Limit,
    Measured,
    Proof,
    Relative,
    Step,
    Subject,
    Theorem,
    instance,
)
from theorax.numerics.arithmetics import Symbolic, evaluate
from theorax.numerics.extents import literal
from theorax.numerics.keys import named
from theorax.theorems.resnet_discretizes_ode._networks import L, N

missed = Measured("missed", "x(1) - x_N", array=True)
C = Measured("C", "acceleration of the flow", array=True, positive=True)
share = Measured("share", "x(1) - x_N in units of C/(2N)")

equality = Identity(
    missed,
    C * ((1 + L / N) ** N - 1) / (2 * N * L),
    margin=Relative(
        1, 10**9, "the account of rounding stays below it, any change of the formula is of the order of the whole"
    ),
    wrong={
        "the half forgotten": C * ((1 + L / N) ** N - 1) / (N * L),
        "the bound that holds for all fields": C * (exp(L) - 1) / (2 * N * L),
        "no growth of earlier errors": C / (2 * N),
    },
)
sharp = Limit(
    share * L / (exp(L) - 1),
    1,
    as_=N,
    approach=Expansion(
        powers=(1,),
        rest=0.15,
        order=2,
        reference=16,
        reason="(1 + L/N)^N expands in 1/N; its second-order term is 5.4/N^2 of e^L - 1 at L = 2, a seventh of this",
    ),
    margin=Relative(1, 10, "a bound with e^(2L), or without the half, is at least a factor two away"),
    spread=Rational(1, 1000),
    wrong={
        "the half forgotten": Rational(1, 2),
        "e^(2L) in the place of e^L": dict(of=share * 2 * L / (exp(2 * L) - 1)),
        "no growth of earlier errors": dict(of=share),
    },
)


class Extremal(eqx.Module):
    """The field whose flow from zero is the parabola."""

    v: Any
    C: Any

    def path(self, s):
        return self.v * s + self.C * s**2 / 2

    def speed(self, s):
        return self.v + self.C * s

    def __call__(self, s, x, L):
        return self.speed(s) + L * (x - self.path(s))


class Saturated(Extremal):
    """Far from its flow the field is no steeper than tanh."""

    def __call__(self, s, x, L):
        return self.speed(s) + L * jnp.tanh(x - self.path(s))


class Uneven(Extremal):
    """The acceleration falls from C to zero."""

    def path(self, s):
        return self.v * s + self.C * (s**2 / 2 - s**3 / 6)

    def speed(self, s):
        return self.v + self.C * (s - s**2 / 2)


def drawn(field):
    def build(key):
        v, C = jax.random.normal(named(key, "v")), jax.random.uniform(named(key, "C"), minval=1.0, maxval=3.0)
        return field(v, C)

    return build


def last(field, N, L):
    """x(1) - x_N."""
    return field.path(1.0) - jax.lax.fori_loop(
        0, N.value, lambda n, x: x + field(n / N.value, x, L) / N.value, jnp.zeros(())
    )


def compare(field, N, L):
    return dict(missed=last(field, N, L), C=field.C)


def fraction(field, N, L):
    return dict(share=last(field, N, L) * 2 * N.value / field.C)


def compare_at(depth, field, L):
    return compare(field, literal(depth), L)


def entry(letter):
    return np.array(letter, dtype=object)


def recurrence():
    """Generic L, C and v: the measured program at depths 1 to 4, its recursion at every depth."""
    v: Any
    v, e, n = Symbol("v"), Function("e"), Symbol("n", integer=True, nonnegative=True)
    for depth in range(1, 5):
        at: list[Any] = [entry(v), entry(C), entry(L)]
        values = evaluate(partial(compare_at, depth), (Extremal(at[0], at[1]), at[2]), Symbolic())
        claim = replace(equality, right=equality.right.subs(N, depth), wrong={})
        yield instance(claim, f"the measured program on symbols, N = {depth}", values)
    field = Extremal(v, C)
    kick = simplify(field.path((n + 1) / N) - field.path(n / N) - field.speed(n / N) / N)
    yield Step("what one layer misses; v drops out", kick, C / (2 * N**2))
    behind = rsolve(e(n + 1) - (1 + L / N) * e(n) - kick, e(n), {e(0): 0}).subs(n, N)
    yield Step("summed over the layers", behind, equality.right)


def first_order():
    """Generic L and C; L = 0 too."""
    yield Step("its share of the bound as N grows", limit(((1 + L / N) ** N - 1) / (exp(L) - 1), N, oo), sharp.to)
    yield Step("without growth exactly C/(2N)", limit(equality.right, L, 0), C / (2 * N))


controls = {
    "saturated": Subject(drawn(Saturated), breaks=("affine",), fails=("equality",)),
    "uneven": Subject(drawn(Uneven), breaks=("constant",), fails=("equality",)),
}
cases = tuple({L: value} for value in (Rational(1, 2), Rational(1), Rational(2)))
theorem = Theorem(
    place="tightness of the distance bound; reconstructed, the extremal family is built here",
    label="reconstructed",
    hypotheses=dict(
        affine=Hypothesis("the field is affine in x with slope L, around a flow that starts where the network does"),
        constant=Hypothesis("its flow has the constant acceleration C"),
    ),
    claims=dict(equality=equality, sharp=sharp),
    experiments=dict(
        programs=Experiment(
            padded=True,
            subjects={"extremal": Subject(drawn(Extremal)), **controls},
            observe=compare,
            measures=(missed, C),
            sweep={N: Efforts(quick=(4, 16), standard=(4, 16, 64), thorough=(4, 16, 64, 128))},
            at=cases,
            draws=Efforts(quick=2, standard=3, thorough=8),
        ),
        depths=Experiment(
            padded=True,
            subjects={
                "extremal": Subject(drawn(Extremal)),
                "uneven": Subject(drawn(Uneven), breaks=("constant",), fails=("sharp",)),
            },
            observe=fraction,
            measures=(share,),
            sweep={N: Efforts(quick=(16, 64, 256), standard=(16, 64, 256, 1024), thorough=(16, 64, 256, 1024, 4096))},
            at=cases,
            span=256,
            draws=32,
        ),
    ),
    proof=dict(equality=Proof(recurrence, settles=True), sharp=first_order),
    issues=(
        "Attained by a family of fields in one dimension; a network drawn at random stays far below the bound, see "
        "resnet_node_distance_bound.",
    ),
)
