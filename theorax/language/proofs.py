"""Proofs: generators of steps. The check computes what a step leaves to be computed, decides it, and looks again."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias, final, overload

import numpy as np
from sympy import Basic, Derivative, Equality, Integral, Limit, Product, Subs, Sum, Symbol, false, sympify, true
from sympy.logic.boolalg import Boolean

from theorax.errors import problem
from theorax.language.claims import Claim, Identity
from theorax.language.matrix_steps import MatrixStep
from theorax.names import many

COMPUTED = (Integral, Sum, Product, Limit, Derivative, Subs)
"""Forms that a step may leave to be computed by the check."""


@final
@dataclass(frozen=True)
class Step:
    """One equality; arrays are compared entry by entry.

    A side may hold ``Integral``, ``Sum``, ``Product``, ``Limit``, ``Derivative`` and ``Subs`` as they stand: the check
    computes them, and holds each result against a second route. What a file computes itself, the check has not seen.

    The equality is stated for every value that the assumptions of its letters admit. ``where`` excludes some of them: a
    condition of the letters, ``Ne(b, 2 * a)``, printed with the step.

    **Raises:** StatementError if the sides have different shapes, or if the condition is none.
    """

    reason: str
    left: Any
    right: Any
    where: Any = true

    def __post_init__(self) -> None:
        where = sympify(self.where)
        if not isinstance(where, Boolean) or where == false:
            problem(
                "step-where",
                f"Step({self.reason!r}) holds where={self.where}, which is not a condition that its letters can satisfy. "
                "Write where=Ne(b, 2 * a), or leave it out.",
            )
        object.__setattr__(self, "where", where)
        left, right = as_entries(self.left), as_entries(self.right)
        if left.shape != right.shape:
            problem(
                "step-shapes",
                f"Step({self.reason!r}) compares shapes {left.shape} and {right.shape}. An equality holds entry by "
                "entry. Give both sides the same shape.",
            )
        object.__setattr__(self, "left", left)
        object.__setattr__(self, "right", right)

    @property
    def entries(self) -> tuple[tuple[Basic, Basic], ...]:
        """The scalar equalities."""
        return tuple(zip(self.left.ravel().tolist(), self.right.ravel().tolist(), strict=True))

    @property
    def computes(self) -> bool:
        """Does it leave something to the check?"""
        return any(side.has(*COMPUTED) for pair in self.entries for side in pair)

    @property
    def empty(self) -> bool:
        """Are both sides one and the same, with nothing left to compute?"""
        return not self.computes and all(left == right for left, right in self.entries)


@final
@dataclass(frozen=True)
class Solved:
    """Solutions of equations: each expression (or ``Eq``) vanishes where the unknowns are what the solution says.

    ``solution``: an expression for a single unknown, or a mapping from unknowns; a list of those says that these are
    all. An unknown may be a function, ``e(k)`` of a recursion or ``f(t)`` of a differential equation; its first values
    are equations too. The check solves the equations itself, inserts what is given, and counts roots by the degree.

    **Raises:** StatementError if an unknown has no value.
    """

    reason: str
    equations: Any
    unknowns: Any
    solution: Any

    def __post_init__(self) -> None:
        equations = self.equations if isinstance(self.equations, list | tuple) else (self.equations,)
        unknowns = tuple(self.unknowns) if isinstance(self.unknowns, list | tuple) else (self.unknowns,)
        object.__setattr__(self, "equations", tuple(_vanishing(sympify(equation)) for equation in equations))
        object.__setattr__(self, "unknowns", unknowns)
        if not equations or not unknowns or not self.solutions:
            problem(
                "solved-empty",
                f"Solved({self.reason!r}) has {len(equations)} equations, {len(unknowns)} unknowns and "
                f"{len(self.solutions)} solutions. Nothing would be solved. Write Solved(reason, equation, x, root).",
            )
        for given in self.solutions:
            if missing := [unknown for unknown in unknowns if unknown not in given]:
                problem(
                    "solved-values",
                    f"Solved({self.reason!r}) gives no value of {missing[0]}. A solution has one for every unknown. "
                    "Write a mapping {x: ..., y: ...}, or an expression where one number is unknown.",
                )

    @property
    def every(self) -> bool:
        """Is it said that these are all solutions?"""
        return isinstance(self.solution, list | tuple)

    @property
    def solutions(self) -> tuple[Mapping[Basic, Basic], ...]:
        """Each solution, as a mapping from unknowns."""
        given = self.solution if self.every else [self.solution]
        return tuple(
            {key: sympify(value) for key, value in one.items()}
            if isinstance(one, Mapping)
            else {self.unknowns[0]: sympify(one)}
            for one in given
        )


@final
@dataclass(frozen=True)
class Instance:
    """The identity that a claim states, of what a measured program returns on SymPy entries.

    The check runs ``program(*given)`` itself: ``observe`` of the claim's experiment, or a function that it calls and whose
    results it returns as the claim's letters; a method or a transformed function is another program. What of ``given``
    holds no SymPy entry (a size, an option) is handed on as it is.
    Letters of the claim that are parameters of the program get their value there; ``letters`` gives others.
    """

    claim: Identity
    reason: str
    program: Callable[..., Any]
    given: tuple[Any, ...]
    letters: Mapping[Symbol, Any]

    def __init__(
        self,
        claim: Identity,
        reason: str,
        program: Callable[..., Any],
        *given: Any,
        letters: Mapping[Symbol, Any] = MappingProxyType({}),
    ) -> None:
        if claim.vanishing is None:
            problem(
                "instance-identity",
                f"Instance({reason!r}) is of a {type(claim).__name__}. Only an identity holds instance by instance. "
                "Derive a side of the claim by steps instead, with @derives.",
            )
        for name, value in dict(claim=claim, reason=reason, program=program, given=given, letters=letters).items():
            object.__setattr__(self, name, value)


def generic_entries(name: str, *shape: int) -> np.ndarray:
    """An array of independent real symbols, for an `Instance`: any entries of this shape."""
    out = np.empty(shape, dtype=object)
    between = "_" if max(shape, default=0) > 10 else ""  # else w_110 would stand at (1, 10) and at (11, 0)
    for place in np.ndindex(*shape):
        out[place] = Symbol(f"{name}_{between.join(map(str, place))}" if place else name, real=True)
    return out


def _vanishing(equation: Basic) -> Basic:
    return equation.lhs - equation.rhs if isinstance(equation, Equality) else equation


@final
@dataclass(frozen=True)
class Cited:
    """A known theorem that the argument rests on and that is not proved here."""

    reason: str
    source: str


AnyStep: TypeAlias = Step | MatrixStep | Solved | Instance | Cited
Steps: TypeAlias = Callable[..., Iterator[AnyStep]]


@final
@dataclass(frozen=True)
class Proof:
    """Steps for the claims ``of`` which they speak, or for a lemma; the scope is the first line of the docstring.

    A theorem file makes it with :func:`settles`, :func:`derives` or :func:`lemma` from a generator of steps, which may
    take the claim. ``settles``: if every step closes, each claim itself holds within the scope (an identity of programs
    run on SymPy entries, an exact mean). Otherwise the steps derive a side of the claim, and only measuring supports it.
    ``name``: in a theorem, that of its one claim or lemma.
    """

    steps: Steps
    of: tuple[Claim, ...] = ()
    settles: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        if not self.scope:
            problem(
                "proof-scope",
                f"The proof {_name(self.steps)} has no docstring. Its first line states the scope: for which "
                'letters, shapes and sizes it speaks. Write """Generic row-stochastic matrices of order 2 to 4.""".',
            )
        if (taken := _taken(self.steps)) > (1 if self.of else 0):
            problem(
                "proof-parameters",
                f"The proof {_name(self.steps)} takes {many(taken, 'parameter')}. A generator of steps is handed the claim it "
                "speaks of, and nothing else. Write def steps(claim) or def steps(), and @lemma takes none.",
            )

    @property
    def scope(self) -> str:
        """For which letters, shapes and sizes the proof speaks."""
        steps = self.steps.func if isinstance(self.steps, partial) else self.steps
        return " ".join((steps.__doc__ or "").strip().split("\n\n")[0].split())

    @property
    def source_name(self) -> str:
        """The name of the generator in its file."""
        return _name(self.steps)

    def named(self, names: Callable[[Claim], str]) -> Iterator[Proof]:
        """One proof for each claim, by its name in the theorem; a lemma has the name of its generator."""
        if not self.of:
            yield replace(self, name=self.name or _name(self.steps))
        for claim in self.of:
            steps = partial(self.steps, claim) if _taken(self.steps) else self.steps
            yield Proof(steps, (), self.settles, names(claim))


def settles(*claims: Claim) -> Callable[[Steps], Proof]:
    """Decorates a generator whose steps, if all close, prove each of these claims within the scope of its docstring."""
    return _of("settles", claims, settling=True)


def derives(*claims: Claim) -> Callable[[Steps], Proof]:
    """Decorates a generator whose steps derive a side of each of these claims."""
    return _of("derives", claims, settling=False)


@overload
def lemma(steps: Steps) -> Proof: ...
@overload
def lemma(steps: str) -> Callable[[Steps], Proof]: ...
def lemma(steps: Steps | str) -> Proof | Callable[[Steps], Proof]:
    """Decorates a generator whose steps no single claim ends; a report calls it by the generator's name, or this one."""
    if isinstance(steps, str):
        return lambda generator: Proof(generator, name=steps)
    return Proof(steps)


