"""Error control over a suite: Holm for two families, the refutations and the supports.

Rigorous results are in neither family: they spend no error. Holm holds under any dependence between the claims.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from theorax.errors import DesignError
from theorax.verifiers.decision import Decision, Reason, Status

__all__ = ["Adjusted", "adjust", "holm"]


@dataclass(frozen=True)
class Adjusted:
    """The status of one claim before and after the adjustment, with its adjusted p-values."""

    status: Status
    status_after: Status
    reason: Reason | None
    adjusted_p_refute: float
    adjusted_p_support: float


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjusted p-values: the claim of the k-th smallest p gets the largest (number - j + 1) p_(j) over j up to k.

    **Source:** Holm 1979.
    """
    adjusted: dict[str, float] = {}
    running = 0.0
    for rank, (name, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        if not 0 <= p <= 1:
            raise DesignError(f"`{name}` has p = {p:g}, which is no probability. Write a value between 0 and 1.")
        running = max(running, min(1.0, (len(p_values) - rank) * p))
        adjusted[name] = running
    return adjusted


def adjust(decisions: Mapping[str, Decision], refute: float = 0.01, support: float = 0.05) -> dict[str, Adjusted]:
    """Hold every statistical decision against the whole suite's error rates.

    | status of the claim alone | after |
    |---|---|
    | refuted | refuted iff its adjusted p of refutation is at most ``refute``, else inconclusive |
    | supported | supported iff its adjusted p of support is at most ``support``, else inconclusive |
    | anything else | unchanged |

    An adjustment takes away, it never gives: an inconclusive claim stays so, and a refuted one is never turned into
    support.
    """
    tested = (Status.REFUTED, Status.SUPPORTED, Status.INCONCLUSIVE)
    family = {name: decision for name, decision in decisions.items() if decision.status in tested}
    refutations = holm({name: decision.p_refute for name, decision in family.items()})
    supports = holm({name: decision.p_support for name, decision in family.items()})
    result = {}
    for name, decision in decisions.items():
        p_refute, p_support = refutations.get(name, 1.0), supports.get(name, 1.0)
        falls = (decision.status is Status.REFUTED and p_refute > refute) or (
            decision.status is Status.SUPPORTED and p_support > support
        )
        result[name] = Adjusted(
            status=decision.status,
            status_after=Status.INCONCLUSIVE if falls else decision.status,
            reason=Reason.UNDERPOWERED if falls else decision.reason,
            adjusted_p_refute=p_refute,
            adjusted_p_support=p_support,
        )
    return result
