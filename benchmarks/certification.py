"""Boxes: how long a certificate takes, how often planted violations are found, what the two guards are worth.

Run it alone on a quiet machine: `python benchmarks/certification.py [replicates]`. Every row is one call after tracing;
`first` holds the tracing too. The power of the search is the share of replicates in which a violating ball, planted
uniformly, is found and confirmed in balls by 4096 evaluations.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from theorax.exact.branch_and_bound import certify_on_box
from theorax.exact.counterexamples import FAMILIES, search_box
from theorax.exact.enclosures import Box, Enclosure
from theorax.exact.krawczyk import critical_point
from theorax.numerics.arithmetics.custom_rules import entered

GAP = 1e-7


def motzkin(v: Any) -> Any:
    """Motzkin's polynomial: never negative, and no sum of squares."""
    x, y = v
    return x**4 * y**2 + x**2 * y**4 - 3 * x**2 * y**2 + 1


POLYNOMIALS: dict[str, tuple[Callable[[Any], Any], list[tuple[Any, Any]], int]] = {
    "Motzkin + 1e-7 on [-2, 2]^2 (four points)": (lambda v: motzkin(v) + GAP, [(-2, 2)] * 2, 200_000),
    "Motzkin - 1e-7 (false)": (lambda v: motzkin(v) - GAP, [(-2, 2)] * 2, 200_000),
    "Rosenbrock + 1e-7 on [-2, 2]^2": (
        lambda v: (1 - v[0]) ** 2 + 100 * (v[1] - v[0] ** 2) ** 2 + GAP,
        [(-2, 2)] * 2,
        200_000,
    ),
    "Himmelblau + 1e-7 on [-5, 5]^2 (four points)": (
        lambda v: (v[0] ** 2 + v[1] - 11) ** 2 + (v[0] + v[1] ** 2 - 7) ** 2 + GAP,
        [(-5, 5)] * 2,
        200_000,
    ),
    "x^2 - 2xy + y^2 + 1e-4 on [-1, 1]^2 (a line)": (
        lambda v: v[0] ** 2 - 2 * v[0] * v[1] + v[1] ** 2 + 1e-4,
        [(-1, 1)] * 2,
        200_000,
    ),
    "x^2 - 2xy + y^2 + 1e-7 on [-1, 1]^2 (a line)": (
        lambda v: v[0] ** 2 - 2 * v[0] * v[1] + v[1] ** 2 + GAP,
        [(-1, 1)] * 2,
        400_000,
    ),
    "tanh x <= x + 1e-7 on [0, 3]": (lambda v: v[0] - jnp.tanh(v[0]) + GAP, [(0, 3)], 200_000),
}


def certificates() -> None:
    """What certifying non-negativity costs: boxes, bits and seconds."""
    print(f"{'certificate':48} {'status':>12} {'boxes':>8} {'bits':>5} {'first s':>8} {'s':>8}")
    for name, (function, sides, budget) in POLYNOMIALS.items():
        began = time.perf_counter()
        enclosure, box = Enclosure(function, len(sides)), Box.of(sides)
        found = certify_on_box(enclosure, box, Fraction(0), budget)
        first = time.perf_counter() - began
        began = time.perf_counter()
        found = certify_on_box(enclosure, box, Fraction(0), budget)
        again = time.perf_counter() - began
        print(f"{name:48} {found.status:>12} {found.boxes:8d} {found.precision:5d} {first:8.2f} {again:8.2f}")


def networks() -> None:
    """Two layers of width 16 in balls of 128 bits, and the strict minimum of a fit of six parameters."""
    layers = eqx.nn.MLP(2, "scalar", 16, 2, activation=jnp.tanh, key=jax.random.key(0))
    began = time.perf_counter()
    enclosure = Enclosure(layers, 2)
    traced = time.perf_counter() - began
    sides = Box.of([(Fraction(1, 3), Fraction(1, 2))] * 2).sides
    began = time.perf_counter()
    enclosure.over(sides, 128)
    print(
        f"\ntwo hidden layers of width 16, values and slopes over a box, 128 bits: {time.perf_counter() - began:.3f} s"
    )
    print(f"  recording the program once: {traced:.3f} s")
    began = time.perf_counter()
    found = certify_on_box(enclosure, Box.of([(-1, 1)] * 2), Fraction(2), 2000)
    print(f"  at least -2 on [-1, 1]^2: {found.status}, {found.boxes} boxes, {time.perf_counter() - began:.2f} s")

    t, prior = jnp.linspace(-1.0, 1.0, 5), jnp.asarray([0.1, 0.2, 0.3, -0.1, 0.2, 0.3])

    def loss(x: Any) -> Any:
        return jnp.sum((jnp.tanh(x[:3] * t[:, None] + x[3:]).sum(1) - jnp.sin(2 * t)) ** 2) + 0.05 * jnp.sum(
            (x - prior) ** 2
        )

    from scipy.optimize import minimize

    with jax.enable_x64(True):
        at = minimize(jax.jit(loss), np.asarray(prior), jac=jax.jit(jax.grad(loss))).x
    began = time.perf_counter()
    gradient = Enclosure(jax.grad(entered(loss)), 6, 6)
    point = critical_point(gradient, [Fraction(float(x)) for x in at])
    spent = time.perf_counter() - began
    assert point is not None
    print(
        f"Krawczyk, 6 parameters, 128 bits: one critical point within {float(point.alone.radius):.2g}, a strict "
        f"{point.shape} within {float(point.near.radius):.2g}, tracing included {spent:.2f} s"
    )


def power(replicates: int) -> None:
    """The share of planted violations that the search finds with its budget, by dimension, radius and place."""
    print(f"\nplanted violations found by 4096 evaluations, {replicates} replicates")
    print(f"{'d':>3} {'radius':>7} {'where':>9} " + " ".join(f"{name:>11}" for name in (*FAMILIES, "all four")))
    rng = np.random.default_rng(20240229)
    rows = [(2, 0.02, "slope"), (2, 0.02, "plateau"), (2, 0.02, "face"), (8, 0.3, "slope"), (8, 0.3, "plateau"),
            (8, 0.3, "face"), (8, 0.1, "slope"), (8, 0.1, "plateau")]  # fmt: skip
    for dimension, radius, where in rows:
        shares = []
        for families in (*((name,) for name in FAMILIES), FAMILIES):
            hits = 0
            for _ in range(replicates):
                centre = radius + (1 - 2 * radius) * rng.random(dimension)
                if where == "face":
                    centre[0] = 0.0
                reach = 9 * radius**2 if where == "plateau" else float(dimension)

                def planted(x: Any, c: Any = centre, most: float = reach, r: float = radius) -> Any:
                    return jnp.minimum(jnp.sum((x - c) ** 2), most) - r**2

                box = Box.of([(0, 1)] * dimension)
                found = search_box(Enclosure(planted, dimension), planted, box, rng, draws=0, families=families)
                hits += found.refuted is not None
            shares.append(hits / replicates)
        print(f"{dimension:3d} {radius:7.2f} {where:>9} " + " ".join(f"{share:11.3f}" for share in shares))


def main() -> None:
    """Print every table."""
    replicates = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print(f"{os.cpu_count()} cores; load before {os.getloadavg()[0]:.1f}; Python {platform.python_version()}, "
          f"JAX {jax.__version__}")  # fmt: skip
    certificates()
    networks()
    power(replicates)


if __name__ == "__main__":
    main()
