"""Hypotheses: what a claim needs, written once, before the claims, and referred to by object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import final

from sympy.core.relational import Relational

from theorax.errors import UnknownLetter, problem
from theorax.language.argument_types import refuse_type, takes
from theorax.names import did_you_mean


@final
@dataclass(frozen=True)
class Hypothesis:
    """A sentence that a claim needs.

    ``holds``: a relation of measured letters, tested in every draw. ``unbroken``: the reason why no subject of this
    theorem breaks it. ``name``: given by :func:`hypotheses`.
    """

    sentence: str
    holds: Relational | None = None
    unbroken: str | None = None
    name: str = field(default="", kw_only=True)


@final
class Hypotheses:
    """The hypotheses of one theorem: ``H.keys`` is one of them; a misspelt name fails where it is written.

    It has no methods, so that every name is free: ``H["keys"]`` looks one up, and a loop runs through all of them.
    """

    __slots__ = ("_parts",)

    def __init__(self, parts: Mapping[str, Hypothesis]) -> None:
        self._parts = dict(parts)

    def __getitem__(self, name: str) -> Hypothesis:
        return self._parts[name]

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def __iter__(self) -> Iterator[Hypothesis]:
        return iter(self._parts.values())

    def __len__(self) -> int:
        return len(self._parts)

    def __getattr__(self, name: str) -> Hypothesis:
        if name.startswith("_"):  # what Python itself asks of a value
            raise AttributeError(name)
        if name not in self._parts:
            raise UnknownLetter.of(
                "unknown-hypothesis",
                f"There is no hypothesis {name!r}{did_you_mean(name, self._parts)} "
                f"Declared are {', '.join(self._parts) or 'none'}. Write one of them, or declare it in hypotheses(...).",
            )
        return self._parts[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._parts})

    def __repr__(self) -> str:
        return f"hypotheses({', '.join(self._parts)})"


def hypotheses(**parts: str | Hypothesis) -> Hypotheses:
    """The hypotheses of a theorem by name: a sentence each, or a :class:`Hypothesis` that says more.

    **Raises:** StatementError for an empty sentence.
    """
    named = {}
    for name, part in parts.items():
        takes("hypotheses", name, part, str | Hypothesis, f'Write {name}="a sentence".')
        whole = part if isinstance(part, Hypothesis) else Hypothesis(part)
        takes("Hypothesis", "sentence", whole.sentence, str, 'Write Hypothesis("a sentence", ...).')
        if whole.holds is not None and not isinstance(whole.holds, Relational):
            refuse_type(
                "Hypothesis",
                "holds",
                whole.holds,
                "It is one relation of a measured letter and a number, such as holds=x > 0. SymPy has decided it already "
                "where the letter's assumptions imply it: leave holds out then. Of two relations make two hypotheses.",
            )
        if not whole.sentence.strip():
            problem(
                "hypothesis-empty",
                f"The hypothesis {name} is empty. A reader must know what is assumed. "
                f'Write hypotheses({name}="...", ...).',
            )
        named[name] = replace(whole, name=name)
    return Hypotheses(named)
