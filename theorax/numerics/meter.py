"""Cost of what a sampler did so far: programs, draws, and the seconds that they took."""

from __future__ import annotations

from dataclasses import dataclass

from theorax.names import many

__all__ = ["Meter"]


@dataclass(frozen=True)
class Meter:
    """Cost of a sampler so far: CPU seconds of this process, all threads, next to wall seconds."""

    programs: int = 0
    draws: int = 0
    calls: int = 0
    compile_seconds: float = 0.0
    compile_cpu_seconds: float = 0.0
    run_seconds: float = 0.0
    run_cpu_seconds: float = 0.0
    largest_program: int = 0

    @property
    def compile_share(self) -> float:
        """The share of CPU time that went into compiling; zero before anything ran."""
        spent = self.compile_cpu_seconds + self.run_cpu_seconds
        return self.compile_cpu_seconds / spent if spent else 0.0

    def __str__(self) -> str:
        return (
            f"{many(self.programs, 'program')} compiled in {self.compile_seconds:.2f} s "
            f"({self.compile_cpu_seconds:.2f} CPU-s), "
            f"{many(self.draws, 'draw')} in {many(self.calls, 'call')} and {self.run_seconds:.2f} s "
            f"({self.run_cpu_seconds:.2f} CPU-s). Compiling took {self.compile_share:.0%} of CPU; "
            f"the largest program needs {self.largest_program / 2**20:.1f} MiB"
        )
