"""A claim as mathematics to read: on one line, typeset in Unicode, and in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sympy import Expr, Rational, latex, pretty

from theorax.language.claims import (
    Claim,
    Expectation,
    Identity,
    Impossibility,
    Inequality,
    Law,
    Limit,
    Optimum,
    Probability,
    Rate,
)
from theorax.language.letters import Index, Letter, Measured, Parameter, Size
from theorax.language.limit_laws import Image
from theorax.language.vectors import GaussianVector


def mathematics(claim: Claim) -> str:
    """The claim on one line of Unicode mathematics."""
    if isinstance(claim, Limit):
        return f"E[{inline(claim.of)}] → {inline(claim.to)}  as {claim.as_} → ∞"
    if isinstance(claim, Expectation):
        return f"{_mean_of(claim)}[{inline(claim.of)}] = {inline(claim.equals)}  at every size"
    if isinstance(claim, Rate):
        of = "".join(map(_text, _averaged(claim)))
        return f"{of} = {_order(claim)}({inline(claim.like)})  as {claim.as_} → ∞{_not_like(claim)}"
    if isinstance(claim, Law):
        return f"{', '.join(map(inline, claim.letters_of))} ⇒ {_law(claim)}  as {claim.as_} → ∞"
    if isinstance(claim, Identity):
        return f"{inline(claim.left)} = {inline(claim.right)}"
    if isinstance(claim, Inequality):
        sign, bound = ("≤", claim.at_most) if claim.at_most is not None else ("≥", claim.at_least)
        every = "in every entry of every instance" if claim.entrywise else "in every draw"
        return f"{inline(claim.of)} {sign} {inline(bound)}  {_where(claim) or every}"
    if isinstance(claim, Probability):
        return f"P({claim.event}) ≥ {inline(claim.at_least)}"
    if isinstance(claim, Optimum):
        if claim.over:
            point = ", ".join(f"{letter} = {value}" for letter, value in claim.at.items())
            return f"min {inline(claim.value)} = {inline(claim.prediction)}  at {point}  {_where(claim)}"
        return f"min = {inline(claim.value)}, bounded below by {inline(claim.bound)}"
    assert isinstance(claim, Impossibility)
    return f"{inline(claim.distance)} ≥ {inline(claim.at_least)}  {_where(claim) or 'for every member'}"


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
    low, high = map(inline, claim.rules_out)
    form = f"{claim.as_}^a, a" if claim.is_exponential else f"exp(c {claim.as_}), c"
    return f",  not like {form} from {low} to {high}"


def _text(part: str | Expr) -> str:
    return part if isinstance(part, str) else inline(part)


def _mean_of(claim: Limit | Expectation) -> str:
    """E for a mean, the order of the quantile otherwise."""
    if isinstance(claim, Limit) or claim.quantile is None:
        return "E"
    return "median" if claim.quantile == Rational(1, 2) else f"{inline(claim.quantile)}-quantile"


def meanings(claims: Iterable[Claim]) -> tuple[tuple[str, str], ...]:
    """Every letter of the claims with its meaning, what tends to infinity first, what is measured last."""
    order = (Size, Index, Parameter, Measured)
    found = {s for claim in claims for s in claim.letters if isinstance(s, Letter)}
    ranked = sorted(found, key=lambda letter: (order.index(type(letter)), str(letter)))
    return tuple((inline(letter), letter.meaning) for letter in ranked)


def claim_latex(claim: Claim) -> str:
    """The claim in LaTeX."""
    if isinstance(claim, Limit):
        return rf"{_mean_latex(claim)}\left[{latex(claim.of)}\right] \to {latex(claim.to)}{_tending(claim)}"
    if isinstance(claim, Expectation):
        return rf"{_mean_latex(claim)}\left[{latex(claim.of)}\right] = {latex(claim.equals)}"
    if isinstance(claim, Rate):
        order = {"exact": r"\Theta", "at most": "O", "at least": r"\Omega"}[claim.side]
        order = rf"\tilde{{{order}}}" if claim.approach.loglog else order
        of = rf"\mathbb{{E}}\left[{latex(claim.of)}\right]" if claim.average == "log of mean" else latex(claim.of)
        of = rf"D\left(\mathcal{{L}}({of}), \mu\right)" if claim.to is not None else of
        return rf"{of} = {order}\left({latex(claim.like)}\right){_tending(claim)}"
    if isinstance(claim, Law):
        of = latex(claim.letters_of[0]) if len(claim.letters_of) == 1 else latex(claim.letters_of)
        return rf"{of} \Rightarrow {_law_latex(claim)}{_tending(claim)}"
    if isinstance(claim, Identity):
        return f"{latex(claim.left)} = {latex(claim.right)}"
    if isinstance(claim, Inequality):
        sign, bound = (r"\le", claim.at_most) if claim.at_most is not None else (r"\ge", claim.at_least)
        return f"{latex(claim.of)} {sign} {latex(bound)}{_where_latex(claim)}"
    if isinstance(claim, Probability):
        return rf"\mathbb{{P}}\left({latex(claim.event)}\right) \ge {latex(claim.at_least)}"
    if isinstance(claim, Optimum):
        if claim.over:
            return rf"\min {latex(claim.value)} = {latex(claim.prediction)}{_where_latex(claim)}"
        return rf"\min = {latex(claim.value)} \ge {latex(claim.bound)}"
    if isinstance(claim, Impossibility):
        return rf"{latex(claim.distance)} \ge {latex(claim.at_least)}{_where_latex(claim)}"
    return latex(claim.prediction) if claim.prediction is not None else ""


def _mean_latex(claim: Limit | Expectation) -> str:
    quantile = claim.quantile if isinstance(claim, Expectation) else None
    return r"\mathbb{E}" if quantile is None else rf"Q_{{{latex(quantile)}}}"


def _tending(claim: Limit | Rate | Law) -> str:
    return rf" \quad ({latex(claim.as_)} \to \infty)"


def _where_latex(claim: Claim) -> str:
    sides = (rf"{latex(x)} \in [{latex(lower)}, {latex(upper)}]" for x, (lower, upper) in claim.range.items())
    return rf" \quad ({', '.join(sides)})" if claim.range else ""


def _law_latex(claim: Law) -> str:
    if isinstance(claim.to, GaussianVector):
        inside = claim.to.covariance
        return rf"\mathcal{{N}}\left(0, {latex(inside[0, 0] if claim.to.dimensions == 1 else inside)}\right)"
    if isinstance(claim.to, Image):
        low, high = claim.to.over
        variable = latex(claim.to.variable)
        return (
            rf"\mathcal{{L}}\left({latex(claim.to.of)}\right), \quad {variable} \sim "
            rf"{latex(claim.to.density)} \text{{ on }} [{latex(low)}, {latex(high)}]"
        )
    told = str(claim.to)
    return rf"\text{{{told}}}" if re.fullmatch(r"[\w ,.()-]{1,80}", told) and "_" not in told else r"\mu"


def inline(expression: Expr | None) -> str:
    """An expression on one line of Unicode mathematics."""
    text = pretty(expression, use_unicode=True, wrap_line=False) if expression is not None else ""
    if "\n" in text:
        text = str(expression).replace("**", "^").replace("*", "·").replace("sqrt", "√")
    return text


def _law(claim: Law) -> str:
    if isinstance(claim.to, Image):
        low, high = claim.to.over
        return (
            f"law of {inline(claim.to.of)}, {claim.to.variable} with density {inline(claim.to.density)} "
            f"on [{inline(low)}, {inline(high)}]"
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
