"""Several verdicts together: each held against the error rates of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from theorax.decide import error_budget
from theorax.decide.error_budget import REFUTATIONS, SUPPORTS
from theorax.decide.verdict import Verdict
from theorax.deleted import refuse_deleted_keywords
from theorax.errors import UsageError

__all__ = ["adjust"]


@refuse_deleted_keywords
def adjust(
    verdicts: Mapping[str, Verdict] | Iterable[Verdict],
    *,
    refute: float = REFUTATIONS,
    support: float = SUPPORTS,
) -> dict[str, Verdict]:
    """The verdicts as all of them together support them, by name; see `theorax.decide.error_budget`.

    Twenty claims at 2.5 % each err somewhere with probability up to one half: whoever reports several adjusts them.
    An adjustment takes away, it never gives.

    **Raises:** `UsageError` for no verdicts, or two of one name.
    """
    named = cast("Mapping[str, Verdict]", verdicts) if isinstance(verdicts, Mapping) else _named(verdicts)
    if not named:
        raise UsageError("No verdicts were given. Nothing can be adjusted. Write decide.adjust([first, second, ...]).")
    suite = error_budget.apply_budget(named, refute=refute, support=support)
    return {name: suite.after(name, verdict) for name, verdict in named.items()}


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
