"""One layer of linear attention on augmented tokens is one gradient step on an in-context least-squares objective.

**Theorem.** Let s_1, ..., s_T be any complex tokens, s_0 = 0, and L(W) = (1/2) sum_(t<T)
|s_(t+1) - W s_t|^2. Then -grad L(0) = sum_(t<T) s_(t+1) s_t^*. Let a layer of causal linear
attention act on augmented tokens (0, s_t, s_(t-1)), with queries s_t, keys s_(t-1) and values s_t,
and let it add eta times its sum to the first block. Then the first block at every position t is W_1
s_t, where W_1 is one gradient step of size eta from W = 0 on the objective of s_1, ..., s_t.

**Idea.** Applied to s_T, the gradient gives sum_(t<T) s_(t+1) <s_t, s_T>. This is attention with
the query s_T, the keys s_(t-1) and the values s_t. The augmented token holds all three, and the
first block of the residual stream takes the prediction.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sympy import Symbol, sympify

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.in_context_autoregression._augmented_attention import (
    augmented_tokens,
    causal,
    gradient_step_attention,
)
from theorax.theorems.in_context_autoregression._complex_arrays import generic_pair, unstacked

T = Size("T", "context length")
d = Size("d", "dimension of the tokens")
seen = arrays(
    gradient="-grad L(0) of the whole context by automatic differentiation, real and imaginary parts",
    correlation="sum of s_(t+1) s_t^* over the context",
    outputs="predictions of the Transformer at every position",
    stepped="W_1 s_t at every position, W_1 one gradient step of size eta from zero on the context up to there",
    plain="eta times the sum of s_t <s_t, s_T>",
)

H = hypotheses(
    augmented="the keys are the tokens before, s_(t-1)",
    start="the token before the first is zero",
    causal="attention is causal",
    zero="the gradient step starts from W = 0",
)
exact = Relative(1, 10**9, "the account of the rounding stays below it, another key or start is of order one")
gradient = Identity(
    seen.gradient, seen.correlation, under=H.zero, margin=exact, wrong={"without the half": 2 * seen.correlation},
)
step = Identity(seen.outputs, seen.stepped, margin=exact, wrong={"keys s_t, plain tokens": seen.plain})


def objective(W, S):
    """(1/2) sum |s_(t+1) - W s_t|^2 of a context."""
    return (S[1:] - S[:-1] @ unstacked(W).each(lambda part: part.T)).squares.sum() / 2


def run(S, eta, before, augmented, causal_mask, start):
    """The Transformer beside gradient steps, on tokens s_1, ..., s_T; ``before`` stands in the place of s_0."""
    S, before = unstacked(S), unstacked(before)
    length, d = S.real.shape
    mask = causal(length) | (jnp.asarray(causal_mask) != 1)
    outputs = gradient_step_attention(d, eta, augmented)(augmented_tokens(S, before), mask)[:, :d]
    W_0 = start * jnp.stack([jnp.eye(d), jnp.zeros((d, d))])
    slopes = [-jax.grad(objective)(W_0, S[:t]) for t in range(1, length + 1)]
    # From W = 0 the first term is zero; the control starts elsewhere.
    moved = [S[t : t + 1] @ unstacked(W_0 + eta * G).each(lambda part: part.T) for t, G in enumerate(slopes)]
    plain = [S[t : t + 1] @ (S[: t + 1].adjoint @ S[: t + 1]) for t in range(length)]
    return dict(
        gradient=slopes[-1], correlation=(S[1:].each(lambda part: part.T) @ S[:-1].conj).stacked,
        outputs=outputs.stacked, stepped=jnp.concatenate([row.stacked for row in moved], axis=1),
        plain=eta * jnp.concatenate([row.stacked for row in plain], axis=1),
    )


ANY, ORTHOGONAL = range(2)


class Context(eqx.Module):
    """A first token, the matrix that makes the next ones, and how the head departs from the theorem's."""

    W: jax.Array
    start: jax.Array
    before: jax.Array
    eta: jax.Array
    options: tuple


def contexts(key, d, kind, before, augmented, masked, start):
    raw, first, zeroth = (
        jax.random.normal(named(key, name), shape) for name, shape in (("W", (2, d, d)), ("s", (2, d)), ("0", (2, d)))
    )
    skew = raw[0] - raw[0].T
    turned = jnp.stack([jnp.linalg.solve(jnp.eye(d) - skew, jnp.eye(d) + skew), jnp.zeros((d, d))])
    W = jnp.where(kind == ORTHOGONAL, turned, raw / jnp.sqrt(2 * d))
    eta = jax.random.uniform(named(key, "eta"), minval=0.1, maxval=1.0)
    return Context(W, first, before * zeroth, eta, (augmented, masked, start))


def observe(context, T):
    rows, W = [unstacked(context.start)], unstacked(context.W)
    for _ in range(T - 1):
        rows.append(W @ rows[-1])
    tokens = jnp.stack([row.stacked for row in rows], axis=1)
    return run(tokens, context.eta, context.before, *context.options)


@settles(gradient, step)
def generic_tokens(claim):
    """Any complex tokens, whether or not they follow from each other; d = 2, contexts of three and of four."""
    eta = np.array(sympify(Symbol("eta", real=True)), dtype=object)
    for length in (3, 4):
        tokens, zeros = generic_pair("s", length, 2), np.array([[sympify(0)] * 2] * 2, dtype=object)
        yield Instance(claim, f"T = {length}", run, tokens, eta, zeros, 1, 1, 0)


whole = Subject(contexts, kind=ANY, before=0.0, augmented=1.0, masked=1, start=0.0)
theorem = Theorem(
    place="augmented tokens, one gradient step; reconstructed from the abstract and public summaries",
    label="reconstructed",
    hypotheses=H,
    claims=dict(gradient=gradient, step=step),
    proofs=(generic_tokens,),
    experiments=dict(
        contexts=Experiment(observe, seen, {T: (3, 6)}, at=({d: 2}, {d: 5}), draws=Efforts(2, 4, 12), subjects={
            "any complex W": whole,
            "orthogonal W": whole(kind=ORTHOGONAL),
            "keys s_t": whole(augmented=0.0).breaking(H.augmented, fails=step),
            "another token before the first": whole(before=1.0).breaking(H.start, fails=step),
            "attention to all positions": whole(masked=0).breaking(H.causal, fails=step),
            "a step from the identity": whole(start=1.0).breaking(H.zero, fails=(gradient, step)),
        }),
    ),
    issues=(
        "The shift that makes augmented tokens is given, as in the paper's summaries; no layer computes it here.",
        "This theorem is of given weights; ical_augmented_optimum asks whether training leads to them.",
    ),
)
