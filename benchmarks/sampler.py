r"""What the sampler costs against plain ways of drawing the same: ratios side by side, printed with their settings.

A sweep: naive attention-only networks with exponential weights, width d = 2T or 5T and depth L, measured by
$\sum_{i\ge2}s_i(X_l)^4$ at every layer. Beside it: a NumPy loop over seeds that multiplies real matrices, with the same
deflation and with a full SVD. Memory: 10 000 draws of one network against ``jax.vmap``, each in a process of its own.

Run: ``python benchmarks/sampler.py``; the printed table goes to ``benchmarks/results/sampler_cpu.txt``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform as host
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

# One BLAS thread for NumPy: more of them contend for the same cores and would flatter the sampler.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

SIZES, DEPTH, DRAWS, ROUNDS = (64, 96, 128, 192, 256), 2, 32, 3
BUCKETS = {64: 64, 96: 128, 128: 128, 192: 256, 256: 256}
MANY, SMALL = 10_000, 16
WAYS = ("sampler", "sampler, batch=32", "vmap")
RESULTS = Path(__file__).parent / "results" / "sampler_cpu.txt"


def deflated(X, xp):
    """The sum of s_i^4 over i >= 2, by a converged leading pair: |X - s u v^T| in place of a difference of sums.

    The gap s_1/s_2 of these networks is about sqrt(T)/2 or more, so each of eight rounds of the power iteration shrinks
    the angle by 4/T at least: 16^-8 at T = 64.
    """
    v = xp.ones(X.shape[1], X.dtype)
    for _ in range(8):
        v = X.T @ (X @ v)
        v = v / xp.sqrt(v @ v)
    rest = X - xp.outer(X @ v, v)
    gram = rest @ rest.T
    return xp.sum(gram * gram)


def sweep_program(key, T, d, depth):
    """The measured program: law-equal T x T products."""
    import jax.numpy as jnp

    from theorax.numerics.distributions import UnitExponential
    from theorax.theorems.mind_the_gap._attention import markov_products

    M = markov_products(key, UnitExponential(), T, d, depth, sigma="1/sqrt(d)")
    return {"bulk": jnp.stack([deflated(X, jnp) for X in M])}


def small_program(key, T, d, depth):
    """The program whose memory is measured; it returns one number."""
    import jax.numpy as jnp

    from theorax.numerics.distributions import UnitExponential
    from theorax.theorems.mind_the_gap._attention import markov_products

    return {"bulk": jnp.sum(markov_products(key, UnitExponential(), T, d, depth) ** 4)}


def numpy_loop(T, d, draws, depth, full_svd):
    """What one writes first: real matrices, one seed after the other."""
    import numpy as np

    out = np.empty((draws, depth))
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        Q, R = np.linalg.qr(rng.standard_normal((d, T)))
        X = (Q * np.sign(np.diagonal(R))).T
        for layer in range(depth):
            A = rng.exponential(size=(T, T))
            A /= A.sum(1, keepdims=True)
            X = A @ X @ (rng.standard_normal((d, d)) / np.sqrt(d))
            out[seed, layer] = (np.linalg.svd(X, compute_uv=False)[1:] ** 4).sum() if full_svd else deflated(X, np)
    return out


def timed(run):
    """A result with its wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = run()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def speed(lines, widening, sampler):
    """Alternate the three ways, ROUNDS times; medians of the ratios of CPU seconds, compilation apart."""
    import numpy as np

    from theorax.numerics.extents import Extent

    def letters(T):
        return {"T": Extent(T, BUCKETS[T]), "d": Extent(widening * T, widening * BUCKETS[T]), "depth": DEPTH}

    def ours(seed):
        return [sampler.draw(sweep_program, seed, DRAWS, letters(T))["bulk"] for T in SIZES]

    before = sampler.meter
    first, _, cold = timed(lambda: ours(0))
    lines.append(f"sweep: T = {SIZES}, d = {widening}T, L = {DEPTH}, {DRAWS} draws each, float64")
    share = (sampler.meter.compile_cpu_seconds - before.compile_cpu_seconds) / cold
    lines.append(
        f"  first sweep: {sampler.meter.programs - before.programs} programs, compiled in "
        f"{sampler.meter.compile_seconds - before.compile_seconds:.1f} s, {share:.0%} of its {cold:.1f} CPU-s"
    )
    ratios, walls = {"deflation": [], "full SVD": []}, {"deflation": [], "full SVD": []}
    for number in range(1, ROUNDS + 1):
        _, wall, cpu = timed(lambda number=number: ours(number))
        for name, full in (("deflation", False), ("full SVD", True)):
            plain, plain_wall, plain_cpu = timed(
                lambda full=full: [numpy_loop(T, widening * T, DRAWS, DEPTH, full) for T in SIZES]
            )
            ratios[name].append(plain_cpu / cpu)
            walls[name].append(plain_wall / wall)
    for name in ratios:
        lines.append(
            f"  NumPy loop with {name} / sampler, compiled: {statistics.median(ratios[name]):.1f}x CPU "
            f"({min(ratios[name]):.1f} to {max(ratios[name]):.1f}), {statistics.median(walls[name]):.1f}x wall"
        )
    table = np.array([[block.mean(0), block.std(0) / np.sqrt(DRAWS)] for block in first])
    other = np.array([[block.mean(0), block.std(0) / np.sqrt(DRAWS)] for block in plain])
    z = (table[:, 0] - other[:, 0]) / np.hypot(table[:, 1], other[:, 1])
    lines.append(f"  both measure the same: largest |z| of {z.size} means {np.abs(z).max():.1f}")


