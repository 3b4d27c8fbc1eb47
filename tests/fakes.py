"""Stand-ins for checks: outcomes as real ones look, and a small tree of theorem files."""

from __future__ import annotations

import os
import runpy
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from theorax.decide import limits, rates
from theorax.decide.findings import Finding, Found
from theorax.decide.kill_evidence import Basis
from theorax.decide.status import Direction, LargerClasses, Reason, Status
from theorax.decide.verdict import (
    Assumption,
    Case,
    ErrorRates,
    Grounds,
    Point,
    Statement,
    Verdict,
    again,
    settled_fields,
)
from theorax.errors import DesignError, StatementError, UsageError, option
from theorax.theorems.catalogue import Catalogue
from theorax.theorems.roots import Root
from theorax.verifiers.attempts import ClaimVersion, GivenAttempts, UncountedAttempts
from theorax.verifiers.outcome import (
    ControlOutcome,
    Expected,
    HypothesisOutcome,
    LetterOutcome,
    MutantOutcome,
    StepOutcome,
    StepStatus,
    TheoremOutcome,
    Work,
)
from theorax.verifiers.phases import IMPORTING, phase
from theorax.verifiers.settings import Settings

FILE = '''"""{title}."""

from theorax.language import Limit, Rate, Size, Theorem

theorem = Theorem(
    place="Theorem {number}",
    label="{label}",
    uses={uses},
    claims=dict(gap={kind}(of=s, as_=T)),
)
'''


def library(root: Path, **files: str) -> Path:
    """A root with one paper, ``spectra``, and an instrument; ``files`` replaces or adds texts by theorem id."""
    texts = {
        "instruments/lanczos": FILE.format(
            title="Lanczos finds the top", number=0, label="derived", uses=(), kind="Limit"
        ),
        "spectra/bulk": FILE.format(title="The bulk", number=1, label="read", uses=("lanczos",), kind="Limit"),
        "spectra/gap": FILE.format(title="The gap opens", number=2, label="reconstructed", uses=("bulk",), kind="Rate"),
        "spectra/edge": FILE.format(title="The edge", number=3, label="reconstructed", uses=("lanczos",), kind="Rate"),
    }
    texts |= {f"spectra/{name}": text for name, text in files.items()}
    for place, text in texts.items():
        path = root / f"{place}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (root / "spectra" / "__init__.py").write_text('"""A. Author, Spectra of things, 2025."""\n', encoding="utf-8")
    (root / "spectra" / "_helper.py").write_text("", encoding="utf-8")
    return root


def catalogue(root: Path) -> Catalogue:
    """The theorems of a folder as the library's: what checks them needs no process of its own."""
    return Catalogue((Root("library", "library", root),))


def stated(uses: tuple[str, ...] = (), kind: str = "Limit", title: str = "A theorem", label: str = "read") -> str:
    """The text of a theorem's file."""
    return FILE.format(title=title, number=9, label=label, uses=uses, kind=kind)


POINTS = tuple(
    Point(size=T, estimate=2 - 3.1 / T, standard_error=0.9 / T, draws=400) for T in (64.0, 128.0, 256.0, 512.0)
)
CASE = Case(
    subject="exponential weights",
    at={"gamma": "1/4"},
    predicted=2.0,
    estimate=1.9987,
    standard_error=0.0023,
    interval=(1.9921, 2.0053),
    bias=0.0021,
    margin=0.1,
    status=Status.SUPPORTED,
    reason=None,
    p_refute=0.61,
    p_support=1e-9,
    breakdown=7.4,
    noticeable=0.009,
    points=POINTS,
    detail="",
)


def verdict_of(stated, grounds, findings, cases, *, worst=0, rates=None, larger=None):
    """A verdict from parts that nobody measured, as a report reads one back."""
    parts = {**vars(stated), **vars(grounds), **vars(rates or ErrorRates()), **vars(larger or LargerClasses())}
    return again({**parts, **settled_fields(findings), "cases": tuple(cases), "worst": worst})