def _of(word: str, claims: tuple[Claim, ...], settling: bool) -> Callable[[Steps], Proof]:
    if stray := [claim for claim in claims if not isinstance(claim, Claim)] or not claims:
        problem(
            "proof-of",
            f"@{word}({stray if claims else ''}) names no claim. A proof says what it proves. "
            f"Write @{word}(identity) with the claim itself, or @lemma.",
        )
    if settling and (other := [claim for claim in claims if claim.vanishing is None]):
        problem(
            "settles-identity",
            f"@settles({type(other[0]).__name__}) settles nothing: only an identity holds instance by instance. "
            "Steps of anything else derive a side of it, and measuring supports it. Write @derives.",
        )
    return lambda steps: Proof(steps, claims, settling)


def _taken(steps: Steps) -> int:
    """Number of arguments that the generator needs."""
    parameters = inspect.signature(steps).parameters.values()
    return sum(parameter.default is parameter.empty for parameter in parameters)


def _name(steps: Steps) -> str:
    return getattr(steps.func if isinstance(steps, partial) else steps, "__name__", "steps")


def sides_of(claim: Identity, values: Mapping[str, Any], letters: Mapping[Any, Any] = MappingProxyType({})) -> Any:
    """Both sides of the identity, its measured letters replaced by arrays of SymPy entries, entry by entry."""
    sides = []
    for side in (claim.left.subs(letters), claim.right.subs(letters)):
        measured = sorted(claim.observed & side.free_symbols, key=str)
        arrays = np.broadcast_arrays(*(as_entries(values[letter.name]) for letter in measured)) if measured else []
        shape = arrays[0].shape if arrays else ()
        entries = [
            side.subs(dict(zip(measured, row, strict=True)), simultaneous=True)
            for row in zip(*(array.ravel().tolist() for array in arrays), strict=True)
        ]
        out = np.empty(len(entries), dtype=object)
        out[:] = entries
        sides.append(out.reshape(shape) if arrays else as_entries(side))
    return np.broadcast_arrays(*sides)


def as_entries(side: Any) -> np.ndarray:
    """An array of SymPy entries, from one of anything or from a matrix."""
    raw = np.asarray(side.tolist() if isinstance(side, Basic) and side.is_Matrix else side, dtype=object)
    out = np.empty(raw.shape, dtype=object)
    out.ravel()[:] = [sympify(entry) for entry in raw.ravel().tolist()]
    return out
