"""Softmax of a Gaussian kernel takes a mean-shift step: it moves along the gradient of the logarithm of a smoothed density.

**Theorem.** Let k(x, y) = exp(-|x - y|^2/(2 eps)), w_j(x) = k(x, x_j)/sum_l k(x, x_l), m(x) = sum_j
w_j(x) x_j and p(x) = (1/n) sum_j k(x, x_j), for tokens x_1, ..., x_n and a query x in any
dimension, eps > 0. Then m(x) - x = eps grad log p(x). If the weights w_j are proportional to
exp(<x, x_j>/eps) instead, sum_j w_j(x) x_j = eps grad log sum_j exp(<x, x_j>/eps), and nothing is
subtracted. For the first kernel and every tau > 0, log p(x + tau (m(x) - x)) - log p(x)
>= (tau (2 - tau)/(2 eps)) |m(x) - x|^2.

**Idea.** Both identities are the derivative of a logarithm of a sum of exponentials, exact for
every eps and n and so for every law of the tokens. For the last one, log(p(y)/p(x)) is the
logarithm of the w(x)-mean of k(y, x_j)/k(x, x_j), which by Jensen's inequality is at least the mean
of the logarithm. That mean is exactly the right side at y = x + tau (m(x) - x).
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Add, Derivative, Integer, Rational, Symbol, exp, log, symbols

from theorax.language import *
from theorax.numerics.annotations import Entries, Scalar
from theorax.numerics.keys import named

n = Size("n", "number of tokens")
d = Size("d", "dimension of the tokens")
eps = Parameter("eps", "temperature, the variance of the smoothing kernel", positive=True)
tau = Parameter("tau", "step size", positive=True)
seen = arrays(
    shift="sum_j w_j(x) x_j - x at every query x",
    mean="sum_j w_j(x) x_j",
    score="eps grad log p(x), by automatic differentiation",
    narrow="the same with k = exp(-|x - y|^2/eps), the kernel without the two",
    potential="eps grad log sum_j exp(<x, x_j>/eps), by automatic differentiation",
    dot="sum_j w_j(x) x_j with the weights of exp(<x, y>/eps)",
    rise="log p(x + tau (m(x) - x)) - log p(x)",
    fall="log p(x - tau (m(x) - x)) - log p(x)",
    square="|m(x) - x|^2",
)

H = hypotheses(
    gaussian="the scores are -|x - y|^2/(2 eps)",
    softmax="the weights of each query sum to one",
    values="the values are the tokens themselves",
)
exact = Relative(1, 10**9, "the account of the rounding stays below it, the nearest wrong kernel is a tenth off")
identity = Identity(
    seen.shift, seen.score, under=(H.gaussian, H.softmax, H.values), margin=exact,
    wrong={"without the two in the kernel": seen.narrow, "nothing subtracted": dict(left=seen.mean)},
)
dot_product = Identity(
    seen.dot, seen.potential, under=(H.softmax, H.values), margin=exact,
    wrong={"the query subtracted": dict(left=seen.dot - seen.mean + seen.shift)},
)
climbs = Inequality(
    seen.rise, at_least=tau * (2 - tau) / (2 * eps) * seen.square, trivial=0 * seen.square,
    wrong={"the step reversed": dict(of=seen.fall), "first order alone": tau / eps * seen.square},
)


class MeanShift(eqx.Module):
    """Attention of queries to tokens: the cost, whether weights are normalised, and the matrix of the values."""

    tokens: Entries[Any, "n d"]
    queries: Entries[Any, "m d"]
    W_V: Entries[Any, "d d"]
    cost: Scalar  # 1 for the squared distance, 0 for the dot product
    normalised: Scalar

    def weights(self, x, eps, cost):
        squares = (x**2).sum() + (self.tokens**2).sum(1)
        K = jnp.exp((self.tokens @ x - cost * squares / 2) / eps)
        return K / (self.normalised * K.sum() + 1 - self.normalised)

    def mean(self, x, eps, cost):
        return self.weights(x, eps, cost) @ (self.tokens @ self.W_V.T)


def drawn(key, n, d, distance, normalised, mixing):
    normal = lambda name, *shape: jax.random.normal(named(key, name), shape)
    W_V = jnp.eye(d) + mixing * normal("values", d, d)
    return MeanShift(normal("tokens", n, d), normal("queries", 3, d), W_V, distance, normalised)


def log_density(tokens, x, eps):
    return jnp.log(jnp.exp(-((x - tokens) ** 2).sum(1) / (2 * eps)).sum() / len(tokens))


def steps(model, eps):
    """The moves of all queries beside the gradients of the potentials."""
    X, queries = model.tokens, model.queries
    rows = lambda of: jnp.stack([of(x) for x in queries])
    mean = rows(lambda x: model.mean(x, eps, model.cost))
    potential = lambda x: jnp.log(jnp.exp(X @ x / eps).sum())
    return dict(
        shift=mean - queries,
        mean=mean,
        score=rows(lambda x: eps * jax.grad(lambda x: log_density(X, x, eps))(x)),
        narrow=rows(lambda x: eps * jax.grad(lambda x: log_density(X, x, eps / 2))(x)),
        potential=rows(lambda x: eps * jax.grad(potential)(x)),
        dot=rows(lambda x: model.mean(x, eps, 0 * model.cost)),
    )


def observe(model, eps, tau):
    found = steps(model, eps)
    log_p = lambda points: jnp.stack([log_density(model.tokens, x, eps) for x in points])
    start, move = model.queries, tau * found["shift"]
    return found | dict(
        rise=log_p(start + move) - log_p(start),
        fall=log_p(start - move) - log_p(start),
        square=(found["shift"] ** 2).sum(1),
    )


@settles(identity, dot_product)
def any_tokens(claim):
    """Two tokens and a query on the line, every temperature."""
    tokens, query, plain = generic_entries("x", 2, 1), generic_entries("q", 1, 1), generic_entries("v", 1, 1)
    plain[0, 0] = Integer(1)
    model = MeanShift(tokens, query, plain, 1, 1)
    yield Instance(claim, "two tokens", steps, model, np.array(eps, dtype=object))


@lemma
def jensen():
    """Three tokens and two points y and x of the line: what the weighted mean of log k(y, x_j)/k(x, x_j) is."""
    x, m, t, e = (
        Symbol("x", real=True),
        Symbol("m", real=True),
        Symbol("tau", positive=True),
        Symbol("eps", positive=True),
    )
    points, weights = symbols("x_1:4", real=True), symbols("w_1:3", positive=True)
    weights = (*weights, 1 - Add(*weights))
    mean = Add(*(w * p for w, p in zip(weights, points, strict=True)))
    y = x + t * (mean - x)
    gain = Add(*(w * ((x - p) ** 2 - (y - p) ** 2) for w, p in zip(weights, points, strict=True))) / (2 * e)
    a = symbols("a_1:4", positive=True)
    total = Add(*(w * part for w, part in zip(weights, a, strict=True)))
    # log z <= z - 1, so that the mean of log(a_j/total) is at most the mean of a_j/total - 1.
    yield Step(
        "the mean of a_j/total - 1", Add(*(w * (part / total - 1) for w, part in zip(weights, a, strict=True))), 0
    )
    z = Symbol("z", positive=True)
    yield Solved("the slope of z - 1 - log z vanishes at one alone", Derivative(z - 1 - log(z), z).doit(), z, [1])
    yield Step("the mean gain of one step", gain, t * (2 - t) / (2 * e) * (mean - x) ** 2)
    p = Add(*(exp(-((m - z) ** 2) / (2 * e)) for z in points))
    shares = [exp(-((m - z) ** 2) / (2 * e)) / p for z in points]
    drift = Add(*(w * z for w, z in zip(shares, points, strict=True))) - m
    yield Step("the gradient of log p for three tokens", e * Derivative(log(p), m), drift)


whole = Subject(drawn, distance=1.0, normalised=1.0, mixing=0.0)
theorem = Theorem(
    place="the remark on softmax attention and mean shift (the rise of log p: derived here)",
    label="reconstructed",
    hypotheses=H,
    claims=dict(identity=identity, dot_product=dot_product, climbs=climbs),
    proofs=(any_tokens, jensen),
    experiments=dict(
        steps=Experiment(observe, seen, {n: (4, 9)}, draws=Efforts(2, 4, 12), at=(
            {d: 1, eps: Rational(1, 2), tau: 1},
            {d: 3, eps: 1, tau: Rational(1, 4)},
        ), subjects={
            "Gaussian kernel": whole,
            "dot product": whole(distance=0.0).breaking(H.gaussian, fails=(identity, climbs)),
            "no normalisation": whole(normalised=0.0).breaking(H.softmax, fails=(identity, dot_product, climbs)),
            "values mixed": whole(mixing=1.0).breaking(H.values, fails=(identity, dot_product, climbs)),
        }),
    ),
    issues=(
        "The weights are those of tokens that do not move; a flow in which queries and tokens are the same points is "
        "another statement.",
    ),
)
