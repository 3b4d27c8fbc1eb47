r"""The Monte Carlo kernel of a wide network by three ways: neural-tangents, the literal network, the sampler equal in law.

    python benchmarks/monte_carlo_kernels.py --environment FOLDER [--rounds 5] [--widths 512 1024 2048 4096]

A draw is one random ReLU network with three hidden layers and a readout of one width n, Gaussian weights and biases, at
two inputs; it estimates the kernel by $\frac1n\sum_i h_i(x) h_i(x')$ over the n outputs. All three draw that same random
number in float32, so standard errors per draw are equal by law; they are measured all the same, and "equal error" is the
ratio of seconds times variances. neural-tangents needs an older JAX: it runs in an environment of its own, made in
FOLDER from the pinned versions unless it is there. All are processes on one core, one thread each, that take turns; the
ratio is the median of the ratios of neighbouring turns, in CPU-seconds, with its range. Compilation is left out.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

PINNED = ("neural-tangents==0.6.5", "jax==0.4.23", "jaxlib==0.4.23", "numpy<2", "scipy<1.13")
INPUTS = ((1.0, 0.5, -0.3, 0.8), (0.2, -0.7, 0.9, 0.4))
LAYERS = 4  # with the readout
WEIGHT_VARIANCE, BIAS_VARIANCE = 1.8, 0.1
SIDES = ("neural-tangents", "literal", "sampler")
SECONDS = 0.5  # what one turn of a side should take
RESULTS = Path(__file__).parent / "results" / "monte_carlo_kernels_cpu.txt"

Draw = Callable[[int, int], Any]


def theirs(width: int) -> tuple[Draw, Draw]:
    """neural-tangents' own Monte Carlo kernel, and its single draws: differences of its running means."""
    import jax
    import jax.numpy as jnp
    import neural_tangents as nt
    import numpy as np
    from neural_tangents import stax

    def dense() -> Any:
        return stax.Dense(width, W_std=math.sqrt(WEIGHT_VARIANCE), b_std=math.sqrt(BIAS_VARIANCE))

    layers = [dense()]
    for _ in range(LAYERS - 1):
        layers += [stax.Relu(), dense()]
    init, apply, _ = stax.serial(*layers)
    x = jnp.asarray(INPUTS)

    def one_by_one(seed: int, draws: int) -> Any:
        key = jax.random.PRNGKey(seed)
        kernel = nt.monte_carlo_kernel_fn(init, apply, key, n_samples=range(1, draws + 1))
        means = np.stack([np.asarray(mean) for mean in kernel(x, None, "nngp")])
        counts = np.arange(1, draws + 1)[:, None, None]
        return np.diff(means * counts, axis=0, prepend=0)

    @functools.cache
    def kernel_of(draws: int) -> Any:  # a new one compiles anew: it is made once, and its draws are always the same
        return nt.monte_carlo_kernel_fn(init, apply, jax.random.PRNGKey(1), n_samples=draws)

    def mean(seed: int, draws: int) -> Any:
        return jax.block_until_ready(kernel_of(draws)(x, None, "nngp"))

    return mean, one_by_one


def ours(width: int, literal_weights: bool) -> tuple[Draw, Draw]:
    """Draws of the engine's sampler: of an Equinox network with its weights, or of the program equal in law."""
    import jax
    import jax.numpy as jnp

    from theorax.numerics.extents import Extent, literal
    from theorax.numerics.keys import named
    from theorax.numerics.sampler import Sampler
    from theorax.theorems.pseudo_iid_gp._wide_networks import DeepNetwork, place, pre_activations

    x, depth, root = jnp.asarray(INPUTS), literal(LAYERS), math.sqrt(WEIGHT_VARIANCE)

    def network(key: Any, n: Extent) -> dict[str, Any]:
        normal, size = jax.random.normal, n.padded
        first = normal(named(key, "first"), (size, x.shape[1])) * (root / math.sqrt(x.shape[1]))
        hidden = normal(named(key, "hidden"), (LAYERS - 1, size, size)) * (root / math.sqrt(size))
        biases = normal(named(key, "biases"), (LAYERS, size)) * math.sqrt(BIAS_VARIANCE)
        h = jax.vmap(DeepNetwork(first, hidden, biases, jax.nn.relu, n, depth), out_axes=1)(x)[-1]
        return dict(kernel=h @ h.T / size)

    def equal_in_law(key: Any, n: Extent) -> dict[str, Any]:
        letters = dict(activation=jax.nn.relu, weight_variance=WEIGHT_VARIANCE, bias_variance=BIAS_VARIANCE)
        h = pre_activations(key, x, n, depth, place("gaussian"), 1.0, **letters)[-1]
        return dict(kernel=h @ h.T / n.padded)

    program, sampler = network if literal_weights else equal_in_law, Sampler(memory=2**31)

    def draw(seed: int, draws: int) -> Any:
        return sampler.draw(program, seed, draws, dict(n=literal(width)), "float32")["kernel"]

    return draw, draw


def serve(side: str) -> None:
    """One process per side: a line with a width, a seed and a number of draws in, a line of numbers out."""
    import jax
    import numpy as np

    made: dict[int, tuple[Draw, Draw]] = {}
    print(json.dumps(dict(jax=jax.__version__, python=platform.python_version())), flush=True)
    for line in sys.stdin:
        width, seed, draws, values = json.loads(line)
        if width not in made:
            made.clear()
            made[width] = theirs(width) if side == SIDES[0] else ours(width, side == "literal")
        run = made[width][values]
        begun = time.process_time()
        found = run(seed, draws)
        spent = time.process_time() - begun
        answer = np.asarray(found, np.float64).reshape(-1, 4).tolist() if values else None
        print(json.dumps(dict(seconds=spent, kernels=answer)), flush=True)


