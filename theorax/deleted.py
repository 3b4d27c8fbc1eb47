"""Options, settings, names and keywords that theorax no longer has, each with a sentence that says what to use instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import ParamSpec, TypeVar

from theorax.errors import UsageError

P = ParamSpec("P")
R = TypeVar("R")

OPTIONS: Mapping[str, str] = {
    "--alone": "The option `--alone` no longer exists. `verify list ID` shows one theorem without those that it rests on.",
    "--json": "The option `--json` no longer exists. Write `--output json`.",
    "--share": (
        "The option `--share` no longer exists. Check on a Dask cluster with `--scheduler ADDRESS`, or split the run "
        "with `--shard K/N` and join its parts with `verify merge`."
    ),
    "--adjust": (
        "The option `--adjust` no longer exists. Holm's method bounds the error rates over all claims of a run. Leave the "
        "option out."
    ),
    "--nightly": (
        "The option `--nightly` no longer exists. Draw again with another seed, such as `--seed 20260101`: it is the next "
        "attempt at each claim, and all attempts share one error budget."
    ),
}
"""Options of the command, as they are typed."""

SETTINGS: Mapping[str, str] = {
    "share": (
        "The setting `share` no longer exists. Check on a Dask cluster with `--scheduler ADDRESS`, or split the run "
        "with `--shard K/N` and join its parts with `verify merge`."
    ),
    "adjust": "The setting `adjust` no longer exists. Holm's method bounds the error rates over all claims of a run.",
    "nightly": (
        "The setting `nightly` no longer exists. Draw again with another `seed`: it is the next attempt at each claim, and "
        "all attempts share one error budget."
    ),
}
"""Keys of ``[tool.theorax]``, and settings of ``theorax.verify``."""

_MONITOR = (
    "`theorax.decide.{}` no longer exists. Fix the number of draws before the data: decide.plan_probability(draws=...), then "
    "decide.probability."
)
_PREFACTOR = (
    '`Prefactor(p, reason="...")` no longer exists. Write `Corrections(size=0, rest=0, log=p, reason="...")`, which is the '
    "same class."
)
NAMES: Mapping[str, str] = {
    "theorax.decide.Prefactor": _PREFACTOR,
    "theorax.decide.Watch": _MONITOR.format("Watch"),
    "theorax.decide.monitor": _MONITOR.format("monitor"),
    "theorax.language.Prefactor": _PREFACTOR,
}
"""Public names, with the module that they were taken from."""

_RATE_OF_A_LAW = (
    "A rate is that of a number. State the limit as a `Law`. State how fast it is approached as the `Rate` of a number "
    "that tends to zero, such as the error of a moment."
)
KEYWORDS: Mapping[str, str] = {
    "Rate.given": _RATE_OF_A_LAW,
    "Rate.scale": _RATE_OF_A_LAW,
    "Rate.to": _RATE_OF_A_LAW,
    "Theorem.references": (
        "Cite a work where it is used, in `place=` or in the `Cited(...)` of a proof. Its entry stands in `references.bib`."
    ),
    "adjust.method": "Verdicts are adjusted by Holm's method. Leave it out.",
    "plan_probability.every": "A probability is decided once, on all planned draws. Leave it out.",
}
"""Keywords, each after the class or function that took it: ``Claim.keyword`` stands for every kind of claim.

The sentence follows another one, as in: `Theorem` no longer has the argument `references`.
"""


_PAPERS: Mapping[str, tuple[str, ...]] = {
    "mind_the_gap": ("attention", "inertia", "lanczos", "spectra"),
    "pseudo_iid_gp": ("gaussian_means", "weight_matrices", "wide_networks"),
    "primal_dual_attention": ("attention_layers", "kernel_regression", "quadratic", "weak_duality"),
}
MODULES: Mapping[str, str] = {
    f"theorax.numerics.{name}": f"theorax.theorems.{paper}._{name}"
    for paper, names in _PAPERS.items()
    for name in names
}
"""Modules that belong to a paper now, each with its present name."""


def sentence_on_name(error: Exception) -> str | None:
    """The sentence on a name of the language or a module that no longer exists, if that is why a file does not import."""
    if isinstance(error, ModuleNotFoundError):
        now = MODULES.get(error.name or "")
        return now and f"the module {error.name} belongs to its paper now. Import {now} instead."
    return NAMES.get(f"theorax.language.{error.name}") if isinstance(error, NameError) else None


def sentence_on_keyword(called: type, keyword: str) -> str | None:
    """The sentence on a keyword that a class of the language, or a class that it extends, no longer takes."""
    known = (KEYWORDS.get(f"{base.__name__}.{keyword}") for base in called.__mro__)
    return next((sentence for sentence in known if sentence is not None), None)


def refuse_deleted_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which refuses a keyword that it no longer takes with its sentence instead of a TypeError."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if (sentence := KEYWORDS.get(f"{function.__name__}.{name}")) is not None:
                raise UsageError(f"`{function.__name__}` no longer has the argument `{name}`. {sentence}")
        return function(*args, **kwargs)

    return called


def refuse_name(module: str, name: str) -> None:
    """Refuse a public name of a module that no longer exists.

    **Raises:** ImportError with the sentence. Python replaces an AttributeError in ``from module import name`` by a
    message of its own, and the sentence would be lost.
    """
    if (sentence := NAMES.get(f"{module}.{name}")) is not None:
        raise ImportError(sentence, name=module)
