"""From a theorem's file to its value: import it, and turn what can go wrong into sentences."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

from theorax.deleted import sentence_on_name
from theorax.errors import StatementError, TheoraxError, UsageError
from theorax.language import Theorem
from theorax.names import many
from theorax.theorems.catalogue import LIBRARY, Catalogue
from theorax.verifiers.author_lines import last_line
from theorax.verifiers.linting import LINTED, problems, wrong_calls
from theorax.verifiers.neighbouring_modules import import_beside
from theorax.verifiers.phases import IMPORTING, phase


def load(theorem_id: str, catalogue: Catalogue | None = None) -> Theorem:
    """The theorem of this id; its file is imported in a phase of its own.

    **Raises:** StatementError, naming file and line, if the file does not import or ends without a theorem; UsageError
    if there is no such theorem.
    """
    with phase(IMPORTING):
        return _load(theorem_id, catalogue or Catalogue())


def claim_names(theorem_id: str, roots: Sequence[str]) -> tuple[str, ...]:
    """The ids of the claims of a theorem under these roots.

    **Raises:** as `load` does.
    """
    return tuple(load(theorem_id, Catalogue.of(roots)).claims)


def _load(theorem_id: str, catalogue: Catalogue) -> Theorem:
    facts = catalogue.facts(theorem_id)
    if problem := catalogue.problem(theorem_id):
        raise StatementError(_every_error(facts.path, problem))
    place = f"{facts.path.parent.name}/{facts.path.name}"
    try:
        if facts.path.is_relative_to(LIBRARY):
            module = importlib.import_module(catalogue.module(theorem_id))
        else:
            import_beside(facts.path)
            name = f"theorax_theorem_{theorem_id}"
            spec = importlib.util.spec_from_file_location(name, facts.path)
            if spec is None or spec.loader is None:
                raise UsageError(f"{place} cannot be imported. A theorem is a Python file. Name it {theorem_id}.py.")
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            spec.loader.exec_module(module)
    except StatementError as error:
        raise StatementError(_every_error(facts.path, f"{_place(error, facts.path)}: {error}")) from error
    except TheoraxError:
        raise
    except Exception as error:
        if wrong := wrong_calls(facts.path) if isinstance(error, TypeError) else ():
            told = f"{place}, line {wrong[0].line}: {wrong[0].sentence}"
            raise StatementError(_every_error(facts.path, told)) from error
        sentence = sentence_on_name(error) or (
            f"the file does not import ({type(error).__name__}: {error}). "
            "A theorem must be stated before it can be checked. Mend that line."
        )
        raise StatementError(_every_error(facts.path, f"{_place(error, facts.path)}: {sentence}")) from error
    theorem = vars(module).get("theorem")
    if not isinstance(theorem, Theorem):
        raise StatementError(f"{place}: `theorem` is no Theorem. End the file with theorem = Theorem(...).")
    return theorem


def _every_error(path: Path, first: str) -> str:
    """All errors of the file, where there are more than the first."""
    found = tuple(part for part in problems(path) if part.rule not in LINTED)
    if len(found) < 2:
        return first
    lines = (f"  {path.parent.name}/{path.name}:{part.line}: {part.sentence} [{part.rule}]" for part in found)
    return "\n".join((f"{path.parent.name}/{path.name} has {many(len(found), 'error')}:", *lines))


def _place(error: BaseException, file: Path) -> str:
    """Folder and name of the theorem's file, with the last of its lines that the error passed through."""
    line = last_line(error, file)
    return f"{file.parent.name}/{file.name}" + (f", line {line}" if line else "")
