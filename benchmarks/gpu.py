"""An accelerator beside the CPU of its machine: draws per second, what of the device's ceilings is reached, the whole library.

    python benchmarks/gpu.py [--device gpu] [--draws NAME ...] [--library [SELECTOR ...]]
    python benchmarks/gpu.py --library --efforts quick --report FOLDER
    python benchmarks/gpu.py --device cpu        # a rehearsal: everything but the device, at small sizes

Draws are those of theorems: products of attention matrices, activations of wide networks without their weights, leading
singular values, flows of a field; --draws asks for some of them alone. The device vectorises as many as fit, as a check does
(and spectra also one at a time); on the CPU each core draws one at a time in a process of its own. Ceilings are a copy and a
product of matrices on the device, in the same run. Bytes and operations are the least that a draw needs: a pass over the matrix
for each product of Lanczos' method (``passes``, as it counts them), 2 T^3 operations for each product of two T x T matrices.
With --library the library is checked at standard and at thorough effort, or at those of --efforts. --report keeps the reports
for `verify baseline compare`. Without an accelerator it ends with a sentence and exit code 2.
"""

from __future__ import annotations

import argparse
import json
import os
import platform as host
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SELF = Path(__file__)
sys.path.insert(0, str(SELF.parents[1]))  # the workers import this module by its name

OWN_MEMORY = 2**30  # bytes of a draw on the CPU
DEPTH = 3  # layers of the attention products and of the networks


def attention_products(key: Any, T: int) -> Mapping[str, Any]:
    """The sum of the squares of three layers of tokens."""
    import jax.numpy as jnp

    from theorax.numerics.distributions import UnitExponential
    from theorax.numerics.extents import literal
    from theorax.theorems.mind_the_gap._attention import markov_products

    M = markov_products(key, UnitExponential(), literal(T), literal(2 * T), DEPTH, sigma="1/sqrt(d)")
    return {"square": jnp.sum(M[-1] ** 2)}


def wide_network(key: Any, n: int) -> Mapping[str, Any]:
    """The mean square of the last pre-activations at two inputs."""
    import jax.numpy as jnp

    from theorax.numerics.extents import literal
    from theorax.theorems.pseudo_iid_gp._wide_networks import place, pre_activations

    x = jnp.array([[1.0, 0.0], [0.6, 0.8]])
    h = pre_activations(key, x, literal(n), literal(DEPTH), place("gaussian"), jnp.ones(()), jnp.tanh)
    return {"square": jnp.mean(h[-1] ** 2)}


def leading_values(key: Any, T: int) -> Mapping[str, Any]:
    """The two leading singular values of an exponential Markov matrix, and the passes that they took."""
    from theorax.numerics.distributions import UnitExponential
    from theorax.numerics.ensembles import random_markov
    from theorax.numerics.extents import literal
    from theorax.theorems.mind_the_gap._lanczos import leading_singular_triplets

    found = leading_singular_triplets(random_markov(key, UnitExponential(), literal(T)))
    return {"values": found.values, "passes": found.passes}


def field_flow(key: Any, width: int, N: int) -> Mapping[str, Any]:
    """The norm at the end of the flow of x' = tanh(W x), with its declared error."""
    import jax
    import jax.numpy as jnp

    from theorax.numerics.extents import literal
    from theorax.numerics.flows import flow

    W = jax.random.normal(key, (width, width)) / jnp.sqrt(jnp.asarray(width, jnp.zeros(()).dtype))
    nodes, error = flow(lambda n, s, x: jnp.tanh(W @ x), jnp.ones(width, W.dtype), literal(N))
    return {"norm": jnp.sqrt(jnp.sum(nodes[-1] ** 2)), "error": error}


@dataclass(frozen=True)
class Workload:
    """Draws of a program: in the full run and in the rehearsal, and what the least work of one draw is."""

    name: str
    program: Callable[..., Mapping[str, Any]]
    full: Mapping[str, int]
    small: Mapping[str, int]
    draws: tuple[int, int]  # on the device in the full run and in the rehearsal
    dtypes: tuple[str, ...] = ("float64",)
    operations: Callable[[Mapping[str, int]], float] | None = None
    bytes_per_pass: Callable[[Mapping[str, int], int], float] | None = None
    batches: tuple[str, ...] = field(default=("as many as fit",))