CLAIM = verdict_of(
    Statement(
        id="gap",
        kind="limit",
        words=limits.WORDS,
        statement="E[ √T⋅s₂(A) ] → 2⋅σ_A   as T → ∞",
        latex=r"\mathbb{E}[\sqrt{T} s_2(A)] \to 2\sigma_A",
        because="a radius of sigma_A instead of twice that is a factor two away",
        prediction="2⋅σ_A",
        as_="T",
        margin_given="5 % of the limit",
        design_hash="3f2a91c0",
    ),
    Grounds(
        draws=400,
        sizes=(64.0, 128.0, 256.0, 512.0),
        unseen=("corrections that decay more slowly than T^(-2/3)",),
        scope="as T → ∞ under the declared class",
        ledger=(
            Assumption("class", "corrections in powers 2/3 to 2", "declared"),
            Assumption("hypothesis", "iid: the weights are independent", "declared"),
        ),
        tightness=(1e-4, 2e-4, 3e-4),
    ),
    [Found(Finding.TEST_SUPPORTED, "The limit lies within the margin of 2: 1.9987(23), in [1.9921, 2.0053].")],
    [
        CASE,
        replace(
            CASE,
            subject="uniform weights",
            predicted=1.1547,
            estimate=1.1531,
            standard_error=0.0019,
            interval=(1.1478, 1.1584),
            at={"gamma": "1/2"},
        ),
    ],
    rates=ErrorRates(level=0.025, p_refute=0.61, p_support=1e-9),
    larger=LargerClasses(robust=True),
)
FOUND = {
    Status.PROVED: Finding.PROOF,
    Status.CERTIFIED: Finding.CERTIFICATE,
    Status.SUPPORTED: Finding.TEST_SUPPORTED,
    Status.REFUTED: Finding.TEST_REFUTED,
    Status.INCONCLUSIVE: Finding.UNDECIDED,
    Status.VACUOUS: Finding.TRIVIAL_BOUND,
    Status.BLOCKED: Finding.ANCESTOR_FAILED,
    Status.ERROR: Finding.HYPOTHESIS_VIOLATED,
}


def settled(claim: Verdict, *found: Finding, sentence: str = "", reason: Reason | None = None, **fields) -> Verdict:
    """The claim with these findings in the place of its own."""
    told = [Found(finding, sentence or claim.sentence, reason) for finding in found]
    return replace(claim, **fields).settled_by(told)


def verdict(status: str, finding: Finding | None = None, **fields) -> Verdict:
    """A claim with this status, from this finding or the usual one."""
    found = settled(CLAIM, finding or FOUND[Status(status)], **fields)
    assert found.status == status
    return found


RATE = settled(
    replace(
        CLAIM,
        id="decay",
        kind="rate",
        words=rates.WORDS,
        statement="E[ s₂(A) ] = Θ( 1/√T )   as T → ∞",
        direction=Direction.DECAY,
        cases=(
            replace(
                CASE,
                predicted=-0.5,
                estimate=-0.5031,
                standard_error=0.0041,
                interval=(-0.512, -0.494),
                at={},
                points=tuple(
                    Point(size=T, estimate=2.02 * T**-0.503, standard_error=0.03 * T**-0.5, draws=400)
                    for T in (64.0, 128.0, 256.0, 512.0)
                ),
            ),
        ),
    ),
    Finding.TEST_SUPPORTED,
    sentence="The exponent is -1/2 within the margin: -0.5031(41).",
)
MUTANTS = (
    *(MutantOutcome("gap", f"constant {n}", "E[s] → σ_A", True, Status.REFUTED, Expected.KILLED, "machine")
      for n in range(1, 31)),
    MutantOutcome("gap", "radius", "E[√T s₂] → σ_A", True, Status.REFUTED, Expected.KILLED, "file"),
    MutantOutcome("gap", "shift", "E[√T s₂] → 2⋅σ_A + 1/10", False, Status.SUPPORTED, Expected.KILLED, "machine",
                  "the shift is a twentieth of the limit, just inside the margin"),
    MutantOutcome("gap", "bound halved", "s ≤ σ_A", True, Status.REFUTED, Expected.TIGHT, "machine"),
    MutantOutcome("gap", "delta / 2", "P(s) ≥ 0.95", False, Status.SUPPORTED, Expected.TIGHT, "machine"),
    MutantOutcome("decay", "bound", "E[s₂] = O( 1/√T )", False, Status.SUPPORTED, Expected.STAYS, "machine"),
)  # fmt: skip


