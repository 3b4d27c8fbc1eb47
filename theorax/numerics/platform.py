"""The platform: what JAX is told before a run, and what a run records about where it happened."""

from __future__ import annotations

import contextlib
import os
import platform as host
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from theorax.errors import UsageError
from theorax.memory import Caches
from theorax.numerics.keys import root
from theorax.numerics.threads import one_thread

DTYPES = ("float32", "float64")
# Of the areas that a process may map, the part that is left to programs of theorems that were checked before.
SHARE_OF_MAPS = 8


def enable(cache_dir: str | Path | None = None, device: str = "cpu") -> None:
    """Set JAX up for measuring; call it once, before the first array is made.

    64-bit numbers are allowed, matrix products run at the highest precision, random streams are the partitionable
    ones in every version (they are the ones that do not depend on how a program is split over devices), and compiled
    programs are kept in ``cache_dir`` from one process to the next, however small they are. A folder that the environment
    names for them, in JAX's own variable, goes first: many states can share what was compiled. Arrays that are not told
    where to be are on the CPU, whatever the device.

    **Raises:** UsageError if the device is neither cpu nor gpu.
    """
    if device not in ("cpu", "gpu"):
        raise UsageError(f"There is no device `{device}`. Write `cpu` or `gpu`.")
    one_thread()
    settings: dict[str, Any] = {
        "jax_enable_x64": True,
        "jax_default_matmul_precision": "highest",
        "jax_threefry_partitionable": True,
    }
    if device == "gpu":
        # Processes share the device: none of them takes three quarters of its memory before it needs it.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        # Draws say where they run. What is computed besides, once each, would take ten times as long to compile there.
        settings["jax_default_device"] = "cpu"
    if device == "cpu":
        # "gpu" is left to JAX's own search, which then fails with its own words when asked for one.
        settings["jax_platforms"] = "cpu"
    if cache_dir is not None:
        folder = os.environ.get("JAX_COMPILATION_CACHE_DIR") or cache_dir
        settings |= {
            "jax_compilation_cache_dir": str(Path(folder).absolute()),  # a process may change its folder
            "jax_persistent_cache_min_compile_time_secs": 0.0,
            "jax_persistent_cache_min_entry_size_bytes": 0,
        }
    for name, value in settings.items():
        jax.config.update(name, value)


def precision(dtype: str) -> contextlib.AbstractContextManager[Any]:
    """Within it, JAX's default float is ``dtype``, in every version of JAX.

    **Raises:** UsageError if dtype is neither float32 nor float64.
    """
    if dtype not in DTYPES:
        raise UsageError(f"Draws were asked for in `{dtype}`. Write one of: {', '.join(DTYPES)}.")
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(dtype == "float64")
    from jax.experimental import enable_x64  # type: ignore[attr-defined,unused-ignore]  # where older versions keep it

    return enable_x64(dtype == "float64")


def processor(device: str) -> Any:
    """The first device of this kind.

    **Raises:** UsageError if JAX finds none.
    """
    try:
        return jax.devices(device)[0]
    except RuntimeError as error:
        raise UsageError(
            f"JAX finds no device `{device}` here.\n"
            f"  It sees: {', '.join(sorted({each.platform for each in jax.devices()}))}.\n"
            "  Write `cpu`, or install the build of JAX for the accelerator."
        ) from error


def memory(device: str) -> int | None:
    """Bytes that programs may hold on a device, by its own account; None where it gives none, as a CPU.

    **Raises:** UsageError if JAX finds no such device.
    """
    account = processor(device).memory_stats() or {}
    return int(account["bytes_limit"]) if "bytes_limit" in account else None


def matmul_unit_roundoff(size: int = 32, device: str = "cpu") -> float:
    r"""The unit roundoff of float32 products as they really run: $\max |C_{32}-C_{64}| / (K\,|A||B|)$, K = ``size``.

    A product of length K has error at most $K u\,|A||B|$, so a value above u = 2^-24 gives away a reduced precision.
    Errors cancel, so that products rounded to b bits show about 2^-b K^(-3/2): with K = 32, 2^-16 for bfloat16, 2^-18
    for TF32 and 2^-31 for float32; the line between them is drawn at 2^-22.

    **Errors:** a lower estimate of u, by the factor K^(3/2) named above.

    **Source:** Higham 2002, section 3.5.
    """
    left, right = jax.random.normal(root(0), (2, size, size), jnp.float32)
    product = jax.device_put(left, processor(device)) @ jax.device_put(right, processor(device))
    exact = np.asarray(left, np.float64) @ np.asarray(right, np.float64)
    scale = np.abs(np.asarray(left, np.float64)) @ np.abs(np.asarray(right, np.float64))
    return float(np.max(np.abs(np.asarray(product, np.float64) - exact) / (size * scale)))


_CACHES = Caches()


def forget_programs() -> None:
    """Give back what was compiled where a process that checks theorem after theorem has grown, or nears a limit of Linux.

    Every compiled program maps some pages of its own; Linux ends a process that maps more than so many areas, 65530 unless
    set otherwise. Elsewhere nothing is known of such a limit.
    """
    _CACHES.empty_if_grown()
    try:
        allowed = int(Path("/proc/sys/vm/max_map_count").read_text())
        mapped = Path("/proc/self/maps").read_bytes().count(b"\n")
    except (OSError, ValueError):
        return
    if mapped > allowed / SHARE_OF_MAPS:
        _CACHES.empty()


def describe(device: str = "cpu") -> dict[str, str | float | bool]:
    """Everything that the bits of a draw may depend on: versions, kind of device, precision of products, generator."""
    return {
        "jax": jax.__version__,
        "numpy": np.__version__,
        "python": host.python_version(),
        "machine": host.machine(),
        "device": processor(device).device_kind,
        "threefry_partitionable": bool(jax.config.values["jax_threefry_partitionable"]),
        "matmul_precision": str(jax.config.values["jax_default_matmul_precision"]),
        "matmul_unit_roundoff": matmul_unit_roundoff(device=device),
    }
