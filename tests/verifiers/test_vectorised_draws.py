"""Checks with draws vectorised together: the same words and estimates, a key of their own, and what was drawn where.

The accelerator is the CPU under another name, with an account of its memory: everything but the device is run.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from theorax.cli.options import settings as settings_of
from theorax.errors import UsageError
from theorax.numerics import platform
from theorax.reports import baselines
from theorax.reports.assembly import document
from theorax.reports.document import Document
from theorax.reports.regression import Change, compared
from theorax.reports.theorem_text import cost
from theorax.runs.checking import observe
from theorax.runs.runner import run
from theorax.runs.selectors import Selection
from theorax.runs.sources import Sources
from theorax.theorems.catalogue import Catalogue
from theorax.verifiers.outcome import VectorisedPrograms
from theorax.verifiers.settings import Settings

pytestmark = pytest.mark.usefixtures("here")

THEOREM = """'''Eigenvalues of a uniform matrix, and its mean.'''

import jax
import jax.numpy as jnp
from sympy import Integer, Rational

from theorax.language import *

n = Size("n", "order of the matrix")
mean = Measured("mean", "the mean of the entries")
least = Measured("least", "the mean of the eigenvalues times n, over n")
H = hypotheses(uniform=Hypothesis("the entries are uniform between zero and one", broken_by="shifted"))
half = Expectation(mean, Rational(1, 2), margin=Absolute(1, 10, "a tenth"), spread=Rational(1, 8), under=(H.uniform,))
trace = Expectation(least, Rational(1, 2), margin=Absolute(1, 10, "a tenth"), spread=Rational(1, 6), under=(H.uniform,))


def build(key, n, shift):
    return jax.random.uniform(key, (n, n)) + shift


def subjects(claim):
    return {
        "uniform": Subject(build, shift=0.0),
        "shifted": Subject(build, shift=1.0).breaking(H.uniform, fails=claim),
    }


theorem = Theorem(
    place="nowhere", label="derived", hypotheses=H, claims=dict(half=half, trace=trace),
    experiments=dict(
        entries=Experiment(lambda A: dict(mean=jnp.mean(A)), mean, {n: (5, 9)}, draws=256, subjects=subjects(half)),
        eigenvalues=Experiment(
            lambda A: dict(least=jnp.mean(jnp.linalg.eigvals(A).real)), least, {n: (5, 9)}, draws=256,
            subjects=subjects(trace),
        ),
    ),
)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "matrices.py").write_text(THEOREM.replace(', broken_by="shifted"', ""))
    return papers


@pytest.fixture
def accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU as `gpu`, with a gigabyte."""
    monkeypatch.setattr(platform, "processor", lambda device, real=platform.processor: real("cpu"))
    monkeypatch.setattr(platform, "memory", lambda device: 2**30 if device == "gpu" else None)
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


def checked(catalogue: Catalogue, theorem: str, settings: Settings, state: Path) -> Document:
    """The report of a run of this theorem alone."""
    own = replace(settings, state=str(state), fresh=True)
    found = run(Selection((theorem,), (theorem,)), own, catalogue, sources=Sources())
    return document(found, own, ["pytest"], "2026-01-01T00:00:00Z")


@pytest.mark.parametrize("theorem", ["haar_frames", "attention_products"])
def test_a_theorem_says_the_same_with_eight_draws_at_a_time(theorem, tmp_path):
    """Held against what one draw at a time gives: no word and no estimate moves."""
    one, eight = (checked(Catalogue(), theorem, Settings(effort="quick", batch=n), tmp_path) for n in (None, 8))
    comparison = compared(baselines.taken(one), eight, strict=True)
    assert comparison.claims
    assert [row.claim for row in comparison.claims if row.change is not Change.KEPT or row.exit] == []
    (part,) = eight.theorems
    assert {(each.device, each.batch) for each in part.work.vectorised} == {("cpu", 8)}
    assert shlex.split(part.replay)[-2:] == ["--batch", "8"]


@pytest.mark.usefixtures("accelerator")
def test_an_accelerator_draws_what_it_can_and_says_what_it_left(root, tmp_path):
    chosen = Settings(roots=(str(root),), state=str(tmp_path / "state"), fresh=True)
    one, other = (observe("matrices", replace(chosen, device=device)).outcome for device in ("cpu", "gpu"))
    assert one.work.vectorised == ()
    assert other.work.vectorised == (
        VectorisedPrograms("gpu", 64, 2),  # a quarter of the draws, at two sizes
        VectorisedPrograms("cpu", 1, 2, ("eig",)),
    )
    assert [claim.status for claim in other.claims] == [claim.status for claim in one.claims]
    assert {claim.status for claim in one.claims} == {"SUPPORTED"}
    half, trace = zip(one.claims, other.claims, strict=True)
    assert trace[0].cases == trace[1].cases  # drawn on the CPU, one at a time, either way
    assert abs(half[0].cases[0].estimate - half[1].cases[0].estimate) < half[0].cases[0].standard_error


@pytest.mark.usefixtures("accelerator")
def test_a_program_that_has_no_place_there_is_an_error_of_its_theorem_alone(root, tmp_path, monkeypatch):
    monkeypatch.setattr(platform, "memory", lambda device: 1024 if device == "gpu" else None)
    found = checked(
        Catalogue.of((str(root),)), "matrices", Settings(roots=(str(root),), device="gpu"), tmp_path / "state"
    )
    (part,) = found.theorems
    assert part.status == "ERROR"
    assert "One draw of" in part.reason and "`--device cpu`" in part.reason


def test_results_of_other_batches_are_kept_apart(root):
    sources, file = Sources(), root / "matrices.py"
    one, eight = (sources.manifest(file, Settings(batch=batch)) for batch in (None, 8))
    assert {name for name in one if one[name] != eight[name]} == {"setting batch"}
    assert Settings().key != Settings(batch=8).key


def test_the_option_is_refused_below_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert settings_of({"batch": 8}).batch == 8
    assert settings_of({}).batch is None
    with pytest.raises(UsageError, match="--batch 0"):
        settings_of({"batch": 0})


def test_the_report_says_where_programs_were_drawn(root, tmp_path):
    found = checked(Catalogue.of((str(root),)), "matrices", Settings(roots=(str(root),), batch=8), tmp_path / "state")
    told = " ".join(str(block) for block in cost(found.theorems[0]))
    assert "2 programs with 8 draws at a time on the cpu" in told
    assert "2 programs with 1 draw at a time on the cpu, for the host takes its steps eig" in told
