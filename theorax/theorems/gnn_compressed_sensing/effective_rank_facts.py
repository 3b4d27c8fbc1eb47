"""The effective rank er(B) = ||B||_F^2/||B||^2 lies between one and the rank, and no rotation and no factor changes it.

**Theorem.** Let B != 0 have the squared singular values q_1 >= q_2 >= ..., er(B)
= ||B||_F^2/||B||^2 and R = (sum q)^2/sum q^2. Then 1 <= er <= R <= rank B. For orthogonal U, V and
c != 0, er(c U B V) = er(B); er(B) = tr(S)/||S||, S = B^T B. If all r non-zero singular values are
equal, er = r. If s_i = i^(-a), i <= m, then er = sum_(i <= m) i^(-2a). So, as m -> oo, er
+ m^(1 - 2a)/(2a - 1) -> zeta(2a) for a > 1/2, (er - zeta(2a))/m^(1 - 2a) -> 1/(1 - 2a) for
a < 1/2, and er - log m -> 0.5772..., Euler's constant, at a = 1/2. If B is l x m with independent
standard normal entries and l = lam m, then E er(B)/m -> lam/(1 + sqrt(lam))^2.

**Idea.** er = sum q/q_1, each q_i is at most q_1, and (sum q)^2 <= rank B sum q^2. The ratio
tr(S)/||S|| is called the stable rank of B. For Gaussian B, ||B||_F^2 is near l m and ||B|| near
sqrt(l) + sqrt(m), so er is a quarter of the rank if B is square.
"""

import jax
import jax.numpy as jnp
import sympy
from sympy import Eq, EulerGamma, Rational, Sum, harmonic, log, oo, pi, sqrt, symbols, transpose, zeta

from theorax.language import *
from theorax.numerics.keys import named
from theorax.theorems.gnn_compressed_sensing import _effective_rank as setting
from theorax.theorems.gnn_compressed_sensing._effective_rank import a, i, l, m

r = Parameter("r", "number of non-zero singular values", integer=True, positive=True)
lam = Parameter("lam", "l/m", positive=True)
any_B = numbers(
    er="er(B), any B", participation="R(B)", nuclear="nuclear norm over ||B||", rank="rank of B", positive=True,
)
turned = numbers(
    moved="|er(c U B V)/er(B) - 1|", apart="|tr(S)/(||S|| er(B)) - 1|, S = B^T B", root="|tr(S) ||B||/(||S|| ||B||_F) - 1|",
)
level = numbers(equal="er of r non-zero singular values")
power = numbers(
    of_power="er of s_i = i^(-a)", unsquared="||B||_F/||B||", nuclear_ratio="nuclear norm over ||B|| of this B",
    entropic="exponential of the entropy of s_i/sum s", positive=True,
)
normal_entries = numbers(share="er(B)/m of a random B")