WORKLOADS = (
    Workload("attention products", attention_products, {"T": 256}, {"T": 8}, (1024, 8),
             operations=lambda at: 2 * DEPTH * 2.0 * at["T"] ** 3),
    Workload("wide networks", wide_network, {"n": 4096}, {"n": 16}, (16384, 8)),
    Workload("leading singular values", leading_values, {"T": 2048}, {"T": 12}, (128, 8), ("float32", "float64"),
             bytes_per_pass=lambda at, size: float(size) * at["T"] ** 2, batches=("one at a time", "as many as fit")),
    Workload("flows", field_flow, {"width": 64, "N": 64}, {"width": 4, "N": 2}, (1024, 8)),
)  # fmt: skip


@dataclass(frozen=True)
class Ceilings:
    """Bytes per second of a copy, and operations per second of a product in each dtype."""

    copied: float
    operations: Mapping[str, float]


def best(run: Callable[[], Any], repeats: int = 5) -> float:
    """Seconds of the fastest of some calls; the first, which compiles, is not counted."""
    run()
    found = []
    for _ in range(repeats):
        begun = time.perf_counter()
        run()
        found.append(time.perf_counter() - begun)
    return min(found)


def ceilings(device: str, full: bool) -> Ceilings:
    """A copy of 2 GiB and products of matrices of order 8192 on the device; small ones in the rehearsal."""
    import jax
    import jax.numpy as jnp

    from theorax.numerics import platform

    here = platform.processor(device)
    count, order = (2**28, 8192) if full else (2**18, 128)
    with jax.default_device(here):
        x = jax.block_until_ready(jnp.ones(count, jnp.float64))
        negated = jax.jit(jnp.negative)
        copied = 2 * x.nbytes / best(lambda: jax.block_until_ready(negated(x)))
        product, operations = jax.jit(jnp.matmul), dict[str, float]()
        for dtype in platform.DTYPES:
            A = jax.block_until_ready(jnp.full((order, order), 0.5, dtype))
            seconds = best(lambda A=A: jax.block_until_ready(product(A, A)))
            operations[dtype] = 2.0 * order**3 / seconds
    return Ceilings(copied, operations)


