"""The falsifier on bounds of known truth: what it refutes, what plain draws refute, and what it costs.

    python -m benchmarks.falsifier [--effort quick] [NAME ...]

Each row is a theorem of one claim. A true bound that is refuted is a fault of the engine; a false one that stays green is
a miss. True bounds are hard on purpose: equality by rounding, points where a program is singular, violations on sets of
measure zero, samplers whose support ends, functions that are no number elsewhere.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jax import random

from theorax.decide.findings import Finding
from theorax.decide.status import Status
from theorax.language import Experiment, Identity, Inequality, Measured, Relative, Size, Subject, Theorem
from theorax.numerics.keys import named
from theorax.verifiers.settings import Settings
from theorax.verifiers.theorem_check import observe_theorem

norm = jnp.linalg.norm
DRAWS, INSTANCES = 300, 208


@dataclass(frozen=True)
class Bound:
    """``sides(model)``: the smaller and the larger side of one draw; ``build(key, n)`` its model."""

    name: str
    build: Callable[..., Any]
    sides: Callable[[Any], tuple[Any, Any]]
    size: int
    dtype: Literal["float32", "float64"] = "float64"
    identity: bool = False

    @property
    def theorem(self) -> Theorem:
        """The bound as a theorem of one claim."""
        n = Size("n", "size")
        left, right = (Measured(name, f"the {name} side", array=self.identity) for name in ("left", "right"))
        margin = Relative(1, 10**9, "rounding stays below it")
        claim = Identity(left, right, margin=margin) if self.identity else Inequality(left, at_most=right)

        def observe(model: Any) -> dict[str, Any]:
            return dict(zip(("left", "right"), self.sides(model), strict=True))

        experiment = Experiment(
            observe,
            (left, right),
            {n: (self.size,)},
            subjects={"drawn": Subject(self.build)},
            dtype=self.dtype,
            platform="cpu",
            draws=INSTANCES if self.identity else DRAWS,
        )
        return Theorem(label="own", claims={"bound": claim}, experiments={"e": experiment})


def normal(*shape: Any) -> Callable[..., Any]:
    """Normal numbers of this shape, in which "n" stands for the size."""
    return lambda key, n: random.normal(key, tuple(n if part == "n" else part for part in shape))


def _lipschitz(function: Callable[[Any], Any], constant: float) -> Callable[[Any], tuple[Any, Any]]:
    return lambda m: (norm(function(m[0]) - function(m[1])), constant * norm(m[0] - m[1]))


def _convex(function: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, Any]]:
    return lambda m: (function((m[0] + m[1]) / 2), (function(m[0]) + function(m[1])) / 2)


def _radius(a: Any) -> Any:
    return jnp.max(jnp.abs(jnp.linalg.eigvals(a)))


def _spectral(a: Any) -> Any:
    return norm(a, ord=2)


def _nuclear(a: Any) -> Any:
    return jnp.sum(jnp.linalg.svd(a, compute_uv=False))


def _stable_rank(a: Any) -> Any:
    return norm(a) ** 2 / _spectral(a) ** 2


def _entropy(x: Any) -> Any:
    return -jnp.sum(jax.nn.softmax(x) * jax.nn.log_softmax(x))


def _symmetric(a: Any) -> Any:
    return (a + a.T) / 2


def _top(a: Any) -> Any:
    return jnp.linalg.eigvalsh(_symmetric(a))[-1]


def _attention(x: Any) -> Any:
    return jax.nn.softmax(x @ x.T, axis=-1) @ x


def _layer_norm(x: Any) -> Any:
    return (x - jnp.mean(x)) / jnp.sqrt(jnp.var(x) + 1e-5)


def _squares(m: Any) -> tuple[Any, Any]:
    a, v = m[0] @ m[0].T / len(m[0]), m[1][0]
    b = a + jnp.outer(v, v)
    return jnp.zeros(()), jnp.linalg.eigvalsh(b @ b - a @ a)[0] + 2.0


def _kl(m: Any) -> tuple[Any, Any]:
    p, q = jax.nn.log_softmax(m[0]), jax.nn.log_softmax(m[1])
    return jnp.zeros(()), jnp.sum(jnp.exp(p) * (p - q))


def _shared(key: Any, n: int) -> tuple[Any, Any, Any]:
    return (
        random.normal(named(key, "W"), (n,)),
        random.normal(named(key, "W"), (n,)),
        random.normal(named(key, "x"), (n,)),
    )


def _scanned(key: Any, n: int) -> Any:
    def turn(x: Any, key: Any) -> tuple[Any, None]:
        return jnp.tanh(x + random.normal(key)), None

    return jax.lax.scan(turn, jnp.zeros(()), random.split(key, n))[0]


FALSE = (
    Bound("softmax is Lipschitz with 1/4", normal(2, "n"), _lipschitz(jax.nn.softmax, 0.25), 16),
    Bound("softmax is Lipschitz with 1/4, large", normal(2, "n"), _lipschitz(jax.nn.softmax, 0.25), 256),
    Bound("GELU is Lipschitz with 1.1", normal(2, "n"), _lipschitz(jax.nn.gelu, 1.1), 16),
    Bound("SiLU is Lipschitz with 1.05", normal(2, "n"), _lipschitz(jax.nn.silu, 1.05), 16),
    Bound("attention is Lipschitz with n", normal(2, "n", 3), _lipschitz(_attention, 8.0), 8),
    Bound("layer norm is Lipschitz with 2", normal(2, "n"), _lipschitz(_layer_norm, 2.0), 16),
    Bound(
        "the spectral radius is subadditive",
        normal(2, "n", "n"),
        lambda m: (_radius(m[0] + m[1]), _radius(m[0]) + _radius(m[1])),
        16,
    ),
    Bound(
        "the spectral radius is submultiplicative",
        normal(2, "n", "n"),
        lambda m: (_radius(m[0] @ m[1]), 8 * _radius(m[0]) * _radius(m[1])),
        8,
    ),
    Bound(
        "|AB|_F <= |A| |B|",
        normal(2, "n", "n"),
        lambda m: (norm(m[0] @ m[1]), 1.5 * _spectral(m[0]) * _spectral(m[1])),
        8,
    ),
    Bound(
        "the stable rank is subadditive",
        normal(2, "n", "n"),
        lambda m: (_stable_rank(m[0] + m[1]), _stable_rank(m[0]) + _stable_rank(m[1])),
        8,
    ),
    Bound(
        "a low norm is small: |A| <= 3/4 |A|_F",
        normal("n", "n"),
        lambda m: (_spectral(m), 0.75 * norm(m)),
        6,
    ),
    Bound("|A|_* <= .97 sqrt(n) |A|_F", normal("n", "n"), lambda m: (_nuclear(m), 0.97 * len(m) ** 0.5 * norm(m)), 6),
    Bound("|x|_1 <= .9 sqrt(n) |x|_2", normal("n"), lambda m: (jnp.sum(jnp.abs(m)), 0.9 * len(m) ** 0.5 * norm(m)), 64),
    Bound("|x|_max <= .8 |x|_2", normal("n"), lambda m: (jnp.max(jnp.abs(m)), 0.8 * norm(m)), 32),
    Bound("the entropy is at most .99 log n", normal("n"), lambda m: (_entropy(m), 0.99 * jnp.log(float(len(m)))), 32),
    Bound(
        "|det A| is at most .9 times Hadamard's bound",
        normal("n", "n"),
        lambda m: (jnp.abs(jnp.linalg.det(m)), 0.9 * jnp.prod(norm(m, axis=1))),
        5,
    ),
    Bound("A <= B gives A^2 <= B^2 + 2", normal(2, "n", "n"), _squares, 4),
    Bound(
        "Swish of a mean is at most the mean",
        lambda key, n: 0.3 * random.normal(key, (2, n)) + 0.2,
        _convex(lambda x: jnp.sum(jax.nn.silu(2 * x))),
        16,
    ),
    Bound(
        "GELU is monotone",
        lambda key, n: 0.2 * random.normal(key, (2, n)),
        lambda m: (jnp.sum(jax.nn.gelu(jnp.minimum(m[0], m[1]))), jnp.sum(jax.nn.gelu(jnp.maximum(m[0], m[1])))),
        4,
    ),
    Bound(
        "the norm of a product is that of its factors",
        normal(2, "n"),
        lambda m: (norm(m[0] * m[1]), 0.7 * norm(m[0]) * norm(m[1])),
        24,
    ),
    Bound(
        "ReLU is what it is below four",
        normal("n"),
        lambda m: (jax.nn.relu(m), jnp.clip(m, 0.0, 4.0)),
        4,
        identity=True,
    ),
)
"""False bounds, most of which no plain draw violates."""

TRUE = (
    Bound("softmax is Lipschitz with 1/2", normal(2, "n"), _lipschitz(jax.nn.softmax, 0.5), 16),
    Bound("tanh is Lipschitz with 1", normal(2, "n"), _lipschitz(jnp.tanh, 1.0), 16),
    Bound("ReLU is Lipschitz with 1", normal(2, "n"), _lipschitz(jax.nn.relu, 1.0), 16),
    Bound("GELU is Lipschitz with 1.13", normal(2, "n"), _lipschitz(jax.nn.gelu, 1.13), 8),
    Bound("the norm is subadditive", normal(2, "n"), lambda m: (norm(m[0] + m[1]), norm(m[0]) + norm(m[1])), 8),
    Bound("Cauchy and Schwarz", normal(2, "n"), lambda m: (jnp.abs(m[0] @ m[1]), norm(m[0]) * norm(m[1])), 8),
    Bound("|AB|_F <= |A| |B|_F", normal(2, "n", "n"), lambda m: (norm(m[0] @ m[1]), _spectral(m[0]) * norm(m[1])), 6),
    Bound(
        "|AB| <= |A| |B|", normal(2, "n", "n"), lambda m: (_spectral(m[0] @ m[1]), _spectral(m[0]) * _spectral(m[1])), 6
    ),
    Bound(
        "|A + B|_* <= |A|_* + |B|_*",
        normal(2, "n", "n"),
        lambda m: (_nuclear(m[0] + m[1]), _nuclear(m[0]) + _nuclear(m[1])),
        5,
    ),
    Bound("the spectral radius is at most the norm", normal("n", "n"), lambda m: (_radius(m), _spectral(m)), 8),
    Bound("AB and BA have one radius", normal(2, "n", "n"), lambda m: (_radius(m[0] @ m[1]), _radius(m[1] @ m[0])), 6),
    Bound("Weyl", normal(2, "n", "n"), lambda m: (_top(m[0] + m[1]), _top(m[0]) + _top(m[1])), 6),
    Bound("Hadamard", normal("n", "n"), lambda m: (jnp.abs(jnp.linalg.det(m)), jnp.prod(norm(m, axis=1))), 5),
    Bound(
        "the condition is at least one",
        normal("n", "n"),
        lambda m: (jnp.ones(()), _spectral(m) * _spectral(jnp.linalg.inv(m))),
        5,
    ),
    Bound(
        "the inverse is an inverse",
        normal("n", "n"),
        lambda m: (norm(m @ jnp.linalg.inv(m) - jnp.eye(len(m))), 1e-6 * jnp.ones(())),
        4,
    ),
    Bound(
        "solve and the inverse agree",
        normal("n", "n"),
        lambda m: (jnp.linalg.solve(m, m[0]), jnp.linalg.inv(m) @ m[0]),
        4,
        identity=True,
    ),
    Bound(
        "the stable rank is at most n", normal("n", "n"), lambda m: (_stable_rank(m), float(len(m)) * jnp.ones(())), 5
    ),
    Bound("|A|_* <= sqrt(n) |A|_F", normal("n", "n"), lambda m: (_nuclear(m), len(m) ** 0.5 * norm(m)), 5),
    Bound("a unit vector has norm one", normal("n"), lambda m: (norm(m / norm(m)), jnp.ones(())), 6),
    Bound("sin^2 + cos^2 <= 1", normal("n"), lambda m: (jnp.max(jnp.sin(m) ** 2 + jnp.cos(m) ** 2), jnp.ones(())), 6),
    Bound(
        "log sum exp is at most max + log n",
        normal("n"),
        lambda m: (jax.nn.logsumexp(m), jnp.max(m) + jnp.log(float(len(m)))),
        8,
    ),
    Bound("the maximum is at most log sum exp", normal("n"), lambda m: (jnp.max(m), jax.nn.logsumexp(m)), 8),
    Bound("log sum exp is convex", normal(2, "n"), _convex(jax.nn.logsumexp), 8),
    Bound("means", normal("n"), lambda m: (jnp.exp(jnp.mean(m)), jnp.mean(jnp.exp(m))), 8),
    Bound("the entropy is at most log n", normal("n"), lambda m: (_entropy(m), jnp.log(float(len(m)))), 8),
    Bound("the relative entropy is not negative", normal(2, "n"), _kl, 8),
    Bound(
        "log x <= x - 1",
        lambda key, n: jnp.abs(random.normal(key, (n,))),
        lambda m: (jnp.sum(jnp.log(m)), jnp.sum(m - 1)),
        4,
    ),
    Bound(
        "the slope of the sigmoid is at most 1/4",
        normal("n"),
        lambda m: (jnp.max(jax.nn.sigmoid(m) * jax.nn.sigmoid(-m)), jnp.asarray(0.25)),
        6,
    ),
    Bound("no entry is zero", normal("n"), lambda m: (len(m) * norm(m), jnp.sum(m != 0.0) * norm(m)), 6),
    Bound(
        "no two entries are equal",
        normal("n"),
        lambda m: (len(m) * norm(m), (1 + jnp.sum(jnp.diff(jnp.sort(m)) > 0)) * norm(m)),
        6,
    ),
    Bound(
        "a matrix has full rank", normal("n", "n"), lambda m: (len(m) * norm(m), jnp.linalg.matrix_rank(m) * norm(m)), 4
    ),
    Bound(
        "uniform numbers are below one",
        lambda key, n: random.uniform(key, (n,)),
        lambda m: (jnp.max(m), jnp.ones(())),
        6,
    ),
    Bound(
        "exponential numbers are not negative",
        lambda key, n: random.exponential(key, (n,)),
        lambda m: (jnp.zeros(()), jnp.min(m)),
        6,
    ),
    Bound(
        "a half-normal number is not negative",
        lambda key, n: jnp.abs(random.normal(key, (n,))),
        lambda m: (jnp.zeros(()), jnp.min(m)),
        6,
    ),
    Bound(
        "a truncated number stays inside",
        lambda key, n: random.truncated_normal(key, -1.0, 2.0, (n,)),
        lambda m: (jnp.max(m), 2.0 * jnp.ones(())),
        6,
    ),
    Bound(
        "probabilities add up",
        lambda key, n: jnp.exp(random.normal(named(key, "a"))) * random.dirichlet(named(key, "p"), jnp.ones(n)),
        lambda m: (jnp.max(m), jnp.sum(m)),
        5,
    ),
    Bound("two nets with one set of weights", _shared, lambda m: (norm(m[0] - m[1] + 1e-3 * m[2]), norm(m[2])), 6),
    Bound(
        "softmax adds up, in float32",
        normal("n"),
        lambda m: (jnp.sum(jax.nn.softmax(m)), jnp.ones(())),
        16,
        dtype="float32",
    ),
    Bound("a state stays below one", _scanned, lambda m: (jnp.abs(m), jnp.ones(())), 6),
    Bound(
        "a masked root",
        normal("n"),
        lambda m: (jnp.sum(jnp.where(m > 0, jnp.sqrt(m), 0.0)), jnp.sum(1 + jnp.abs(m))),
        6,
    ),
    Bound(
        "a row of attention",
        normal("n", 3),
        lambda m: (jnp.max(norm(_attention(m), axis=1)), jnp.max(norm(m, axis=1))),
        5,
    ),
    Bound("Parseval", normal("n"), lambda m: (norm(jnp.fft.fft(m)), len(m) ** 0.5 * norm(m)), 8),
)
"""True bounds, each hard to tell from a false one at some point."""


class Uncounted:
    """A log that counts no attempt: every bound is checked at the level of a first one."""

    def begin(self, version: object) -> None:
        """Log nothing."""

    def finish(self, statuses: object) -> None:
        """Log nothing."""

    def next_number(self, version: object, seed: int) -> int:
        """The first."""
        return 1


@dataclass(frozen=True)
class Answer:
    """What came of one bound: its word, that of its draws alone, evaluations, share of the bound, CPU seconds."""

    word: str
    by_draws: str
    evaluations: int
    share: float | None
    seconds: float
    cost: float
    note: str


def answer(bound: Bound, effort: str) -> Answer:
    """Check the bound as a theorem, and measure the search alone."""
    from theorax.verifiers.attacks import witnesses

    spent = [0.0]
    searched = witnesses.WitnessSearch.searched

    def timed(self: Any, *arguments: Any) -> Any:
        begun = time.process_time()
        try:
            return searched(self, *arguments)
        finally:
            spent[0] += time.process_time() - begun

    witnesses.WitnessSearch.searched = timed  # type: ignore[method-assign, assignment]
    begun = time.process_time()
    try:
        value = bound.theorem
        found = observe_theorem("falsifier", Settings(effort=effort, state="/tmp"), Uncounted(), value=value)
    finally:
        witnesses.WitnessSearch.searched = searched  # type: ignore[method-assign]
    (claim,) = found.outcome.claims
    kinds = {part.finding for part in claim.findings}
    plain = "green" if kinds & {Finding.TEST_SUPPORTED, Finding.INSTANCES, Finding.CERTIFICATE} else "open or red"
    seen = claim.searched
    return Answer(
        claim.status.value,
        plain,
        seen.evaluations if seen else 0,
        seen.share if seen else None,
        time.process_time() - begun,
        spent[0],
        (seen.why_not if seen else "no search was due") or "",
    )


def main(arguments: list[str]) -> int:
    """Print both tables; 1 if a true bound is refuted."""
    effort = "quick"
    if arguments[:1] == ["--effort"]:
        effort, arguments = arguments[1], arguments[2:]
    wrong = 0
    for title, rows, truth in (("False bounds", FALSE, False), ("True bounds", TRUE, True)):
        asked = tuple(row for row in rows if not arguments or row.name in arguments)
        if not asked:
            continue
        print(
            f"{title}, effort {effort}\n{'':52} {'word':13} {'draws alone':12} {'evaluations':>11} {'share':>7} {'search':>8}"
        )
        found = []
        for row in asked:
            each = answer(row, effort)
            found.append(each)
            share = "" if each.share is None else f"{each.share:.3g}"
            line = (
                f"{row.name:52} {each.word:13} {each.by_draws:12} {each.evaluations:11} {share:>7} {each.cost:6.2f} s"
            )
            print(f"{line}  {each.note}".rstrip(), flush=True)
        refuted = sum(each.word == Status.REFUTED.value for each in found)
        plain = sum(each.by_draws != "green" for each in found)
        costs = sorted(each.cost for each in found)
        print(
            f"refuted: {refuted} of {len(asked)}; not green by draws alone: {plain} of {len(asked)}. "
            f"CPU seconds of a search: median {costs[len(costs) // 2]:.2f}, largest {costs[-1]:.2f}\n"
        )
        wrong += refuted if truth else 0
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