def outcome(id: str, status: str = "SUPPORTED", reason: str | None = None) -> TheoremOutcome:
    """A theorem's outcome with something of everything."""
    own = Status(status)
    claim = CLAIM
    if own is Status.REFUTED:
        claim = verdict(
            "REFUTED", p_refute=1e-12, p_support=1.0, sentence="The limit is not 2: 1.7432(23), in [1.7366, 1.7498].",
            cases=(replace(CASE, status=Status.REFUTED, estimate=1.7432, interval=(1.7366, 1.7498)),),
        )  # fmt: skip
    if own is Status.INCONCLUSIVE:
        claim = verdict("INCONCLUSIVE", reason=Reason.CLASS_BIAS, p_support=0.4)
    if own is Status.VACUOUS:
        claim = verdict(own)
    rate = RATE
    if own in (Status.PROVED, Status.CERTIFIED):
        claim, rate = verdict(own), settled(RATE, FOUND[own])
    return TheoremOutcome(
        id=id,
        title="A spectral gap opens between the two largest singular values of a random Markov matrix",
        paper="spectra",
        source="A. Author, Spectra of things, 2025.",
        place="Theorem 2",
        label="reconstructed",
        status=own,
        reason=reason,
        blocked_by=("bulk",) if own is Status.BLOCKED else (),
        uses=("bulk",),
        letters=(LetterOutcome("T", "context length"), LetterOutcome("s₂", "second singular value")),
        hypotheses=(
            HypothesisOutcome("iid", "the weights Z are independent with one law", (), "it is the model", None),
            HypothesisOutcome(
                "variance", "the weights have a finite variance", ("Pareto weights, tail 3/2",), None, None
            ),
            HypothesisOutcome(
                "stochastic", "every row of A sums to one", ("softmax off by one",), None, "100 % of the draws"
            ),
        ),
        claims=(claim, rate) if own is not Status.ERROR else (),
        controls=(
            ControlOutcome(
                "Pareto weights, tail 3/2",
                ("variance",),
                "gap",
                True,
                Status.REFUTED,
                "√T s₂ grows from 3.1 to 9.6",
                21,
                21,
                0.0093 ** (1 / 21),
                Basis.REPETITIONS,
                4,
            ),
            ControlOutcome(
                "softmax off by one", ("stochastic",), "decay", True, Status.REFUTED, "the exponent is -0.02(1)"
            ),
        ),
        mutants=MUTANTS,
        proof=(
            StepOutcome(
                "gap", "Generic m and s.", "the law of the bulk", "∫ x² dF(x) = σ_A²", StepStatus.PROVED, "SymPy"
            ),
            StepOutcome(
                "gap", "Generic m and s.", "its right end is the limit of s₂", "Bai and Yin 1993", StepStatus.CITED, ""
            ),
        ),
        issues=("laws of the weights other than the ones drawn",),
        replay=f"verify theorem {id} --fresh --effort standard",
        work=Work(seconds=12.4, draws=3200, programs=3, compile_seconds=4.1, cpu_seconds=13.9),
    )


