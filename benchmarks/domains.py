"""One program in several arithmetics: what an evaluation costs, and what tells a true identity from a false one.

    python benchmarks/domains.py [--replicates 200] [--only times|identities|probe]

Times are CPU-seconds of this process on one core, tracing included, the least of three runs; nan where a domain cannot
follow the program. The identity is |A + B|^2 = |A|^2 + 2 <A, B> + |B|^2 for Gaussian A and B of 64 entries with
B = -A + level * noise, its right side multiplied by 1 + delta; ``allclose`` is numpy's with its default tolerances, in
either dtype. The columns of theorax are the shares of draws on which fields and balls agree, and on which
`exact.identity` certifies.
"""

# ruff: noqa: E402  (thread counts are read when the libraries are imported)
import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[name] = "1"
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"
os.environ["JAX_PLATFORMS"] = "cpu"
CORES = os.cpu_count()
if "sched_setaffinity" in dir(os):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import argparse
import platform
import random
import time
from functools import partial

import equinox as eqx
import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np

from theorax import exact
from theorax.exact.identity_ladder import in_balls, in_fields
from theorax.exact.program_identity import problem_of
from theorax.numerics.arithmetics import (
    Ball,
    Degree,
    FiniteField,
    RunningError,
    UndecidedComparison,
    UnsupportedPrimitive,
    evaluate,
)
from theorax.numerics.arithmetics.running_error import library_ulps, probed

WIDTH = 16
TOKENS = 8


class Layer(eqx.Module):
    """Normalised tokens, softmax attention and a perceptron of one hidden layer, each added to what it reads."""

    norm: eqx.nn.LayerNorm
    query: jax.Array
    key: jax.Array
    perceptron: eqx.nn.MLP

    def __init__(self, width, key):
        keys = jax.random.split(key, 3)
        self.norm = eqx.nn.LayerNorm(width)
        self.query, self.key = (jax.random.normal(k, (width, width)) / width for k in keys[:2])
        self.perceptron = eqx.nn.MLP(width, width, width, 1, activation=jnp.tanh, key=keys[2])

    def __call__(self, tokens):
        normed = jax.vmap(self.norm)(tokens)
        tokens = tokens + jax.nn.softmax(normed @ self.query @ (normed @ self.key).T, axis=-1) @ normed
        return tokens + jax.vmap(self.perceptron)(tokens)


def programs():
    """Name, program, arguments: the leaves of the models are inputs, as in a certificate for all weights."""
    draws = np.random.default_rng(0)
    mlp = eqx.nn.MLP(WIDTH, WIDTH, WIDTH, 2, activation=jnp.tanh, key=jax.random.key(0))
    layers = tuple(Layer(WIDTH, key) for key in jax.random.split(jax.random.key(1), 2))
    polynomial = eqx.nn.MLP(WIDTH, WIDTH, WIDTH, 2, activation=jnp.square, key=jax.random.key(0))
    x, tokens = draws.normal(size=WIDTH), draws.normal(size=(TOKENS, WIDTH))

    def network(layers, tokens):
        for layer in layers:
            tokens = layer(tokens)
        return tokens

    def energy(model, x):
        return jnp.sum(model(x) ** 2)

    yield "perceptron, two layers, tanh", lambda m, x: m(x), (mlp, x)
    yield "its gradient in all weights", eqx.filter_grad(energy), (mlp, x)
    yield "its Hessian in the input", lambda m, x: jax.hessian(lambda y: energy(m, y))(x), (mlp, x)
    yield f"transformer, two layers, {TOKENS} tokens", network, (layers, tokens)
    yield "its gradient in all weights", eqx.filter_grad(lambda m, x: jnp.sum(network(m, x) ** 2)), (layers, tokens)
    yield "perceptron, two layers, squares", lambda m, x: m(x), (polynomial, x)


