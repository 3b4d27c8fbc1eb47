"""Several verdicts on own numbers: what they say together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from theorax.decide import error_budget
from theorax.decide.error_budget import Together
from theorax.decide.verdict import Verdict
from theorax.errors import UsageError

__all__ = ["together"]


def together(verdicts: Mapping[str, Verdict] | Iterable[Verdict]) -> Together:
    """Say what these verdicts show together, by name; see `theorax.decide.error_budget`.

    Twenty claims at 2.5 % each err somewhere with probability up to one half. Each verdict stays as it is; the answer
    says which green ones hold jointly, and which red ones hold over all of them.

    **Raises:** `UsageError` for no verdicts, or two of one name.
    """
    named = cast("Mapping[str, Verdict]", verdicts) if isinstance(verdicts, Mapping) else _named(verdicts)
    if not named:
        raise UsageError(
            "No verdicts were given. Nothing is said of none. Write decide.together([first, second, ...])."
        )
    return error_budget.said_together({name: error_budget.member(verdict) for name, verdict in named.items()})


def _named(verdicts: Iterable[Verdict]) -> dict[str, Verdict]:
    named: dict[str, Verdict] = {}
    for verdict in verdicts:
        if verdict.id in named:
            raise UsageError(
                f"Two verdicts are named `{verdict.id}`. Each is one member of the family. "
                'Name their plans, as in plan_rate(..., name="error of the first method").'
            )
        named[verdict.id] = verdict
    return named
