"""Results of rigorous arithmetic as the decision and the words that every other kind of claim has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import flint
from flint import arb

from theorax.decide.status import DEFAULT_LEVELS, Decision, Levels, Reason, Side, Status
from theorax.exact.branch_and_bound import Certificate

__all__ = ["ball_text", "decided", "exactly", "read_as_exact", "search_sentence", "typed_point"]


def decided(
    status: Status,
    reason: Reason | None = None,
    *,
    estimate: float = 0.0,
    lower: float = -math.inf,
    upper: float = math.inf,
    claimed: float = 0.0,
    margin: float = 0.0,
    side: Side = Side.AT_LEAST,
    levels: Levels = DEFAULT_LEVELS,
) -> Decision:
    """A decision without an error rate: certain where it says anything, and open to both sides where it does not."""
    refuted, certain = status is Status.REFUTED, status in (Status.CERTIFIED, Status.SUPPORTED)
    return Decision(
        status=status,
        reason=reason,
        p_refute=0.0 if refuted else 1.0,
        p_support=0.0 if certain else 1.0,
        breakdown_support=math.inf if certain else -math.inf,
        breakdown_refute=math.inf if refuted else -math.inf,
        equivalent_within_margin=False,
        estimate=estimate,
        se=0.0,
        df=math.inf,
        bias=0.0,
        lower=lower,
        upper=upper,
        claimed=claimed,
        margin=margin,
        side=side,
        levels=levels,
    )


TOUCHES = 1e-9
"""A bound that fails by less than this may be an equality: no box decides it."""


def search_sentence(found: Certificate, names: Sequence[str], what: str = "the difference") -> str:
    """One sentence: what the search over boxes proved, where the claim fails, or what is left.

    ``what``: how the function is called that should be nowhere negative.
    """
    boxes = f"{found.boxes} box" + ("es" if found.boxes != 1 else "")
    with_slack = f" with slack {exactly(found.slack)}" if found.slack else ""
    if found.status is Status.CERTIFIED and found.proof:
        return found.proof + with_slack
    if found.status is Status.CERTIFIED:
        return f"holds on the whole box{with_slack}: {boxes} in balls of up to {found.precision} bits{found.beside}"
    if found.status is Status.REFUTED:
        assert found.point is not None and found.value is not None
        return f"fails at {typed_point(found.point, names)}: {what} there lies in {ball_text(found.value)}"
    left = f"after {boxes}" if found.reason is Reason.BUDGET else f"on {found.aside} of {boxes}, too narrow to split"
    if found.trouble:
        left += f"; {found.trouble.rstrip('.')}"
    if found.lowest is None:
        return f"neither proved nor refuted {left}; nothing is known of its lowest value"
    slack = ""
    if not found.slack and found.lowest > -TOUCHES:
        slack = (
            ". Where both sides are equal boxes decide nothing: state a slack, "
            f'margin=Absolute(1, {round(1 / TOUCHES)}, "both sides are equal somewhere")'
        )
    return f"neither proved nor refuted {left}; it is certain that {what} is at least {found.lowest:.3g}{slack}"


def exactly(number: Fraction) -> str:
    """A rational as it is typed, or in a few digits where its fraction is long, as that of a decimal float is."""
    text = str(number)
    return text if len(text) <= 16 else f"{float(number):.6g}"


def read_as_exact(casts: Sequence[str]) -> str:
    """The addition to the scope of an identity whose programs cast to these narrower floats."""
    if not casts:
        return ""
    named = f"cast to {casts[0]} is" if len(casts) == 1 else f"casts to {' and '.join(casts)} are"
    return f"; the {named} read as exact"


def typed_point(point: Sequence[Fraction], names: Sequence[str]) -> str:
    """An exact point as a reader can type it again."""
    return ", ".join(f"{name} = {value}" for name, value in zip(names, point, strict=True))


def ball_text(value: arb) -> str:
    """A ball in a few digits, rounded outward."""
    with flint.ctx.workprec(64):
        return str(value.str(6))
