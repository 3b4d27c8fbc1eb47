"""All errors of a theorem's file at once: its statements are executed one by one, and each error is recorded."""

from __future__ import annotations
import __future__

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from theorax.deleted import sentence_on_name
from theorax.errors import StatementError, collecting
from theorax.theorems.catalogue import LIBRARY, Catalogue, Facts, claim_lines, first_line, read_facts
from theorax.verifiers.author_lines import last_line
from theorax.verifiers.inert_modules import ComputesAtImport, inert_modules
from theorax.verifiers.neighbouring_modules import import_beside
from theorax.verifiers.phases import IMPORTING, phase

if TYPE_CHECKING:
    from theorax.language import Theorem
LINTED = ("bare-claim", "compared-number")
"""Rules that lint alone applies: a theorem that breaks one is checked all the same."""

BARE = frozenset((LIBRARY / "bare_claims.txt").read_text("utf-8").split())
"""Claims of the library that compare bare letters, as they stood when the rule came."""


@dataclass(frozen=True, order=True)
class StatementProblem:
    """One error of a statement: where it is, the sentence, and the rule that is broken; ``warns``: it fails nothing."""

    file: Path
    line: int
    sentence: str
    rule: str
    warns: bool = False


@dataclass(frozen=True)
class Linted:
    """The errors of one file; ``computes`` says on which line it computes while it is imported, so that JAX was needed."""

    file: Path
    problems: tuple[StatementProblem, ...]
    computes: tuple[int, str] | None = None


def lint(file: Path) -> Linted:
    """The errors of this file, found without JAX unless it computes while it is imported."""
    try:
        with phase(IMPORTING), inert_modules(LIBRARY, file.parent):
            found = tuple(_problems(file))
    except ComputesAtImport as error:
        return Linted(file, problems(file), (last_line(error, file) or 1, str(error)))
    if any(part.rule == "import" for part in found):  # an inert module may be at fault, so JAX itself is asked
        return Linted(file, problems(file))
    return Linted(file, found)


def proof_problems(theorem_id: str, roots: Sequence[str], file: Path) -> tuple[StatementProblem, ...]:
    """Open and false steps of the proofs of a theorem, each on the line of its proof; JAX is imported, nothing is drawn.

    **Raises:** StatementError if a proof cannot be read.
    """
    from theorax.verifiers.loading import load  # needs the whole language
    from theorax.verifiers.outcome import StepStatus
    from theorax.verifiers.proof_check import check_proofs

    theorem = load(theorem_id, Catalogue.of(roots))
    lines = {
        name: _line_of(file, proof.source_name) for name, proof in zip(_names(theorem), theorem.proofs, strict=True)
    }
    rules = {StepStatus.UNDECIDED: "open-step", StepStatus.REFUTED: "false-step"}
    return tuple(
        StatementProblem(
            file, lines.get(step.proof, 1), f"{step.proof}, {step.reason}: {step.method}.", rules[step.status]
        )
        for step in check_proofs(theorem).steps
        if step.status in rules
    )


def _names(theorem: Theorem) -> list[str]:
    return [proof.name for proof in theorem.proofs]


def _line_of(file: Path, name: str) -> int:
    """The line on which the function of this name begins."""
    tree = ast.parse(file.read_bytes(), filename=str(file))
    return next((node.lineno for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name), 1)


def problems(file: Path) -> tuple[StatementProblem, ...]:
    """The errors of this file; what it imports is imported."""
    return tuple(_problems(file))


def wrong_calls(file: Path) -> tuple[StatementProblem, ...]:
    """The calls of the language in this file whose arguments are wrong."""
    return tuple(part for part in _problems(file) if part.rule == "arguments")


def _problems(file: Path) -> Iterator[StatementProblem]:
    facts = read_facts(Facts(file.stem, file.parent.name, file, first_line(file)))
    if facts.problem is not None:
        yield StatementProblem(file, facts.line, facts.problem, facts.rule)
    try:
        tree = ast.parse(file.read_bytes(), filename=str(file))
    except (SyntaxError, ValueError, OSError):
        tree = ast.Module([], [])
    errors, theorem = _executed(tree, file)
    lines, told = claim_lines(file), set[str]()
    for error in errors:
        if error.message in told or error.rule == facts.rule == "label":  # a part that is replaced is checked again
            continue
        told.add(error.message)
        line = lines.get(error.claim) or error.line_in(str(file)) or last_line(error, file) or 1
        yield StatementProblem(file, line, error.told(), error.rule)
    for name, sentence in bare_claims(theorem, file.stem):
        yield StatementProblem(file, lines.get(name, 1), sentence, rule="bare-claim")
    yield from _compared_numbers(tree, file)


