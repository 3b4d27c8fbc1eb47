"""The version of a claim: the count of attempts that a claim belongs to, and the digests of its statement and design."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

from sympy import sympify

from theorax.decide.status import Levels
from theorax.language import Claim
from theorax.verifiers.attempts import ClaimVersion
from theorax.verifiers.kinds.lowering import CellCase
from theorax.verifiers.settings import Settings

# Fields that explain the claim or add controls: changing them does not change the claim.
_BESIDE = ("wrong", "implied", "corrected", "bare_because")

# Fields added since attempts were first counted: at these values they leave the digests as they were.
_ADDED: Mapping[str, object] = {"expected": None, "mean_law": False}

# Fields of the design and of what the test allows for: changing them is another attempt at a claim of the same form.
_DESIGNED = ("content", "feasible", "floor", "given", "planted", "rival", "rival_feasible", "scale", "tol", "trivial")
_FORM = ("as_", "at", "over", "quantile", "where")

# A design is digested at these levels, whatever its own are: logged attempts keep their numbers where the default changes.
LOGGED_LEVELS = Levels(support=0.025, refute=0.025)

# Deleted fields of a kind, with the value that they had. Digests still hold them: logged attempts keep their numbers, and
# baselines their designs.
DELETED_FIELDS: Mapping[str, tuple[str, ...]] = {"Rate": ("to=None", "given=None", "scale=1")}


def claim_version(theorem: str, name: str, claim: Claim, cases: Sequence[CellCase], settings: Settings) -> ClaimVersion:
    """The version whose attempts are counted: the statement with margin and class, the design without levels."""
    named = [part.name for part in fields(claim) if part.name not in _BESIDE]
    stated = [_field(claim, part) for part in named if part not in _ADDED or getattr(claim, part) != _ADDED[part]]
    formed = [_field(claim, part) for part in said_fields(claim)]
    designed = [str(settings.model)]
    for case in cases:
        line = case.cell.line
        designed.append(
            repr((line.experiment, line.name, sorted(case.cell.label.items()), line.sizes, line.draws, line.paired))
        )
        designed.append(repr((case.claimed, case.margin, case.side)))
        designed.append(replace(case.plan, levels=LOGGED_LEVELS).hash if case.plan.estimates else "")
    kind = type(claim).__name__
    return ClaimVersion(
        theorem,
        name,
        _digest(kind, *stated, *DELETED_FIELDS.get(kind, ())),
        _digest(*designed),
        model=_model(settings.model),
        effort=settings.effort,
        at=repr(sorted((letter, str(sympify(value, rational=True))) for letter, value in settings.at)),
        form=_digest(kind, *formed),
        level=settings.level,
    )


def said_fields(claim: Claim) -> list[str]:
    """The fields that say what is measured, the predicted side and the cases spoken of: those of the form."""
    said = {*claim.measured_fields, *claim.predicted_fields, *_FORM} - {*_DESIGNED}
    return [part.name for part in fields(claim) if part.name in said]


def _field(claim: Claim, name: str) -> str:
    return f"{name}={getattr(claim, name)!r}"


def _model(model: str | None) -> str:
    """The user's model, however the path of its file is spelt."""
    if model is None:
        return ""
    place, _, factory = model.rpartition(":")
    return f"{os.path.normpath(place)}:{factory}"


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