H = hypotheses(
    orthogonal="U and V are orthogonal",
    equal="all non-zero singular values are equal",
    power="s_i = i^(-a)",
    centred="entries of B are independent and standard normal",
)
TINY = Rational(1, 10**8)
rounding = "rounding of the singular values stays below it"
low = Inequality(any_B.er, at_least=1, under=(), wrong={"two": dict(at_least=2)})
middle = Inequality(
    any_B.er, at_most=any_B.participation, under=(),
    wrong={"the nuclear norm": dict(of=any_B.nuclear), "the root of R": dict(at_most=sqrt(any_B.participation))},
)
high = Inequality(
    any_B.participation, at_most=any_B.rank, under=(), wrong={"half the rank": dict(at_most=any_B.rank / 2)}
)
# Singular values of a dozen columns are off by some hundreds of units of the last place, 2^-53, relative to the largest.
invariant = Inequality(
    turned.moved, at_most=Rational(1, 10**10), under=H.orthogonal,
)
trace = Inequality(
    turned.apart, at_most=Rational(1, 10**10), under=(), wrong={"||B||_F/||B||": dict(of=turned.root)},
)
attained = Expectation(
    level.equal, r, under=H.equal, spread=TINY, margin=Relative(1, 10**7, f"{rounding}; r + 1 and sqrt(r) are far"),
    wrong={"the root of the rank": sqrt(r)},
)
sums = Expectation(
    power.of_power, harmonic(m, 2 * a), under=H.power, spread=TINY, margin=Relative(1, 10**7, rounding),
    wrong={
        "a for 2a, the nuclear norm's": harmonic(m, a),
        "||B||_F/||B||": dict(of=power.unsquared),
        "the nuclear norm over ||B||": dict(of=power.nuclear_ratio),
        "the rank of the entropy": dict(of=power.entropic),
    },
)
# The integral over the tail is known and slow, like m^(1 - 2a): what Euler and Maclaurin leave beside it is not.
bounded = Limit(
    power.of_power + m ** (1 - 2 * a) / (2 * a - 1), zeta(2 * a), as_=m, under=H.power, where=a > Rational(1, 2),
    spread=TINY,
    approach=Corrections(
        size=Rational(1, 50), slowest=1, fastest=4, rest=0, reference=64,
        reason="m^(-2a)/2 or less: below 0.0079 of the limit at m = 64 for every a > 1/2",
    ),
    margin=Relative(1, 100, "zeta(4a) is 7 % less at a = 2, and a third less at a = 1"),
    wrong={"zeta(4a), as of fourth powers": zeta(4 * a), "one": 1},
)
growing = Limit(
    (power.of_power - zeta(2 * a)) / m ** (1 - 2 * a), 1 / (1 - 2 * a), as_=m, under=H.power, where=a < Rational(1, 2),
    spread=TINY,
    approach=Corrections(
        size=Rational(1, 50), slowest=1, fastest=4, rest=0, reference=64,
        reason="(1 - 2a)/(2m) or less of the limit: 0.0079 at m = 64 for every a > 0",
    ),
    margin=Relative(1, 10, "1/(1 - a) is a third less at a = 1/4"),
    wrong={"1/(1 - a)": 1 / (1 - a), "one": 1},
)
border = Limit(
    power.of_power - log(m), EulerGamma, as_=m, under=H.power, where=Eq(a, Rational(1, 2)), spread=TINY,
    approach=Corrections(
        size=Rational(1, 20), slowest=1, fastest=4, rest=0, reference=64, reason="1/(2m), 0.0135 of the limit at m = 64"
    ),
    margin=Relative(1, 20, "1/2 is an eighth less"), wrong={"1/2": Rational(1, 2), "one": 1},
)
square = Limit(
    normal_entries.share, lam / (1 + sqrt(lam)) ** 2, as_=m, under=H.centred, spread=Rational(1, 30),
    approach=Corrections(
        size=Rational(1, 5), slowest=Rational(2, 3), rest=Rational(1, 50), reference=48,
        reason="the largest singular value is below its limit by a term m^(-2/3), 0.13 of the limit at m = 48 on other seeds",
    ),
    margin=Relative(1, 8, "1/2 is twice the limit for a square matrix, the rank four times"),
    wrong={"l/(l + m), the square of a sum of roots forgotten": lam / (1 + lam), "the rank": lam},
)


def observe(B):
    s = jnp.linalg.svd(B, compute_uv=False)
    found = setting.ranks(B)
    return {name: found[name] for name in ("er", "participation", "nuclear")} | dict(
        rank=jnp.sum(s > 1e-10 * s[0]) * 1.0
    )


def compare(pair):
    B, turned = pair
    before = setting.ranks(B)
    S = jnp.linalg.eigvalsh(B.T @ B)
    trace = jnp.trace(B.T @ B) / S[-1]
    off = lambda ratio: jnp.abs(ratio - 1)
    moved = off(setting.ranks(turned)["er"] / before["er"])
    return dict(moved=moved, apart=off(trace / before["er"]), root=off(trace / before["unsquared"]))


def observe_level(B):
    er = setting.ranks(B)["er"]
    return dict(equal=er, equal_error=setting.rounded(er, B))


def observe_power(B):
    found = setting.ranks(B)
    return dict(
        of_power=found["er"], of_power_error=setting.rounded(found["er"], B), unsquared=found["unsquared"],
        nuclear_ratio=found["nuclear"], entropic=found["entropic"],
    )


def normal(key, l, m, common):
    return jax.random.normal(named(key, "B"), (l, m)) + common


