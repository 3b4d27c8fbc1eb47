"""One thread per process, for every library that would start more; imports none of them.

The matrices are small: threads that wait for each other cost a factor of four on a busy machine, and a sum split over
threads would make the bits depend on how many there are. Two processes use two cores, each with one thread.
"""

from __future__ import annotations

import os

BLAS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# XLA sizes its pool by NPROC, and splits products over the pool unless told not to.
XLA_POOL, XLA_SPLIT = "NPROC", "--xla_cpu_multi_thread_eigen=false"


def one_thread() -> None:
    """Let this process compute with one thread; effective for libraries that are loaded afterwards."""
    os.environ.update(dict.fromkeys((*BLAS, XLA_POOL), "1"))
    flags = os.environ.get("XLA_FLAGS", "")
    if XLA_SPLIT not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {XLA_SPLIT}".strip()