def rate(device: str, batch: str, load: int, dtype: str, full: bool, draws: int) -> dict[str, float]:
    """Draws per second, compiled, with the number of draws that go together and the mean number of passes."""
    from theorax.numerics import platform
    from theorax.numerics.placements import AsManyAsFit
    from theorax.numerics.sampler import Sampler

    platform.enable(device=device)
    workload = WORKLOADS[load]
    letters = workload.full if full else workload.small
    # On the CPU a draw may hold more than the 64 MiB that a check gives it: a large matrix is not refused here.
    memory = OWN_MEMORY if device == "cpu" else None
    sampler = Sampler(device, memory, 1 if batch == "one at a time" else AsManyAsFit(draws // 2))
    sampler.draw(workload.program, 0, 1, letters, dtype)
    (placement,) = sampler.placements
    begun = time.perf_counter()
    table = sampler.draw(workload.program, 1, draws, letters, dtype)
    seconds = time.perf_counter() - begun
    passes = float(table["passes"].mean()) if "passes" in table else 0.0
    return {"rate": draws / seconds, "batch": placement.batch, "passes": passes, "seconds": seconds}


def on_every_core(load: int, dtype: str, full: bool, cores: int) -> float:
    """Draws per second of all cores together, each drawing one at a time for about the same time."""
    from theorax.numerics.processes import worker_processes

    draws = max(2, WORKLOADS[load].draws[0 if full else 1] // 16)
    with worker_processes(cores) as executor:
        tasks = [executor.submit(rate, "cpu", "one at a time", load, dtype, full, draws) for _ in range(cores)]
        return sum(task.result()["rate"] for task in tasks)


def rows(device: str, full: bool, cores: int, top: Ceilings, asked: list[str]) -> Iterator[str]:
    """One row for each program that is asked for, dtype and number of draws at a time."""
    sizes = {"float32": 4, "float64": 8}
    for load, workload in enumerate(WORKLOADS):
        if workload.name not in asked:
            continue
        letters = workload.full if full else workload.small
        shown = ", ".join(f"{name} = {value}" for name, value in letters.items())
        for dtype in workload.dtypes:
            beside = on_every_core(load, dtype, full, cores)
            for batch in workload.batches:
                found = rate(device, batch, load, dtype, full, workload.draws[0 if full else 1])
                told = f"{workload.name:24} {dtype:8} {shown:20} {found['batch']:>5.0f} {found['rate']:>10.1f} {beside:>10.1f} "
                told += f"{found['rate'] / beside:>7.1f}"
                if workload.operations is not None:
                    done = workload.operations(letters) * found["rate"]
                    told += f"  {done / 1e12:.2f} Tflop/s, {done / top.operations[dtype]:.0%} of the product"
                if workload.bytes_per_pass is not None:
                    moved = workload.bytes_per_pass(letters, sizes[dtype]) * found["passes"] * found["rate"]
                    told += f"  {moved / 1e9:.0f} GB/s in {found['passes']:.0f} passes, {moved / top.copied:.0%} of the copy"
                yield told


def library(device: str, selectors: list[str], efforts: Sequence[str], folder: Path | None) -> Iterator[str]:
    """Cost of the library at each effort."""
    from benchmarks.library import run

    for effort in efforts:
        document, wall, cpu, _ = run(selectors, effort, None, device)
        summary = document["summary"]
        told = ", ".join(f"{count} {name}" for name, count in summary["statuses"].items())
        yield f"library, {effort}: {wall:.0f} s wall, {cpu:.0f} CPU-s, {summary['programs']} programs; {told}"
        if folder is not None:
            path = folder / f"{device}-{effort}.json"
            path.write_text(json.dumps(document))
            yield f"  report in {path}"


def main() -> int:
    """Print the table for one device, and the library where asked; 2 without an accelerator."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("gpu", "cpu"), default="gpu", help="cpu is a rehearsal at small sizes")
    names = [workload.name for workload in WORKLOADS]
    parser.add_argument("--draws", nargs="*", choices=names, default=names, metavar="NAME", help="; ".join(names))
    parser.add_argument("--efforts", nargs="+", metavar="EFFORT", help="[standard thorough]")
    parser.add_argument("--library", nargs="*", metavar="SELECTOR", help="check the library too, or these theorems")
    parser.add_argument("--report", type=Path, metavar="FOLDER", help="keep the reports of the library there")
    options = parser.parse_args()

    from theorax.errors import UsageError
    from theorax.numerics import platform

    full = options.device != "cpu"
    with tempfile.TemporaryDirectory() as folder:
        platform.enable(cache_dir=folder, device=options.device)
        try:
            kind = platform.processor(options.device).device_kind
        except UsageError as error:
            print(f"No measurement: {str(error).splitlines()[0]} `--device cpu` rehearses.", file=sys.stderr)
            return 2
        import jax

        held, cores = platform.memory(options.device), len(os.sched_getaffinity(0)) if full else 1
        print(f"{kind}" + (f", {held / 2**30:.0f} GiB" if held else "") + f", beside {cores} cores of {host.machine()}; "
              f"jax {jax.__version__}" + ("" if full else "; a rehearsal: no number here is a measurement"))  # fmt: skip
        top = ceilings(options.device, full)
        told = ", ".join(f"{rate_ / 1e12:.2f} Tflop/s {dtype}" for dtype, rate_ in top.operations.items())
        print(f"ceilings: copy {top.copied / 1e9:.0f} GB/s; product {told}")
        print(
            f"{'draws of':24} {'dtype':8} {'size':20} {'batch':>5} {'device /s':>10} {'cores /s':>10} {'ratio':>7}",
            flush=True,
        )
        for row in rows(options.device, full, cores, top, options.draws):
            print(row, flush=True)
        if options.library is not None:
            efforts = options.efforts or (("standard", "thorough") if full else ("quick",))
            for row in library(options.device, options.library, efforts, options.report):
                print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