@derives(low)
def three_values():
    """Three squared singular values; each side is a sum of terms or pairs, whatever their number."""
    q, p, o = symbols("q p o", positive=True)  # q the largest
    total, squares = q + p + o, q**2 + p**2 + o**2
    yield Step("er less what is not negative", total / q - (p + o) / q, low.at_least)
    yield Step("R/er - 1, q_1 >= q_i", total * q / squares - 1, (p * (q - p) + o * (q - o)) / squares)
    yield Step("rank - R", 3 - total**2 / squares, ((q - p) ** 2 + (q - o) ** 2 + (p - o) ** 2) / squares)
    yield Step("rank - er, zero where all are equal", 3 - total / q, (1 - p / q) + (1 - o / q))


@lemma
def rotations():
    """Every size: S of U B V is that of B, turned."""
    U, B, V = generic_matrices("U B V")
    turned, orthogonal = U * B * V, ((transpose(U) * U, 1),)
    yield MatrixStep("U is gone", transpose(turned) * turned, transpose(V) * transpose(B) * B * V, orthogonal)


@lemma
def zeta_values():
    """a = 1 and 2, the border a = 1/2, and a = 1/4 by an integral between the sums."""
    x = sympy.Symbol("x", positive=True)
    yield Step("a = 1", Sum(i**-2, (i, 1, oo)), pi**2 / 6)
    yield Step("a = 2", Sum(i**-4, (i, 1, oo)), pi**4 / 90)
    yield Step("a = 1/2", sympy.Limit(harmonic(m) - log(m), m, oo), EulerGamma)
    whole = sympy.Integral(x ** (-2 * a), (x, 0, m)).subs(a, Rational(1, 4))
    yield Step("a = 1/4, over sqrt(m)", whole / sqrt(m), growing.to.subs(a, Rational(1, 4)))


@derives(square)
def edges():
    """Every lam: ||B||_F^2 is near l m, and ||B|| near sqrt(l) + sqrt(m)."""
    yield Cited("the largest singular value of a Gaussian matrix, over sqrt(m), tends to 1 + sqrt(lam)", "Geman 1980")
    n = sympy.Symbol("n", positive=True)
    yield Step("the quotient", sympy.Limit(lam * n**2 / (sqrt(lam * n) + sqrt(n)) ** 2 / n, n, oo), square.to)


family, law = Subject(setting.rotated_pair, skewed=0.0), Subject(setting.power_spectrum, geometric=0.0)
theorem = Theorem(
    place="effective rank (elementary; derived here)",
    label="derived",
    hypotheses=H,
    claims=dict(
        low=low, middle=middle, high=high, invariant=invariant, trace=trace, attained=attained, sums=sums, bounded=bounded,
        growing=growing, border=border, square=square,
    ),
    proofs=(three_values, rotations, zeta_values, edges),
    experiments=dict(
        matrices=Experiment(observe, any_B, {m: (4, 12)}, draws=Efforts(300, 400, 4000), subjects={
            "random B": Subject(setting.uneven_columns),
        }),
        rotations=Experiment(compare, turned, {m: (4, 12)}, draws=Efforts(250, 250, 1000), subjects={
            "rotations": family,
            "Gaussian U and V": family(skewed=1.0).breaking(H.orthogonal, fails=invariant),
        }),
        levels=Experiment(observe_level, level, {m: (8, 16)}, at=({r: 3}, {r: 7}),
                          draws=1, seeds="none", subjects={
            "equal": Subject(setting.levels, uneven=0.0),
            "unequal": Subject(setting.levels, uneven=0.5).breaking(H.equal, fails=attained),
        }),
        powers=Experiment(
            observe_power, power, {m: Efforts((64, 128, 256), (64, 128, 256), (64, 128, 256, 512))}, draws=1, seeds="none",
            at=({a: Rational(1, 4)}, {a: Rational(1, 2)}, {a: 1}, {a: 2}), subjects={
                "powers": law,
                "geometric": law(geometric=1.0).breaking(H.power, fails=(sums, bounded, growing, border)),
            }),
        gaussian=Experiment(
            lambda B, m: dict(share=setting.ranks(B)["er"] / m), normal_entries, {m: (48, 96, 192)}, derived={l: lam * m},
            at=({lam: 1}, {lam: Rational(1, 4)}), draws=Efforts(60, 100, 400), subjects={
                "normal entries": Subject(normal, common=0.0),
                "normal entries of mean one": Subject(normal, common=1.0).breaking(H.centred, fails=square),
            }),
    ),
    issues=("The rank is counted by singular values above 10^(-10) of the largest.",),
)