class Side:
    """A process that draws kernels."""

    def __init__(self, name: str, python: str) -> None:
        one = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
        flags = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"
        self.said = tempfile.TemporaryFile("w+")  # noqa: SIM115  (read when the process has ended)
        self.process = subprocess.Popen(
            [python, __file__, "--serve", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said,
            text=True,
            env=os.environ | one | dict(XLA_FLAGS=flags, JAX_PLATFORMS="cpu"),
        )
        self.versions = self._read()

    def seconds(self, width: int, seed: int, draws: int) -> float:
        """CPU-seconds of these draws."""
        return self._ask(width, seed, draws, False)["seconds"]

    def kernels(self, width: int, seed: int, draws: int) -> list[list[float]]:
        """The four entries of the kernel, draw by draw."""
        return self._ask(width, seed, draws, True)["kernels"]

    def end(self) -> None:
        """Close the other process and wait for it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def _ask(self, *question: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait()
            self.said.seek(0)
            raise SystemExit(f"A side ended with {code}:\n{self.said.read()}")
        return json.loads(line)


def environment(folder: Path) -> str:
    """The Python of an environment with the pinned versions, made if it is not there."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PINNED], check=True)
    return str(python)


def compared(sides: dict[str, Side], width: int, rounds: int, draws_for_errors: int) -> Iterator[str]:
    """One width: turns, then draws whose spread is measured."""
    number = {}
    for name, side in sides.items():
        side.seconds(width, 0, 4)  # compiles
        number[name] = max(2, min(4000, round(4 * SECONDS / side.seconds(width, 1, 4))))
        side.seconds(width, 0, number[name])
    turns = [
        {name: side.seconds(width, 2 + turn, number[name]) / number[name] for name, side in sides.items()}
        for turn in range(rounds)
    ]
    spread, means = {}, {}
    for name, side in sides.items():
        draws = draws_for_errors if name != "sampler" else 8000
        kernels = side.kernels(width, 1000, draws)
        columns = list(zip(*(row for row in kernels), strict=True))
        # The entries (x, x), (x, x') and (x', x'): their variances pooled.
        spread[name] = sum(statistics.variance(columns[entry]) for entry in (0, 1, 3)), draws
        means[name] = [
            (statistics.fmean(columns[entry]), statistics.stdev(columns[entry]) / math.sqrt(draws))
            for entry in (0, 1, 3)
        ]
    sampler = "sampler"
    for name in SIDES[:2]:
        ratios = [turn[name] / turn[sampler] for turn in turns]
        variances = spread[name][0] / spread[sampler][0]
        # Of three variances of nearly normal, dependent entries at least one is free.
        off = variances * math.sqrt(2 / spread[name][1] + 2 / spread[sampler][1])
        z = max(abs(a - b) / math.hypot(s, t) for (a, s), (b, t) in zip(means[name], means[sampler], strict=True))
        yield (
            f"{width:>5} {name:>16} {1e6 * statistics.median(t[name] for t in turns):>12.0f} "
            f"{1e6 * statistics.median(t[sampler] for t in turns):>11.0f} {statistics.median(ratios):>9.0f} "
            f"{f'({min(ratios):.0f}-{max(ratios):.0f})':>13} {f'{variances:.2f}+-{off:.2f}':>12} "
            f"{statistics.median(ratios) * variances:>12.0f} {z:>6.1f}"
        )


def main() -> None:
    """Print one row per width and rival."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--environment", type=Path, help="folder with neural-tangents, made there if it does not exist")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--widths", type=int, nargs="*", default=(512, 1024, 2048, 4096))
    parser.add_argument("--serve", choices=SIDES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return
    if options.environment is None:
        parser.error("write --environment FOLDER: neural-tangents needs an older JAX than this one")
    cores = os.cpu_count()
    if "sched_setaffinity" in dir(os):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    pythons = {SIDES[0]: environment(options.environment)}
    sides = {name: Side(name, pythons.get(name, sys.executable)) for name in SIDES}
    installed = subprocess.run(
        [pythons[SIDES[0]], "-c", "from importlib.metadata import version; print(version('neural-tangents'))"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    old, new = sides[SIDES[0]].versions, sides["sampler"].versions
    from importlib.metadata import version

    lines = [
        f"{cores}-core {platform.machine()} CPU, one core used, one thread each, CPU time; {options.rounds} rounds",
        f"neural-tangents {installed} with jax {old['jax']} on Python {old['python']}",
        f"the literal network and the sampler: jax {new['jax']}, equinox {version('equinox')} on Python {new['python']}",
        f"three hidden ReLU layers and a readout of width n, {len(INPUTS)} inputs, float32; microseconds per draw",
        f"{'n':>5} {'against':>16} {'theirs us':>12} {'sampler us':>11} {'per draw':>9} {'(range)':>13} "
        f"{'variances':>12} {'equal error':>12} {'|z|':>6}",
    ]
    print("\n".join(lines), flush=True)
    for width in options.widths:
        for row in compared(sides, width, options.rounds, max(64, min(4000, 4000 * 512**2 // width**2))):
            lines.append(row)
            print(row, flush=True)
    lines += [
        "per draw: median of the ratios of neighbouring turns; variances: of one draw, theirs over the sampler's; equal",
        "error: CPU-seconds for the same standard error; |z|: largest difference of the three mean kernel entries",
    ]
    print("\n".join(lines[-2:]))
    for side in sides.values():
        side.end()
    RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
