"""A decision in words: the statement as mathematics, the verdict as a sentence, the command that replays it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from sympy import Expr, Rational, latex, pretty

from theorax.theorems.language import (
    Claim,
    Expectation,
    GaussianVector,
    Identity,
    Image,
    Impossibility,
    Index,
    Inequality,
    Law,
    Letter,
    Limit,
    Measured,
    Optimum,
    Parameter,
    Probability,
    Rate,
    Size,
    Theorem,
)
from theorax.verifiers.decision import Decision, Status
from theorax.verifiers.experiments.lines import Cell
from theorax.verifiers.kinds.base import Judged, Prepared
from theorax.verifiers.outcome import Case, LetterOutcome, Verdict
from theorax.verifiers.words import REMEDIES, case_of, sentence


def mathematics(claim: Claim) -> str:
    """The claim on one line of Unicode mathematics."""
    if isinstance(claim, Limit):
        return f"E[{_inline(claim.of)}] → {_inline(claim.to)}  as {claim.as_} → ∞"
    if isinstance(claim, Expectation):
        return f"{_mean_of(claim)}[{_inline(claim.of)}] = {_inline(claim.equals)}  at every size"
    if isinstance(claim, Rate):
        of = "".join(map(_text, _averaged(claim)))
        return f"{of} = {_order(claim)}({_inline(claim.like)})  as {claim.as_} → ∞{_not_like(claim)}"
    if isinstance(claim, Law):
        return f"{', '.join(map(_inline, claim.letters_of))} ⇒ {_law(claim)}  as {claim.as_} → ∞"
    if isinstance(claim, Identity):
        return f"{_inline(claim.left)} = {_inline(claim.right)}"
    if isinstance(claim, Inequality):
        sign, bound = ("≤", claim.at_most) if claim.at_most is not None else ("≥", claim.at_least)
        every = "in every entry of every instance" if claim.entrywise else "in every draw"
        return f"{_inline(claim.of)} {sign} {_inline(bound)}  {_where(claim) or every}"
    if isinstance(claim, Probability):
        return f"P({claim.event}) ≥ {_inline(claim.at_least)}"
    if isinstance(claim, Optimum):
        if claim.over:
            point = ", ".join(f"{letter} = {value}" for letter, value in claim.at.items())
            return f"min {_inline(claim.value)} = {_inline(claim.prediction)}  at {point}  {_where(claim)}"
        return f"min = {_inline(claim.value)}, bounded below by {_inline(claim.bound)}"
    assert isinstance(claim, Impossibility)
    return f"{_inline(claim.distance)} ≥ {_inline(claim.at_least)}  {_where(claim) or 'for every member'}"


def _where(claim: Claim) -> str:
    """The box of a claim over parameters; empty for one that is measured."""
    sides = (f"{letter} in [{lower}, {upper}]" for letter, (lower, upper) in claim.range.items())
    return f"for {', '.join(sides)}" if claim.range else ""


def display(claim: Claim) -> str:
    """The claim typeset over several lines where a fraction or a root needs them."""
    if isinstance(claim, Limit | Expectation):
        right = claim.to if isinstance(claim, Limit) else claim.equals
        arrow, tail = ("→", f"as {claim.as_} → ∞") if isinstance(claim, Limit) else ("=", "at every size")
        return _beside(f"{_mean_of(claim)}[ ", claim.of, f" ] {arrow} ", right, f"   {tail}")
    if isinstance(claim, Rate):
        tail = f" )   as {claim.as_} → ∞{_not_like(claim)}"
        return _beside(*_averaged(claim), f" = {_order(claim)}( ", claim.like, tail)
    return mathematics(claim)


def _order(claim: Rate) -> str:
    """Theta, O or Omega; with a tilde where powers of log n are allowed for."""
    order = {"exact": "Θ", "at most": "O", "at least": "Ω"}[claim.side]
    return order + "\u0303" if claim.approach.loglog else order


def _averaged(claim: Rate) -> tuple[str | Expr, ...]:
    if claim.to is not None:
        return ("distance of ", claim.of, f" from {claim.to}")
    return ("E[", claim.of, "]") if claim.average == "log of mean" else ("", claim.of)


def _not_like(claim: Rate) -> str:
    """The rival form that support excludes, in words."""
    if claim.rules_out is None:
        return ""
    low, high = map(_inline, claim.rules_out)
    form = f"{claim.as_}^a, a" if claim.is_exponential else f"exp(c {claim.as_}), c"
    return f",  not like {form} from {low} to {high}"


def _text(part: str | Expr) -> str:
    return part if isinstance(part, str) else _inline(part)


def _mean_of(claim: Limit | Expectation) -> str:
    """E for a mean, the order of the quantile otherwise."""
    if isinstance(claim, Limit) or claim.quantile is None:
        return "E"
    return "median" if claim.quantile == Rational(1, 2) else f"{_inline(claim.quantile)}-quantile"


def letters(theorem: Theorem) -> tuple[LetterOutcome, ...]:
    """Every letter of the claims, what tends to infinity first, what is measured last."""
    order = (Size, Index, Parameter, Measured)
    found = {s for claim in theorem.claims.values() for s in claim.letters if isinstance(s, Letter)}
    ranked = sorted(found, key=lambda letter: (order.index(type(letter)), str(letter)))
    return tuple(LetterOutcome(_inline(letter), letter.meaning) for letter in ranked)


def claim_latex(claim: Claim) -> str:
    """The claim in LaTeX."""
    if isinstance(claim, Limit):
        return (
            rf"\mathbb{{E}}\left[{latex(claim.of)}\right] \to {latex(claim.to)} \quad ({latex(claim.as_)} \to \infty)"
        )
    if isinstance(claim, Expectation):
        mean = r"\mathbb{E}" if claim.quantile is None else rf"Q_{{{latex(claim.quantile)}}}"
        return rf"{mean}\left[{latex(claim.of)}\right] = {latex(claim.equals)}"
    if isinstance(claim, Rate):
        order = {"exact": r"\Theta", "at most": "O", "at least": r"\Omega"}[claim.side]
        order = rf"\tilde{{{order}}}" if claim.approach.loglog else order
        of = rf"\mathbb{{E}}\left[{latex(claim.of)}\right]" if claim.average == "log of mean" else latex(claim.of)
        of = rf"D\left(\mathcal{{L}}({of}), \mu\right)" if claim.to is not None else of
        return rf"{of} = {order}\left({latex(claim.like)}\right)"
    if isinstance(claim, Law):
        image = latex(claim.to.of) if isinstance(claim.to, Image) else r"\mu"
        if isinstance(claim.to, GaussianVector):
            inside = claim.to.covariance
            image = rf"\mathcal{{N}}\left(0, {latex(inside[0, 0] if claim.to.dimensions == 1 else inside)}\right)"
        return rf"{latex(claim.of)} \Rightarrow {image}"
    if isinstance(claim, Identity):
        return f"{latex(claim.left)} = {latex(claim.right)}"
    if isinstance(claim, Inequality):
        sign, bound = (r"\le", claim.at_most) if claim.at_most is not None else (r"\ge", claim.at_least)
        return f"{latex(claim.of)} {sign} {latex(bound)}"
    return latex(claim.prediction) if claim.prediction is not None else ""


_SCOPED = (Status.CERTIFIED, Status.SUPPORTED)


def claim_outcome(
    name: str,
    claim: Claim,
    status: Status,
    decision: Decision | None,
    cases: Sequence[Judged | Prepared],
    level: float,
    *,
    settled: bool = False,
    note: str = "",
) -> Verdict:
    """Everything a report says about one claim."""
    rows = tuple(_case(case, claim) for case in cases)
    judged = [case for case in cases if isinstance(case, Judged)]
    reason = (
        decision.reason.value if decision is not None and decision.reason and status is Status.INCONCLUSIVE else None
    )
    worst = _worst(judged, decision)
    unseen = judged[worst].unseen if worst is not None else ()
    rigorous = status in (Status.PROVED, Status.CERTIFIED, Status.REFUTED) and (
        settled or any(case.rigorous for case in judged)
    )
    spends = not rigorous and bool(judged) and all(case.statistical for case in judged)
    draws = sum(point.draws for case in judged for point in case.points)
    sizes = sorted({size for case in cases for size in _prepared(case).cell.line.sizes})
    return Verdict(
        id=name,
        kind=claim.kind,
        statement=display(claim),
        latex=claim_latex(claim),
        status=status.name,
        reason=reason,
        sentence=_sentence(status, decision, judged, worst, level, settled, note),
        because=claim.because,
        predicted=_inline(claim.prediction) if claim.prediction is not None else None,
        as_=str(claim.as_) if isinstance(claim, Limit | Rate | Law) else None,
        level=level if spends else None,
        margin=str(claim.margin) if claim.margin is not None else None,
        corrected=claim.corrected,
        draws=draws,
        sizes=tuple(map(float, sizes)),
        design_hash=design_hash(claim, cases),
        cases=rows,
        worst=worst,
        unseen=unseen,
        p_refute=None if not spends or decision is None else decision.p_refute,
        p_support=None if not spends or decision is None else decision.p_support,
        rigorous=rigorous,
        scope="; ".join(dict.fromkeys(case.scope for case in judged if case.scope)) if status in _SCOPED else "",
        tightness=judged[worst].tightness if worst is not None else None,
    )


def design_hash(claim: Claim, cases: Sequence[Judged | Prepared]) -> str:
    """A hash of everything that was fixed before the data: statement, margin, class, sizes, draws, weights, levels."""
    parts = [repr(claim)]
    for case in cases:
        prepared = _prepared(case)
        weights = prepared.weights
        parts.append(
            repr((prepared.cell.line.name, sorted(prepared.cell.label.items()), prepared.claimed, prepared.margin))
        )
        parts.append(repr((weights.plan, weights.values)) if weights is not None else "")
        parts += [repr(part) for part in (prepared.design, prepared.frequencies) if part is not None]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def place(cell: Cell) -> str:
    """Which case this is, as a reader would say it."""
    at = ", ".join(f"{name} = {value}" for name, value in cell.label.items())
    return f"{cell.line.name}" + (f" at {at}" if at else "")


def _prepared(case: Judged | Prepared) -> Prepared:
    return case.prepared if isinstance(case, Judged) else case


def _case(judged: Judged | Prepared, claim: Claim) -> Case:
    prepared = _prepared(judged)
    shown = {
        "subject": prepared.cell.line.name,
        "at": prepared.cell.label,
        "predicted": prepared.sign * prepared.claimed,
        "bias": prepared.bias,
        "margin": prepared.margin,
        "noticeable": _noticeable(prepared, claim),
    }
    if isinstance(judged, Prepared):
        return Case(
            **shown,  # type: ignore[arg-type]
            estimate=None,
            standard_error=None,
            interval=None,
            status=Status.INCONCLUSIVE.name,
            reason=None,
            p_refute=None,
            p_support=None,
            breakdown=None,
        )
    return case_of(
        judged.decision,
        **shown,  # type: ignore[arg-type]
        sign=prepared.sign,
        points=judged.points,
        detail=judged.detail,
    )


def _noticeable(prepared: Prepared, claim: Claim) -> float | None:
    """The smallest deviation noticed with probability 0.9; of a bound in every draw, the share of draws that violate it.

    A share q of violations shows none of itself in N draws with probability (1 - q)^N.
    """
    if prepared.noticeable is not None:
        return prepared.noticeable
    line = prepared.cell.line
    if not isinstance(claim, Inequality) or not claim.observed or claim.entrywise:
        return None
    return 1 - 0.1 ** (1 / (line.draws * len(line.sizes)))


def _worst(judged: Sequence[Judged], decision: Decision | None) -> int | None:
    """The case that decided: the clearest refutation, else the first open case, else the weakest support."""
    if not judged or decision is None:
        return None
    open_cases = [i for i, part in enumerate(judged) if part.decision.status is decision.status]
    if decision.status is Status.REFUTED:
        return min(open_cases, key=lambda i: judged[i].decision.p_refute)
    if decision.status is Status.SUPPORTED:
        return min(range(len(judged)), key=lambda i: judged[i].decision.breakdown_support)
    return open_cases[0] if open_cases else 0


def _sentence(
    status: Status,
    decision: Decision | None,
    judged: Sequence[Judged],
    worst: int | None,
    level: float,
    settled: bool,
    note: str,
) -> str:
    if status is Status.PROVED:
        return "Proved within its scope: computer algebra closed every step."
    if note:
        return note
    if worst is None or decision is None:
        return REMEDIES[decision.reason] if decision is not None and decision.reason else "Nothing was decided."
    shown = judged[worst]
    # The reason that is told is that of the case; its numbers are those of all cases together.
    told = replace(decision, reason=shown.decision.reason)
    where = place(shown.prepared.cell)
    return sentence(status, told, level, detail=shown.detail, where=where, cases=len(judged))


def _inline(expression: Expr | None) -> str:
    text = pretty(expression, use_unicode=True, wrap_line=False) if expression is not None else ""
    if "\n" in text:
        text = str(expression).replace("**", "^").replace("*", "·").replace("sqrt", "√")
    return text


def _law(claim: Law) -> str:
    if isinstance(claim.to, Image):
        low, high = claim.to.over
        return (
            f"law of {_inline(claim.to.of)}, {claim.to.variable} with density {_inline(claim.to.density)} "
            f"on [{_inline(low)}, {_inline(high)}]"
        )
    return str(claim.to)


def _beside(*parts: str | Expr) -> str:
    """Texts and typeset expressions side by side, their middle lines aligned."""
    from sympy.printing.pretty.pretty import PrettyPrinter
    from sympy.printing.pretty.pretty_symbology import pretty_use_unicode
    from sympy.printing.pretty.stringpict import prettyForm

    printer = PrettyPrinter({"use_unicode": True, "wrap_line": False})
    before = pretty_use_unicode(True)  # the symbols are chosen by a switch of SymPy's, not by the printer
    try:
        form = prettyForm("")
        for part in parts:
            form = prettyForm(*form.right(part if isinstance(part, str) else printer._print(part)))
        return str(form.render(wrap_line=False))
    finally:
        pretty_use_unicode(before)
