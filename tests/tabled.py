"""Statements with the word that each must get, as rows of a table: planted falsehoods, and true ones that are hard.

A row names a theorem file under the folder of its table (a folder per class, as a paper has) or, after a colon, a
function of that file that returns the verdict of `theorax.decide` or `theorax.exact` for a seed. Empty cells ask
nothing. ``seeds`` is how many user seeds, 0, 1, ..., the row is run with; at each of them the word must be the same.
"""

from __future__ import annotations

import csv
import importlib.util
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from theorax.decide.facts import facts
from theorax.decide.verdict import Verdict
from theorax.runs.checking import check
from theorax.verifiers.settings import Settings


@dataclass(frozen=True)
class Row:
    """One statement: where it stands, and the word, the reason and a part of the report that it must get.

    ``word``: one word or several with bars between them; for a file that must be refused, the name of the exception.
    ``told``: a phrase that the verdict's statement, sentence, scope, unseen, its ledger or what it was seen at must hold.
    """

    of: str  # the class of SOUNDNESS, such as S5
    kind: str
    file: str
    claim: str
    word: str
    reason: str
    told: str
    seeds: int

    @property
    def name(self) -> str:
        """A name for the row, unique in its table."""
        return f"{self.file}.{self.claim}" if self.claim else self.file


def rows(folder: Path) -> list[Row]:
    """The rows of the table of this folder."""
    with (folder / "table.csv").open(encoding="utf-8", newline="") as file:
        return [Row(**{**row, "seeds": int(row["seeds"] or 1)}) for row in csv.DictReader(file)]


def found(folder: Path, row: Row, seed: int, state: Path) -> Verdict:
    """The verdict on this row with this seed; of a file that must be refused whole, that on its first claim."""
    file, _, function = row.file.partition(":")
    if function:
        verdict = getattr(_module(folder / file), function)(seed)
        assert isinstance(verdict, Verdict), verdict
        return verdict
    settings = Settings(roots=(str(folder),), state=str(state), seed=seed, effort="quick", fresh=True)
    outcome = check(Path(file).stem, settings)
    return next(claim for claim in outcome.claims if row.claim in ("", claim.id))


def missed(folder: Path, row: Row, state: Path) -> list[str]:
    """In what the verdicts on this row are not what the table says; an exception counts as the word of its name."""
    wrong = []
    for seed in range(row.seeds):
        verdict: Any
        try:
            verdict = found(folder, row, seed, state / str(seed))
        except Exception as error:
            if type(error).__name__ not in row.word.split("|"):
                raise
            text = str(error)
        else:
            if verdict.status not in row.word.split("|"):
                wrong.append(f"seed {seed}: {verdict.status} ({verdict.sentence})")
            if row.reason and verdict.reason not in row.reason.split("|"):
                wrong.append(f"seed {seed}: reason {verdict.reason}")
            text = told(verdict)
        if row.told and row.told not in text:
            wrong.append(f"seed {seed}: {row.told!r} is not told in: {text}")
    return wrong


def told(verdict: Verdict) -> str:
    """All that a row may ask for of the report on this verdict."""
    ledger = [f"{part.kind}: {part.text} ({part.checked})" for part in verdict.ledger]
    named = [fact.value for fact in facts(verdict)]
    return "\n".join(
        (verdict.statement, verdict.sentence, verdict.scope, *verdict.unseen, *ledger, verdict.general, *named)
    )


@cache
def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"tabled_{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
