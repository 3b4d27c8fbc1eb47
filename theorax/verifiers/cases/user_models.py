"""A user's layer in the place of a theorem's own subjects: find it, try it, put it in."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax

from theorax.errors import UsageError, option
from theorax.language import Experiment, Hypotheses, Subject, Theorem
from theorax.names import did_you_mean
from theorax.verifiers.cases.measure import instance
from theorax.verifiers.cases.sweep_lines import sweep_lines
from theorax.verifiers.settings import Settings

_MODEL = option("model")

INTERFACE = ("key", "T", "d")
TRIAL = 16  # the context length at which a layer is tried: small, and divisible by what ratios of sizes are made of


def adopt(theorem_id: str, theorem: Theorem, model: str) -> Theorem:
    """The theorem with the user's layer as its only subject; its controls are those of its own check.

    **Raises:** UsageError if the theorem takes no model, or if the factory cannot be found, called or measured.
    """
    factory = find(model)
    taking = {name: part for name, part in theorem.experiments.items() if part.adopt is not None}
    if not taking:
        raise UsageError(
            f"{_MODEL} {model}: {theorem_id} is not about a layer that can be replaced. Its subjects are part of its "
            "statement. Try rank_collapse_width or keyquery_gap_and_bulk."
        )
    experiments = {name: _with(part, factory) for name, part in taking.items()}
    for name, part in experiments.items():
        _try(theorem_id, name, part)
    claims = {
        name: claim
        for name, claim in theorem.claims.items()
        if (place := theorem.experiment_of(claim)) in taking and name in (taking[str(place)].asked or theorem.claims)
    }
    # The known means are derived for the theorem's own subjects.
    claims = {name: claim.as_drawn for name, claim in claims.items()}
    hypotheses = {
        part.name: replace(part, unbroken=part.unbroken or "shown by the theorem's own check, without --model")
        for part in theorem.hypotheses
    }
    proofs = tuple(part for part in theorem.proofs if part.name in claims or part.name not in theorem.claims)
    return replace(theorem, experiments=experiments, claims=claims, hypotheses=Hypotheses(hypotheses), proofs=proofs)


def find(model: str) -> Callable[..., Any]:
    """The factory that ``file.py:factory`` or ``package.module:factory`` names.

    **Raises:** UsageError, with what to write instead.
    """
    place, separator, name = model.rpartition(":")
    if not separator or not place or not name:
        raise UsageError(
            f"{_MODEL} {model}: no factory is named. A model is a file or a module and a function in it. "
            f"Write {_MODEL} my_layer.py:factory or {_MODEL} package.module:factory."
        )
    module = _module(model, place)
    factory = vars(module).get(name)
    if factory is None:
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise UsageError(f"{_MODEL} {model}: {place} has no {name}{did_you_mean(name, known)}")
    if not callable(factory):
        raise UsageError(f"{_MODEL} {model}: {name} is no function. Write def {name}(key, T, d): return your layer.")
    try:
        inspect.signature(factory).bind(*INTERFACE)
    except TypeError:
        raise UsageError(
            f"{_MODEL} {model}: {name}{inspect.signature(factory)} cannot be called with a key, a context length and a "
            f"width. Write def {name}(key, T, d): return a layer that maps a (T, d) array to a (T, d) array."
        ) from None
    return factory


def _module(model: str, place: str) -> Any:
    try:
        if place.endswith(".py") or "/" in place:
            path = Path(place)
            if not path.is_file():
                raise UsageError(f"{_MODEL} {model}: there is no file {place}. Give its path from where you stand.")
            spec = importlib.util.spec_from_file_location(f"theorax_model_{path.stem}", path)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
            return module
        return importlib.import_module(place)
    except UsageError:
        raise
    except ModuleNotFoundError as error:
        raise UsageError(f"{_MODEL} {model}: {error}. Is it installed, or is the path of a file meant?") from error
    except Exception as error:
        raise UsageError(f"{_MODEL} {model}: {place} does not import ({type(error).__name__}: {error}).") from error


def _with(experiment: Experiment, factory: Callable[..., Any]) -> Experiment:
    assert experiment.adopt is not None
    build = experiment.adopt(factory)
    # Letters that describe the theorem's own subjects mean nothing here: cases that differ in them alone are one.
    needed = {*inspect.signature(build).parameters, *experiment.reads}
    derived = {size: expression for size, expression in experiment.derived.items() if size.name in needed}
    needed |= {letter.name for expression in derived.values() for letter in expression.free_symbols}
    cases: list[Mapping[Any, Any]] = []
    for case in experiment.cases:
        told = {letter: value for letter, value in case.items() if letter.name in needed}
        if told not in cases:
            cases.append(told)
    # Attention that depends on the tokens differs from layer to layer; what is asked of a user's layer is one layer.
    along = {index: values[:1] for index, values in experiment.along.items()}
    subjects = {"model": Subject(build, literal=True)}
    return replace(experiment, subjects=subjects, along=along, derived=derived, at=tuple(cases))


def _try(theorem_id: str, name: str, experiment: Experiment) -> None:
    """Trace the user's layer in every case at a small size: what is wrong is said before anything is planned."""
    for line in sweep_lines(name, experiment, Settings(sizes=((experiment.swept.name, (TRIAL,)),))):
        jax.eval_shape(lambda line=line: instance(experiment, theorem_id, line, TRIAL, 0, 0)[0])
