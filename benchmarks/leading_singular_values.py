"""Two leading singular values of random attention matrices: ours against numpy's full decomposition, one thread each.

    python benchmarks/leading_singular_values.py [--large] [--repeats 5]

Both run in one process, alternating, on one core, in CPU-seconds of the process; the ratio is the median of the ratios
of neighbouring runs. The error is held against numpy's values of the same matrix in float64, the bound is the residual
stated by the triplets.

What memory allows is measured in the same run. ``GB/s``: the entries that the passes read, each product with A or its
transpose one pass, per second of ours; ``copy``: reads and writes of a copy of A. ``at copy`` is the ratio that passes at the
speed of the copy would reach: a goal above it is out of reach for this method here. A large A is read once for two passes,
so that ``GB/s`` may exceed the copy.
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
import time

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np

from theorax.theorems.mind_the_gap._lanczos import leading_singular_triplets

PASS_DRAWS = 15


def markov(seed: int, size: int) -> np.ndarray:
    """Rows of independent exponentials, each divided by its sum."""
    A = np.random.default_rng([seed, size]).exponential(size=(size, size))
    return A / A.sum(axis=1, keepdims=True)


def seconds(call) -> float:
    """The CPU time of one call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def copied(A: np.ndarray) -> float:
    """Bytes per second that copies of A read and write, of enough of them to be timed."""
    other, times = np.empty_like(A), max(1, 2**28 // A.nbytes)
    np.copyto(other, A)
    return 2 * A.nbytes * times / seconds(lambda: [np.copyto(other, A) for _ in range(times)])


def main() -> None:
    """Print the times of the two methods for growing sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="also T = 4096 (a minute per repeat)")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0)) if "sched_getaffinity" in dir(os) else os.cpu_count()
    print(f"{CORES}-core {platform.machine()} CPU, {cores} core used, one thread each, CPU time")
    print(f"python {platform.python_version()}, jax {jax.__version__}, numpy {np.__version__}")
    print("exponential Markov matrices, k = 2, tolerance 1e-6; errors and bounds relative to each value, worst draw")
    print(
        f"{'T':>5} {'dtype':>8} {'numpy ms':>9} {'ours ms':>8} {'ratio':>6} {'(range)':>13} "
        f"{'passes':>6} {'/T^1/3':>6} {'GB/s':>6} {'copy':>6} {'at copy':>7} "
        f"{'error s1':>9} {'error s2':>9} {'bound s1':>9} {'bound s2':>9}"
    )
    # One draw at a time: a batch would move several matrices through the cache at once.
    triplets_of = jax.jit(lambda batch: jax.lax.map(leading_singular_triplets, batch))
    for size in (512, 1024, 2048, *([4096] if options.large else [])):
        for dtype in (np.float32, np.float64):
            times, errors, bounds, copies = [], [], [], []
            for seed in range(options.repeats):
                A = markov(seed, size).astype(dtype)
                device = jnp.asarray(A)[None]
                found = jax.block_until_ready(triplets_of(device))
                assert found.converged.all()
                theirs = seconds(lambda A=A: np.linalg.svd(A, compute_uv=False))
                ours = seconds(lambda device=device: jax.block_until_ready(triplets_of(device)))
                times.append((theirs, ours))
                copies.append(copied(A))
                # The reference decomposes the same, already rounded entries.
                s = np.linalg.svd(A.astype(np.float64), compute_uv=False)[:2]
                errors.append(np.abs(np.asarray(found.values[0], np.float64) - s) / s)
                bounds.append(np.asarray(found.residuals[0], np.float64) / s)
                assert (errors[-1] <= bounds[-1]).all()
            # Passes cost no reference: more draws, for a steady median.
            passes = [
                int(triplets_of(jnp.asarray(markov(seed, size).astype(dtype))[None]).passes[0])
                for seed in range(PASS_DRAWS if size < 4096 else 5)
            ]
            theirs, ours = np.median(times, axis=0) * 1e3
            # Per second of CPU time, like the times beside it.
            read, copy = np.median(passes) * size**2 * np.dtype(dtype).itemsize / 1e9, np.median(copies) / 1e9
            ratios = [a / b for a, b in times]
            span = f"({min(ratios):.1f}-{max(ratios):.1f})"
            error, bound = np.max(errors, axis=0), np.max(bounds, axis=0)
            print(
                f"{size:>5} {np.dtype(dtype).name:>8} {theirs:>9.1f} {ours:>8.1f} {np.median(ratios):>6.1f} {span:>13} "
                f"{np.median(passes):>6.0f} {np.median(passes) / size ** (1 / 3):>6.2f} "
                f"{read / ours * 1e3:>6.1f} {copy:>6.1f} {theirs * copy / read / 1e3:>7.1f} "
                f"{error[0]:>9.1e} {error[1]:>9.1e} {bound[0]:>9.1e} {bound[1]:>9.1e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