def seconds(call):
    """The best CPU time of three calls."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best


def followed(program, arguments, domain):
    """The time of an evaluation; no number where the domain cannot follow the program."""
    try:
        return seconds(partial(evaluate, program, arguments, domain))
    except (UnsupportedPrimitive, UndecidedComparison):
        return float("nan")


def carried(arguments, carry):
    """The arguments with their floats as carriers of a domain."""
    return jax.tree_util.tree_map(lambda leaf: carry(leaf) if eqx.is_inexact_array(leaf) else leaf, arguments)


def times():
    """What evaluating networks costs in each domain."""
    print(f"evaluation of Equinox networks of width {WIDTH}, CPU-seconds")
    print(
        f"{'program':<40} {'ball 128':>9} {'ball 256':>9} {'error f64':>9} {'field':>9} {'field+exp':>9} {'degree':>9}"
    )
    draws = random.Random(0)
    for name, program, arguments in programs():
        row = []
        for domain in (Ball(128), Ball(256), RunningError("float64")):
            row.append(followed(program, arguments, domain))
        for exponentials in (False, True):
            field = FiniteField.drawn(draws, exponentials)
            given = carried(arguments, lambda leaf, field=field: field.random(np.shape(leaf), draws))
            row.append(followed(program, given, field))
        given = carried(arguments, lambda leaf: Degree().variables(np.shape(leaf)))
        row.append(followed(program, given, Degree()))
        print(f"{name:<40} " + " ".join(f"{entry:>9.3f}" for entry in row), flush=True)


def left(A, B):
    """The square of the sum, summed."""
    return jnp.sum((A + B) ** 2)


def right(factor, A, B):
    """The same written out, off by a factor."""
    return (jnp.sum(A**2) + 2 * jnp.sum(A * B) + jnp.sum(B**2)) * factor


def identities(replicates):
    """How often an identity that is off by a little passes: allclose in two precisions, fields, balls."""
    fewer = max(10, replicates // 10)
    print(f"\nshare of draws on which the identity passes; allclose on {replicates} draws, theorax on {fewer}")
    print(
        f"{'level':>7} {'delta':>8} {'allclose32':>10} {'allclose64':>10} {'fields':>7} {'balls':>6} "
        f"{'identity':>8} {'ms each':>8}"
    )
    for level in (1.0, 1e-3, 1e-6):
        for delta in (0.0, 1e-4, 1e-6, 1e-8, 1e-12, 2.0**-52):
            draws = np.random.default_rng([int(-np.log10(level)), int(delta * 2**60) % 2**31])
            close = {np.float32: 0, np.float64: 0}
            for _ in range(replicates):
                A = draws.normal(size=64)
                B = -A + level * draws.normal(size=64)
                for dtype in close:
                    a, b = A.astype(dtype), B.astype(dtype)
                    one = np.sum((a + b) ** 2)
                    other = (np.sum(a**2) + 2 * np.sum(a * b) + np.sum(b**2)) * dtype(1 + delta)
                    close[dtype] += bool(np.allclose(one, other))
            passed, spent = np.zeros(3, int), 0.0
            scaled = partial(right, 1 + delta)
            for number in range(fewer):
                A = draws.normal(size=64)
                at = (A, -A + level * draws.normal(size=64))
                problem, _ = problem_of(left, scaled, at, None, str(number))
                ((seed, generic),) = problem.generic
                passed[0] += in_fields(generic, seed).equal is True
                passed[1] += in_balls([point.sides for point in problem.points]).narrow
                start = time.process_time()
                passed[2] += exact.identity(left, scaled, at=at).status == "CERTIFIED"
                spent += time.process_time() - start
            shares = " ".join(f"{count / replicates:>10.3f}" for count in close.values())
            mine = passed / fewer
            print(
                f"{level:>7.0e} {delta:>8.1e} {shares} {mine[0]:>7.2f} {mine[1]:>6.2f} {mine[2]:>8.2f} "
                f"{1e3 * spent / fewer:>8.1f}",
                flush=True,
            )


def probe():
    """The errors of library functions, as measured here and as allowed."""
    start = time.process_time()
    found = probed()
    print(
        f"\nerrors of library functions, ulps, float32 / float64; probed in {time.process_time() - start:.2f} CPU-seconds"
    )
    for name, errors in found.items():
        allowed = [2 * library_ulps(name, dtype) for dtype in ("float32", "float64")]
        print(f"{name:<9} measured {errors[0]:6.2f} {errors[1]:7.2f}   allowed {allowed[0]:6.2f} {allowed[1]:7.2f}")


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--only", choices=("times", "identities", "probe"))
    options = parser.parse_args()
    versions = f"python {platform.python_version()}, jax {jax.__version__}"
    print(f"{CORES}-core {platform.machine()} CPU, one core used, one thread; {versions}")
    if options.only in (None, "times"):
        times()
    if options.only in (None, "identities"):
        identities(options.replicates)
    if options.only in (None, "probe"):
        probe()


if __name__ == "__main__":
    main()