def check(id: str, settings: Settings) -> TheoremOutcome:
    """What the theorem's id asks for."""
    if folder := os.environ.get("THEORAX_TEST_CALLS"):
        (Path(folder) / f"{id}.{time.time_ns()}").write_text(os.environ.get("OMP_NUM_THREADS", ""), encoding="utf-8")
    with phase("drawing", 1, 2):
        found = outcome(id)
    if id.startswith("echo"):
        return replace(outcome(id, Status.REFUTED, "gap: The limit is not 2."), replay=settings.replay((id,)))
    if id.startswith("refuted"):
        return outcome(id, Status.REFUTED, "gap: The limit is not 2.")
    if id.startswith("open"):
        return outcome(id, Status.INCONCLUSIVE, "gap: the bias bound dominates.")
    if id.startswith("raises"):
        raise ZeroDivisionError("a programmer's error")
    if id.startswith("states"):
        raise StatementError("The claim has no margin. Write one.")
    if id.startswith("weak"):
        raise DesignError("Too weak to decide: half-width 0.4 against a margin of 0.1. Draw 6400.")
    if id.startswith("misused"):
        raise UsageError(f"`{option('at')} delta=1`: misused has no letter `delta`; its letters are gamma and l.")
    if id.startswith("dies"):
        os.kill(os.getpid(), signal.SIGKILL)
    if id.startswith(("edits", "removes")):
        file = Catalogue.of(settings.roots).path(id)
        if id.startswith("edits"):
            file.write_text(file.read_text(encoding="utf-8") + "\nadded = 1\n", encoding="utf-8")
        else:
            file.unlink()
    if id.startswith("slow"):
        time.sleep(60)
    if id.startswith("naps"):
        Path(settings.state, f"naps under {os.getppid()}").touch()
        time.sleep(5)
    if id.startswith("exits"):
        raise SystemExit(0)
    if id.startswith("generator_exits"):
        raise GeneratorExit
    if id.startswith("interrupts"):
        raise KeyboardInterrupt
    return replace(found, work=replace(found.work, seconds=0.01 * len(id)))


def version(id: str) -> ClaimVersion:
    """The version of the one claim that `counted` tries."""
    return ClaimVersion(id, "gap", "s", "d", form="f")


def worker_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let worker processes find these fakes, and put back what a run says of threads."""
    for name in ("XLA_FLAGS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    paths = os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", paths)


def counted(id: str, settings: Settings, log: GivenAttempts | None = None) -> TheoremOutcome | UncountedAttempts:
    """What `check` finds, of one claim whose attempt is counted before."""
    if log is None:
        return UncountedAttempts((version(id),))
    entry = log.begin(version(id))
    try:
        found = check(id, settings)
    except ZeroDivisionError:
        log.finish({version(id): Status.ERROR})
        raise
    log.finish({version(id): Status(found.claims[0].status)})
    claim = replace(found.claims[0], attempt=entry.number if entry is not None else 1, log=entry)
    return replace(found, claims=(claim, *found.claims[1:]))


ENDING = '''"""A file that may end its process."""

import os, signal, subprocess, sys, threading, time


def Theorem(**_):
    """Take the place of the language, whose import takes longer than all the rest."""


{at_import}


def build():
    {in_build}


def observe():
    {in_observe}


theorem = Theorem(place="", label="derived", claims=dict())
'''


def ending(path: Path, place: str, statement: str) -> Path:
    """A theorem's file that executes a statement ``at_import``, ``in_build`` or ``in_observe``, for `executed`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    places = dict.fromkeys(("at_import", "in_build", "in_observe"), "pass") | {place: statement}
    path.write_text(ENDING.format(**places), encoding="utf-8")
    return path


def executed(id: str, settings: Settings) -> TheoremOutcome:
    """Execute the theorem's file, and its functions, as a check does."""
    with phase(IMPORTING):
        stated = runpy.run_path(str(Catalogue.of(settings.roots).path(id)))
    stated["build"]()
    stated["observe"]()
    return outcome(id)
