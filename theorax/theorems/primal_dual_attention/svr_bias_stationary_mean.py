"""The constraint that the bias brings is that the values have mean zero under the stationary law of the self-attention.

**Theorem.** Let s = sum_l phi(k_l), h_l = phi(k_l).s, pi_l = h_l/sum h,
f(k_l) = W phi(k_l)/h_l + b, with W and b from the primal program and g the difference of the primal
and the dual value. If b is a variable, then |W s|^2 <= 2 g sum h and
|sum_l pi_l f(k_l) - b|^2 <= 2 g/sum h. If b is held at zero, Gaussian keys and targets give
|W s|^2 >= 1/10^6 with a probability of at least 9/10 (measured).

**Idea.** Stationarity in b says sum_j beta_j = sum_j h_j v_j = 0: the values have mean zero under
pi, the stationary law of the self-attention (attention_stationary_law). In terms of W,
sum_j h_j v_j = W s and |s|^2 = sum h. So W* s = 0 at the optimum, and |W - W*|^2 <= 2 g. As sum_l
h_l (f(k_l) - b) = W s, b is the stationary mean of the outputs. The variable b does not enlarge the
class of functions; it changes what is penalised. Without it nothing centres the values.
"""

from typing import Any

from sympy import Rational, symbols

from theorax.language import *
from theorax.theorems.primal_dual_attention import _regression as setting
from theorax.theorems.primal_dual_attention._regression import FEATURES, LINEAR, TAYLOR, C, D, N, eps

seen = arrays(
    total="W sum_l phi(k_l), squared and summed over the outputs, W of the primal program",
    unweighted="sum_j v_j, squared and summed over the outputs",
    mass="sum_j h_j, which is |sum_l phi(k_l)|^2",
    gap="primal less dual value",
    miss="sum_l pi_l f(k_l) - b, squared and summed over the outputs",
    by_mean="the plain mean of f(k_l), less b, squared and summed over the outputs",
)

H = hypotheses(free="b is a variable of the program", fixed="b is held at zero")
centred = Inequality(
    seen.total, at_most=2 * seen.gap * seen.mass, under=H.free, wrong={"without weights": dict(of=seen.unweighted)},
)
bias_is_mean = Inequality(
    seen.miss, at_most=2 * seen.gap / seen.mass, under=H.free, wrong={"by the plain mean": dict(of=seen.by_mean)},
)
# A sum of order one, as wide apart as its law is: below a thousandth it would pass for none.
not_centred = Inequality(
    seen.total, at_least=Rational(1, 10**6), under=H.fixed, content=Rational(1, 10),
    wrong={"centred": dict(at_least=None, at_most=2 * seen.gap * seen.mass)},
)


def solved(key, N, D, C, eps, kind, bias):
    return setting.fit(FEATURES[int(kind)], *setting.points(key, N, D), C, eps, bias)


def values(fitted, C, eps):
    h, f, b = fitted.h, fitted.regression(fitted.keys), fitted.primal.b
    squared = lambda x: (x**2).sum()
    return dict(
        total=squared(fitted.primal.W @ fitted.kernel(fitted.keys).sum(0)),
        unweighted=squared(fitted.attention.values.sum(0)),
        mass=h.sum(),
        gap=fitted.above(C, eps) - fitted.below(C, eps),
        miss=squared(h / h.sum() @ f - b),
        by_mean=squared(f.sum(0) / len(f) - b),
    )


@lemma
def centring():
    """Three keys: what stationarity in b says of the values."""
    h, v = symbols("h_1:4"), symbols("v_1:4")
    total = sum(x * y for x, y in zip(h, v, strict=True))
    pi = [x / sum(h) for x in h]
    c: Any = sum(p * y for p, y in zip(pi, v, strict=True))
    left: Any = sum(x * (y - c) for x, y in zip(h, v, strict=True))
    yield Step("centred values satisfy it", left, 0)
    yield Step("it is the stationary mean, times sum h", c * sum(h), total)
    f, g, w = symbols("f_1:4"), symbols("g_1:4"), symbols("w_1:3")
    s = (sum(f), sum(g))
    rows = [(x / (x * s[0] + y * s[1]), y / (x * s[0] + y * s[1])) for x, y in zip(f, g, strict=True)]
    yield Step("two features: every row has the product 1 with s", [x * s[0] + y * s[1] for x, y in rows], [1, 1, 1])
    kernel: Any = sum(x * z + y * u for x, y in zip(f, g, strict=True) for z, u in zip(f, g, strict=True))
    yield Step("|s|^2 is the sum of the kernel, sum h", kernel, s[0] ** 2 + s[1] ** 2)
    mean: Any = sum((x * s[0] + y * s[1]) * (w[0] * r[0] + w[1] * r[1]) for x, y, r in zip(f, g, rows, strict=True))
    yield Step("the outputs, less b, weighed by h, are W s", mean, w[0] * s[0] + w[1] * s[1])


free, held = (Subject(solved, kind=TAYLOR, bias=bias) for bias in (True, False))
theorem = Theorem(
    place="the bias of the expansion (derived here)",
    label="derived",
    uses=("svr_primal_dual_kkt", "attention_stationary_law"),
    hypotheses=H,
    claims=dict(centred=centred, bias_is_mean=bias_is_mean, not_centred=not_centred),
    proofs=(centring,),
    experiments=dict(
        solved=Experiment(values, seen, {N: (8, 16)}, at={D: 3, C: 30, eps: Rational(1, 10)}, draws=Efforts(3, 8, 32),
                          padded=True, subjects={
            "Taylor features": free.breaking(H.fixed, fails=not_centred),
            "linear attention": free(kind=LINEAR).breaking(H.fixed, fails=not_centred),
            "Taylor features, no bias": held.breaking(H.free, fails=(centred, bias_is_mean)),
            "linear attention, no bias": held(kind=LINEAR).breaking(H.free, fails=(centred, bias_is_mean)),
        }),
    ),
    issues=(
        "Without b the values of these draws are off centre; for some targets they would be centred.",
        "Attention has no bias as a rule; then nothing says that sum_j h_j v_j = 0, and both cannot be used together.",
    ),
)
