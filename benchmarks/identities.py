"""Measure what instances and the panel of an identity let pass, beside the habit of looking near the data.

    python -m benchmarks.identities

Replicates of the first table are draws of whether an instance violates the identity, which a look at it tells for
certain; the second runs the engine on true and false identities of own programs, at draws of their inputs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from theorax.decide.inequalities import InequalityPlan
from theorax.decide.spending import level_of
from theorax.decide.status import Levels
from theorax.exact.identity_decision import decide_identity
from theorax.exact.program_identity import problem_of

RESULTS = Path(__file__).parent / "results" / "identities.txt"
REPLICATES, INPUTS = 2000, 20
SHARES = (0.0, 0.005, 0.02, 0.03, 0.09)

Program = Callable[..., Any]
TRUE: dict[str, tuple[Program, Program]] = {
    "softmax forgets a shift": (jax.nn.softmax, lambda x: jax.nn.softmax(x + 3)),
    "squares of cosh and sinh": (lambda x: jnp.cosh(x) ** 2 - jnp.sinh(x) ** 2, jnp.ones_like),
    "softplus": (lambda x: jax.nn.softplus(x) - jax.nn.softplus(-x), lambda x: x),
    "tanh of twice": (lambda x: jnp.tanh(2 * x), lambda x: 2 * jnp.tanh(x) / (1 + jnp.tanh(x) ** 2)),
    "absolute value": (lambda x: jnp.maximum(x, -x), jnp.abs),
    "sines": (lambda x: jnp.sin(2 * x), lambda x: 2 * jnp.sin(x) * jnp.cos(x)),
    "sorted twice": (jnp.sort, lambda x: jnp.sort(x[::-1])),
    "logarithm of exponentials": (lambda x: jnp.log(jnp.exp(x) ** 2), lambda x: 2 * x),
    "arc tangent": (lambda x: jnp.arctan(-x), lambda x: -jnp.arctan(x)),
    "norm of a multiple": (lambda x: jnp.linalg.norm(3 * x), lambda x: 3 * jnp.linalg.norm(x)),
}
FALSE: dict[str, tuple[Program, Program]] = {
    "positive part": (jax.nn.relu, lambda x: x),
    "root of a square": (lambda x: jnp.sqrt(x**2), lambda x: x),
    "logarithm of a square": (lambda x: jnp.log(x**2), lambda x: 2 * jnp.log(x)),
    "clip at ten": (lambda x: jnp.clip(x, -10, 10), lambda x: x),
    "linear sigmoid": (lambda x: jnp.clip(x / 6 + 0.5, 0, 1), lambda x: x / 6 + 0.5),
    "no zero": (lambda x: jnp.tanh(x) / jnp.tanh(x), jnp.ones_like),
}


def contents() -> list[str]:
    """How often an identity that fails on a share of the law is supported, by the number of instances."""
    level = level_of(0.025, 1)
    plan = InequalityPlan(margin=0.02, draws=4, levels=Levels(level, level))
    needed = plan.cheapest().draws
    rng = np.random.default_rng(0)
    text = [f"share violated   4 instances (habit)   4 instances (engine)   {needed} instances (engine)"]
    for share in SHARES:
        counts = []
        for draws, asked in ((4, False), (4, True), (needed, True)):
            clean = (rng.random((REPLICATES, draws)) >= share).all(axis=1).mean()
            counts.append(clean if replace(plan, draws=draws).decides or not asked else 0.0)
        text.append(f"{share:14.3f} {counts[0]:21.3f} {counts[1]:22.3f} {counts[2]:23.3f}")
    return text


def panel() -> list[str]:
    """How often true and false identities are supported at positive inputs, with the panel and near the data alone."""
    text = [f"{'':28s}{'near the data (habit)':>23s}{'with the panel':>16s}{'seconds each':>14s}"]
    for heading, table in (("true", TRUE), ("false", FALSE)):
        for name, (left, right) in table.items():
            near = full = 0
            start = 0.0
            for number in range(INPUTS):
                x = np.random.default_rng(number).random(4) + 0.1
                problem, _ = problem_of(left, right, (x,), 1e-6, name)
                near += decide_identity(replace(problem, panel=(), every_input=False)).status.holds
                before = time.process_time()
                full += decide_identity(problem).status.holds
                start += time.process_time() - before
            text.append(f"{heading + ': ' + name:34s}{near / INPUTS:17.2f}{full / INPUTS:16.2f}{start / INPUTS:14.3f}")
    return text


def main() -> None:
    """Measure, and write the tables."""
    jax.config.update("jax_enable_x64", True)
    text = [
        f"Identities: supports by instances ({REPLICATES} replicates) and at own inputs ({INPUTS} draws of four numbers).",
        "python -m benchmarks.identities",
        "",
        *contents(),
        "",
        *panel(),
    ]
    RESULTS.write_text("\n".join(text) + "\n", encoding="utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main()