def peak(way):
    """One process: bytes above what is in use after the first draw, for MANY draws by this way."""
    import jax
    import numpy as np

    from theorax.numerics import platform
    from theorax.numerics.extents import literal
    from theorax.numerics.keys import root
    from theorax.numerics.sampler import Sampler

    platform.enable()
    letters = {"T": literal(SMALL), "d": literal(2 * SMALL), "depth": DEPTH}
    if way != "vmap":
        sampler = Sampler(batch=32 if "32" in way else 1)

        def run(draws):
            return sampler.draw(small_program, 0, draws, letters)["bulk"]
    else:
        # Extents hold static sizes here: closed over, as one would write it.
        every = jax.jit(jax.vmap(lambda key: small_program(key, **letters)["bulk"]))

        def run(draws):
            return np.asarray(every(jax.vmap(lambda i: jax.random.fold_in(root(0), i))(np.arange(draws))))

    run(1)
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # The vmapped program compiles anew at this length: its compilation counts towards its seconds and is told apart.
    begun = time.process_time()
    run(MANY)
    first = time.process_time() - begun
    begun = time.process_time()
    run(MANY)
    print(
        json.dumps(
            {
                "above": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base,
                "first": first,
                "again": time.process_time() - begun,
            }
        )
    )


def memory(lines):
    """Add the memory above the base and the time of each way of drawing."""
    found = {}
    for way in WAYS:
        done = subprocess.run(
            [sys.executable, __file__, "--peak", way], capture_output=True, text=True, check=True, env=dict(os.environ)
        )
        found[way] = json.loads(done.stdout.splitlines()[-1])
    lines.append(f"memory: {MANY} draws, T = {SMALL}, d = 2T, L = {DEPTH}, one number a draw, float64")
    for way, each in found.items():
        lines.append(f"  {way}: {each['above'] / 1024:.1f} MiB above base, {each['again']:.2f} CPU-s compiled")
    # A sampler that stays within what was in use already shows zero: one MiB is taken as the least that can be told.
    for way in WAYS[:-1]:
        ratio = found["vmap"]["above"] / max(found[way]["above"], 1024)
        lines.append(
            f"  vmap / {way}: {ratio:.0f}x memory (counting 1 MiB at least), "
            f"{found['vmap']['again'] / found[way]['again']:.1f}x CPU"
        )


def main():
    """Print speed and memory, or the peak of one way in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peak", choices=WAYS)
    way = parser.parse_args().peak
    if way:
        peak(way)
        return
    import jax
    import numpy as np

    from theorax.numerics import platform
    from theorax.numerics.sampler import Sampler

    platform.enable()
    lines = [
        f"{os.cpu_count()}-core {host.machine()} CPU, Python {host.python_version()}, jax {jax.__version__}, "
        f"numpy {np.__version__}"
    ]
    sampler = Sampler()
    for widening in (2, 5):
        speed(lines, widening, sampler)
    memory(lines)
    text = "\n".join(lines) + "\n"
    print(text, end="")
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(text)


if __name__ == "__main__":
    main()
