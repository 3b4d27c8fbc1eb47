r"""Nightly reruns: fresh seeds every night, and one process over all nights that decides whether the claim is refuted.

Of every way in which a claim can be false (its quantity above or below what the bias bound allows, in one of its cases)
a night gives a one-sided p-value, and $z = \Phi^{-1}(1 - p)$ is at most standard normal while the claim is true. With
S the sum of z over t nights, and a half-normal mixture of drifts of scale $\tau$,

$$e_t = \int_0^\infty e^{\lambda S - \lambda^2 t/2} \frac{2}{\tau\sqrt{2\pi}} e^{-\lambda^2/(2\tau^2)}\,d\lambda
     = \frac{2}{\sqrt{1 + t\tau^2}} \exp\frac{\tau^2 S^2}{2(1 + t\tau^2)}\,\Phi\Bigl(\frac{\tau S}{\sqrt{1 + t\tau^2}}\Bigr).$$

The claim's process is the mean over its ways; it passes 1/level on any night with probability at most the level.

| over the nights | tonight alone | the claim is |
|---|---|---|
| the process has passed 1/level | whatever | refuted |
| not | refuted | inconclusive |
| not | anything else | that |

**Errors:** 100 nights of a true claim at 0.05: ever refuted 0.023; a persistent defect of half a standard deviation is
found in 0.986 of them, at the median in night 31 (4000 runs). Refuting at 0.05 each night errs in 0.995.

**Source:** Howard et al. 2021 (normal mixtures); Ville 1939.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, ndtri

from theorax.decide.findings import Finding, Found
from theorax.decide.status import Reason, Status
from theorax.decide.verdict import Verdict
from theorax.errors import ObservationError
from theorax.names import many
from theorax.text.numbers import p_value

__all__ = ["SCALE", "log_process", "monitored", "night", "process"]

SCALE = 0.5  # the drift looked for, in standard deviations of one night
# The normal quantile of the smallest double: a p-value of zero counts as this one.
_FARTHEST = 38.0

Nights = Sequence[Sequence[float]]


def log_process(total: ArrayLike, nights: ArrayLike, scale: float = SCALE) -> NDArray[np.float64]:
    """The logarithm of the process of one way of being false, from the sum of z and the number of nights."""
    variance = 1 + np.asarray(nights, float) * scale**2
    drift = scale * np.asarray(total, float) / np.sqrt(variance)
    return np.log(2) - np.log(variance) / 2 + drift**2 / 2 + log_ndtr(drift)


def process(nights: Nights) -> NDArray[np.float64]:
    """The claim's process after every night, from the one-sided p-values of its ways of being false.

    **Raises:** ObservationError where nights have different numbers of p-values, or one is no probability.
    """
    if not nights:
        return np.ones(0)
    if len({len(row) for row in nights}) > 1 or not nights[0]:
        raise ObservationError(
            f"Nights of {sorted({len(row) for row in nights})} p-values were given. A claim can be false in the same "
            "ways every night. Write one p-value for each of them."
        )
    p = np.asarray(nights, float)
    if not ((p >= 0) & (p <= 1)).all():
        raise ObservationError("A night's p-value lies outside [0, 1]. It is no probability. Write one that is.")
    z = np.clip(-ndtri(p), -_FARTHEST, _FARTHEST)
    logs = log_process(z.cumsum(axis=0), np.arange(1, len(p) + 1)[:, None])
    return np.exp(np.minimum(np.logaddexp.reduce(logs, axis=1) - math.log(p.shape[1]), 700.0))


def night(verdict: Verdict) -> list[float] | None:
    """The one-sided p-values of one night's verdict; None where it has no error rate."""
    if verdict.rigorous or verdict.p_refute is None:
        return None
    found: list[float] = []
    for case in verdict.cases:
        if case.p_refute is None:
            return None
        found += case.tails or (case.p_refute,)
    return found


def monitored(verdict: Verdict, nights: Nights, level: float) -> Verdict:
    """The verdict of tonight, the last of these nights, as all of them say."""
    values = process(nights)
    now, most = float(values[-1]), float(values.max())
    told = (
        f"Over {many(len(nights), 'night')} with fresh seeds the evidence against it is e = {now:.2g}, "
        f"at most {most:.2g}; it is refuted from {1 / level:.3g} on."
    )
    kept = replace(verdict, e_value=now, p_refute=min(1.0, 1 / most), nights=len(nights))
    if most >= 1 / level:
        return kept.with_findings(Found(Finding.NIGHTS_REFUTED, f"Refuted by its nights together. {told}"))
    if verdict.status is Status.REFUTED:
        alone = f"Tonight alone would refute it ({p_value(verdict.p_refute)}), which some night does by chance. "
        return kept.with_findings(Found(Finding.NIGHT_ALONE, alone + told, Reason.UNDERPOWERED))
    return kept.noted(told)
