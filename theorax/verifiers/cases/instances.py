"""One instance of a claim in any arithmetic: what was measured as arrays of carriers, and expressions on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sympy import Expr

from theorax.language import Measured
from theorax.numerics.arithmetics import Domain, RunningError, evaluate
from theorax.numerics.arithmetics.batched_running_error import evaluate_batch
from theorax.numerics.arithmetics.flat_program import KnownPrograms
from theorax.numerics.arithmetics.letter_expressions import in_domain
from theorax.verifiers.cases.evaluation import Observed
from theorax.verifiers.cases.sweep_lines import Cell


def letters_in_domain(
    wanted: Iterable[Measured] | None, observed: Observed, model: Any, read: Mapping[str, Any], domain: Domain[Any]
) -> dict[str, Any]:
    """The measured letters of one model, or all that it returns, the program that measures them run in ``domain``.

    Steps that only other letters need are not run: one letter that cannot be followed leaves the others decidable.

    **Raises:** ``UnsupportedPrimitive`` and ``UndecidedComparison`` as ``evaluate``.
    """
    program, known = _program(wanted, observed)
    return {name: carried(entry, domain) for name, entry in evaluate(program, (model, read), domain, known).items()}


def letters_together(
    wanted: Iterable[Measured] | None,
    observed: Observed,
    models: Sequence[tuple[Any, Mapping[str, Any]]],
    domain: RunningError,
) -> list[dict[str, Any]]:
    """The letters of the first of these models, as `letters_in_domain` returns them one by one; empty where it has to."""
    program, known = _program(wanted, observed)
    found = evaluate_batch(program, models, domain, known)
    return [{name: carried(entry, domain) for name, entry in of_one.items()} for of_one in found]


def _program(
    wanted: Iterable[Measured] | None, observed: Observed
) -> tuple[Callable[[Any, Mapping[str, Any]], dict[str, Any]], KnownPrograms]:
    names = None if wanted is None else frozenset(letter.name for letter in wanted)

    def program(model: Any, read: Mapping[str, Any]) -> dict[str, Any]:
        seen = observed.observe(model, **read)
        return {name: entry for name, entry in seen.items() if names is None or name in names}

    return program, observed.programs.once(("letters", names), KnownPrograms)


def on(expression: Expr, cell: Cell, size: int, seen: Mapping[str, Any], domain: Domain[Any]) -> Any:
    """The expression, entry by entry, at the cell's choice of indices; its numbers are exact in every arithmetic.

    Arrays over an index hold its values 1, 2, ... up to the largest asked for, or exactly those asked for.

    **Raises:** ``UnsupportedPrimitive`` for a function that the arithmetic does not have.
    """

    def column(letter: Any) -> Any:
        if not isinstance(letter, Measured):
            return None
        entries = seen[letter.name]
        for index in letter.over:
            shape = domain.shape(entries)
            places = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)
            along, chosen = cell.line.along[index], cell.chosen[index]
            entries = domain.take(entries, places[chosen - 1 if shape[0] == max(along) else along.index(chosen)])
        return entries

    return in_domain(cell.exact(expression, size), domain, column)


def at_draw(
    wanted: Iterable[Measured], cell: Cell, observed: Observed, size: int, draw: int, domain: Domain[Any]
) -> Callable[[Expr], Any]:
    """Expressions on one draw: these letters are run once in each arithmetic, for a claim and for its variants.

    **Raises:** as ``letters``.
    """
    names = frozenset(wanted)
    known = followed(names, observed, domain)
    if (size, draw) not in known and observed.instances and isinstance(domain, RunningError):
        _follow_together(names, observed, size, draw, domain, known)
    if (size, draw) not in known:
        model, read = observed.instance(size, draw)
        known[size, draw] = letters_in_domain(names, observed, model, read, domain)
    return lambda expression: on(expression, cell, size, known[size, draw], domain)


def _follow_together(
    wanted: frozenset[Measured],
    observed: Observed,
    size: int,
    draw: int,
    domain: RunningError,
    known: dict[tuple[int, int], Mapping[str, Any]],
) -> None:
    """Run the instances from this one on at once, as many as take one road."""
    apart: set[int] = observed.about_line.once(("apart", wanted, size), set)
    if apart:
        return
    rest = [later for later in range(draw, len(observed.instances[size])) if (size, later) not in known]
    models = [observed.instances[size][later] for later in rest]
    found = letters_together(wanted, observed, models, domain) if len(models) > 1 else []
    known |= {(size, later): seen for later, seen in zip(rest, found, strict=False)}
    if not found:
        apart.add(draw)  # they take different roads: asking again for each would trace them all each time


def followed(
    wanted: frozenset[Measured], observed: Observed, domain: Domain[Any]
) -> dict[tuple[int, int], Mapping[str, Any]]:
    """These letters of the draws that were run in the arithmetic so far, by size and number of the draw."""
    return observed.about_line.once(("letters", wanted, domain), dict)


def carried(entry: Any, domain: Domain[Any]) -> Any:
    """Whole numbers that the program returned, as carriers too."""
    return entry if domain.owns(entry) else domain.lift(np.asarray(entry))