def bare_claims(theorem: object, id: str, indebted: frozenset[str] | None = None) -> Iterator[tuple[str, str]]:
    """Claims of a theorem with nothing symbolic and no reason for it, each with the sentence; those ``indebted`` left out.

    The library's own debt is a file of ids, which a test lets only shrink.
    """
    from theorax.language import Theorem  # SymPy, which a file of errors alone does not need

    left_out = BARE if indebted is None else indebted
    for name, claim in theorem.claims.items() if isinstance(theorem, Theorem) else ():
        if claim.is_bare and not claim.bare_because.strip() and f"{id}.{name}" not in left_out:
            letters = ", ".join(sorted(map(str, claim.observed)))
            yield (
                name,
                f"{name} compares {letters or 'numbers'} with a bare letter or number: nothing of its mathematics can be "
                "shown, evaluated or varied. Write the formula on the predicted side, give the letter its notation, "
                f'Measured("{letters.split(", ")[0] or "x"}", "...", notation="sr(X X^T) - 1"), or say why there is none: '
                'bare_because="...".',
            )


def _compared_numbers(tree: ast.Module, file: Path) -> Iterator[StatementProblem]:
    """Warnings of numbers that an observing function compares with: such a number belongs into the claim."""
    observing = {
        part.args[0].id
        for part in ast.walk(tree)
        if isinstance(part, ast.Call) and getattr(part.func, "id", "") == "Experiment"
        if part.args and isinstance(part.args[0], ast.Name)
    }
    text = file.read_text(encoding="utf-8", errors="replace").splitlines()
    functions = [part for part in ast.walk(tree) if isinstance(part, ast.FunctionDef) and part.name in observing]
    for part in (found for function in functions for found in ast.walk(function) if isinstance(found, ast.Compare)):
        numbers = [number for side in (part.left, *part.comparators) if (number := _number(side))]
        if numbers and "# not a bound: " not in text[part.lineno - 1]:
            yield StatementProblem(
                file,
                part.lineno,
                f"observe compares with {numbers[0]:g}. A bound that is hidden there is neither shown nor varied. Return the "
                "quantity and write the number in the claim, or end the line with `# not a bound: ` and the reason.",
                rule="compared-number",
                warns=True,
            )


def _number(side: ast.expr) -> float:
    """The number that stands on a side of a comparison; zero for zero, one, and anything else."""
    if isinstance(side, ast.UnaryOp):
        side = side.operand
    if not isinstance(side, ast.Constant) or type(side.value) not in (int, float) or side.value in (0, 1):
        return 0.0
    return float(str(side.value))


def _executed(tree: ast.Module, file: Path) -> tuple[list[StatementError], object]:
    """Errors that the statements of the file make when they are executed, and the theorem at its end.

    What depends on a statement that failed is left out: its own errors cannot be told from those.
    """
    name = f"theorax_lint_{file.stem}"
    module = ModuleType(name)
    module.__file__ = str(file)
    sys.modules[name] = module
    flags, lost = 0, set[str]()
    if not file.is_relative_to(LIBRARY):
        import_beside(file)
    try:
        with collecting() as found:
            for node in tree.body:
                if _read(node) & lost:
                    lost |= _bound(node)
                    continue
                flags |= _future(node)
                code = compile(ast.Module([node], []), str(file), "exec", flags=flags, dont_inherit=True)
                before = len(found)
                try:
                    exec(code, vars(module))
                except ComputesAtImport:
                    raise
                except StatementError as error:
                    found.append(error)
                    lost |= _bound(node)
                except Exception as error:
                    lost |= _bound(node)
                    if len(found) == before:
                        from theorax.verifiers.wrong_arguments import wrong_arguments  # needs the whole language

                        wrong = wrong_arguments(node, vars(module), str(file)) if isinstance(error, TypeError) else []
                        found.extend(wrong or [_not_imported(error)])
    finally:
        del sys.modules[name]
    return found, vars(module).get("theorem")


def _not_imported(error: Exception) -> StatementError:
    sentence = (
        sentence_on_name(error) or f"The file does not import ({type(error).__name__}: {error}). Correct this line."
    )
    return StatementError.of("import", sentence).with_traceback(error.__traceback__)


def _read(node: ast.stmt) -> set[str]:
    """Names that a statement needs when it is executed; the body of a function is not executed then."""
    parts: list[ast.AST] = [node]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        parts = [*node.decorator_list, *node.args.defaults, *(part for part in node.args.kw_defaults if part)]
    return {part.id for root in parts for part in ast.walk(root) if isinstance(part, ast.Name)}


def _bound(node: ast.stmt) -> set[str]:
    """Names that a statement binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _future(node: ast.stmt) -> int:
    if not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
        return 0
    return sum(getattr(__future__, alias.name).compiler_flag for alias in node.names)
