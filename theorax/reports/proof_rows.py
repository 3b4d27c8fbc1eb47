"""Proofs of a theorem in rows: claims that are proved, derivations with what they are given, cited works."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from theorax.verifiers.outcome import StepOutcome, StepStatus


@dataclass(frozen=True)
class ProofRow:
    """One proof: what it shows, for what scope, given which cited theorems, and what it leaves open."""

    name: str
    scope: str
    given: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """The row in words, the scope aside."""
        given = f", given {'cited theorems' if len(self.given) > 1 else 'a cited theorem'} ({'; '.join(self.given)})"
        left = f"; not closed: {'; '.join(self.left)}" if self.left else ""
        return f"{self.name}{given if self.given else ''}{left}"


@dataclass(frozen=True)
class ProofRows:
    """Proofs of a theorem by what they achieve."""

    proved: tuple[ProofRow, ...]
    derived: tuple[ProofRow, ...]
    cited: tuple[str, ...]
    open_steps: tuple[str, ...] = ()


def proof_rows(proved: Mapping[str, str], steps: Sequence[StepOutcome], scopes: Mapping[str, str]) -> ProofRows:
    """Rows of these steps; ``proved`` are the claims that a proof settles with its scope, ``scopes`` the authors' own."""
    names = dict.fromkeys([*scopes, *(step.proof for step in steps)])
    return ProofRows(
        tuple(ProofRow(name, scope) for name, scope in proved.items()),
        tuple(_derived(names, proved, steps, scopes)),
        tuple(dict.fromkeys(f"{step.method}: {step.reason}" for step in steps if step.status is StepStatus.CITED)),
        tuple(f"{step.proof}, {step.reason}: {step.method}" for step in steps if step.status is StepStatus.UNDECIDED),
    )


def _derived(
    names: Collection[str], proved: Mapping[str, str], steps: Sequence[StepOutcome], scopes: Mapping[str, str]
) -> Iterator[ProofRow]:
    for name in names:
        if name in proved:
            continue
        own = [step for step in steps if step.proof == name]
        yield ProofRow(
            name,
            scopes.get(name, ""),
            tuple(dict.fromkeys(step.method for step in own if step.status is StepStatus.CITED)),
            tuple(step.reason for step in own if step.status in (StepStatus.UNDECIDED, StepStatus.REFUTED)),
        )
