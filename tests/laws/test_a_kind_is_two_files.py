"""A kind of claim is two files: one that owns its meaning, one that lowers it. A toy kind is added to a copy and counted."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from presented import missing, of_the_body

import theorax
from theorax.decide.kinds import KindWords
from theorax.language import KINDS
from theorax.reports.reading import read
from theorax.theorems.catalogue import kinds_of_claim
from theorax.verifiers.kinds import JUDGES

PACKAGE = Path(theorax.__file__).parent
MEANING = '''"""Signs: what is measured is positive in at least a share of the draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from sympy import Expr, latex

from theorax.decide.kinds import KindWords, DecidedQuantity
from theorax.decide.status import Side
from theorax.language.claims.claim import Claim, needs_margin, needs_measured
from theorax.language.notation import inline
from theorax.language.variants import Change


@final
@dataclass(frozen=True)
class Positivity(Claim):
    """``of`` is positive with at least the probability ``share``."""

    of: Expr
    share: Expr
    words = KindWords(
        "positivity",
        DecidedQuantity("share of positive draws", verb="counted", is_share=True),
        deviation="positive draws {} short",
    )
    measured_fields = ("of",)
    stated_fields = ("share",)
    predicted_fields = ("share",)
    speaks_of_the_law_drawn = True

    def __post_init__(self) -> None:
        super().__post_init__()
        needs_measured(self, "of")
        needs_margin(self)

    @property
    def sided(self) -> Side:
        return Side.AT_LEAST

    @property
    def formula(self) -> str:
        return f"{inline(self.of)} is positive in a share {inline(self.share)} of the draws"

    @property
    def formula_latex(self) -> str:
        return rf"{latex(self.of)} > 0 \\quad ({latex(self.share)})"

    def wrong_variants(self) -> Iterator[Change]:
        yield "the other sign", {"of": -self.of}

    def weaker_variants(self) -> Iterator[Change]:
        yield "half the share", {"share": self.share / 2}
'''
LOWERING = '''"""Signs lowered to a plan of a probability."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

from theorax.decide.case_results import PlannedCase
from theorax.decide.probabilities import ProbabilityPlan, decide_probability
from theorax.decide.status import Levels
from theorax.language.claims.positivity import Positivity
from theorax.verifiers.cases.evaluation import Observed, evaluate_draws
from theorax.verifiers.cases.sweep_lines import Cell
from theorax.verifiers.kinds.lowering import CellCase, CellResult, Judge


@final
@dataclass(frozen=True)
class PositivityJudge(Judge[Positivity]):
    """Every size is a case of its own."""

    kind = Positivity

    def cells(self, claim, line):
        for size in line.sizes:
            yield from super().cells(claim, replace(line, sizes=(size,)))

    def prepare(self, claim: Positivity, cell: Cell, levels: Levels, original: Positivity) -> CellCase:
        share, margin = cell.number(claim.share, cell.line.sizes[0]), float(original.margin.value)
        plan = ProbabilityPlan(at_least=share, margin=margin, draws=cell.line.draws, levels=levels)
        return PlannedCase.of(cell, plan, claim.sided)

    def judge(self, claim: Positivity, case: CellCase, observed: Observed) -> CellResult:
        at = observed.line.sizes.index(case.cell.line.sizes[0])
        values = evaluate_draws(claim.of, Cell(observed.line, case.cell.chosen), observed, at)
        tested = decide_probability(case.plan, int((values > 0).sum()), 0)
        return case.decided(tested)
'''
THEOREM = '''"""Squares of normal numbers are positive."""

import jax
from sympy import Rational

from theorax.language import *

n = Size("n", "how many")
seen = numbers(square="the square of a normal number")
H = hypotheses(normal="the number is normal")
positive = Positivity(
    seen.square,
    Rational(9, 10),
    margin=Absolute(1, 10, "a fifth of negative numbers would matter"),
    wrong={"certain of the opposite": dict(of=-seen.square, share=Rational(19, 20))},
)


def build(key, n, sign):
    return sign * jax.random.normal(key) ** 2


def observe(net, n):
    return dict(square=net)


theorem = Theorem(
    place="nowhere",
    label="derived",
    hypotheses=H,
    claims=dict(positive=positive),
    experiments=dict(
        draws=Experiment(observe, seen, {n: 8}, draws=200, subjects={
            "normal": Subject(build, sign=1),
            "negated": Subject(build, sign=-1).breaking(H.normal, fails=positive),
        }),
    ),
)
'''
KIND = {"language/claims/positivity.py": MEANING, "verifiers/kinds/positivity_lowering.py": LOWERING}
TOY = {"theorems/toys/__init__.py": '"""Toys."""\n', "theorems/toys/always_positive.py": THEOREM}


def digests(package: Path) -> dict[str, str]:
    """Every file of the package with a digest of what it holds."""
    return {
        path.relative_to(package).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def verify(home: Path, *words: str) -> str:
    """What the command of the copy under ``home`` prints; it must succeed."""
    done = subprocess.run(
        [sys.executable, "-m", "theorax", *words],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(home)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package to which a kind of claim and a theorem that makes one were added."""
    home = tmp_path_factory.mktemp("copy")
    shutil.copytree(PACKAGE, home / "theorax", ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in {**KIND, **TOY}.items():
        place = home / "theorax" / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return home


def test_a_toy_kind_is_stated_attacked_decided_and_told(home: Path) -> None:
    told = verify(
        home, "theorem", "always_positive", "--effort", "quick", "--fresh", "-o", "terminal", "-o", "json=report.json"
    )
    assert "SUPPORTED" in told
    report = json.loads((home / "report.json").read_text(encoding="utf-8"))
    (found,) = report["theorems"]
    (claim,) = found["claims"]
    assert (claim["kind"], claim["status"], claim["side"]) == ("positivity", "SUPPORTED", "at_least")
    assert claim["statement"] == "square is positive in a share 9/10 of the draws"
    assert claim["because"] == "a fifth of negative numbers would matter"
    outcomes = {mutant["name"]: (mutant["origin"], mutant["killed"]) for mutant in found["mutants"]}
    assert outcomes == {
        "certain of the opposite": ("file", True),
        "the other sign": ("machine", True),
        "half the share": ("machine", False),
    }
    assert [control["fired"] for control in found["controls"]] == [True]
    assert any(part["kind"] == "law" for part in claim["ledger"]), "its support speaks of the law that was drawn"


SAID = {
    "report.html": ("share of positive draws ≥ 0.9", "positive draws", "counted"),
    "report.md": ("positive draws", "always_positive"),
    "report.xml": ("square is positive in a share 9/10 of the draws",),
}


def test_the_words_of_a_toy_kind_are_in_every_rendering(home: Path) -> None:
    formats = ("html=report.html", "markdown=report.md", "junit=report.xml", "json=words.json")
    outputs = [word for output in formats for word in ("-o", output)]
    told = verify(home, "theorem", "always_positive", "--effort", "quick", "-v", "-o", "terminal", *outputs)
    assert "counted" in told and "refutes 9 times in 10: positive draws" in told
    texts = {name: (home / name).read_text(encoding="utf-8") for name in SAID}
    for name, words in SAID.items():
        assert [word for word in words if word not in texts[name]] == [], name
    found = list(of_the_body(read(home / "words.json")))
    assert {"Margin", "Risk", "Attempt", "Power"} <= {fact.key for fact in found}
    assert missing(found, told, texts["report.html"], texts["report.md"]) == []


def test_a_toy_kind_is_known_to_the_catalogue(home: Path) -> None:
    assert "always_positive" in verify(home, "list", "kind:positivity")


def test_it_took_two_files(home: Path) -> None:
    before, after = digests(PACKAGE), digests(home / "theorax")
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert changed - TOY.keys() == KIND.keys()


def test_every_kind_of_claim_has_one_file_of_meaning_and_one_judge() -> None:
    def files(modules: Mapping[str, type]) -> dict[str, str]:
        return {name: owner.__module__.rpartition(".")[2] for name, owner in modules.items()}

    meaning = files({kind.__name__: kind for kind in KINDS})
    lowering = files({kind.__name__: type(judge) for kind, judge in JUDGES.items()})
    assert len(KINDS) == len(set(KINDS)) == len(JUDGES)
    assert meaning == {name: name.lower() for name in meaning}
    assert lowering == {name: f"{name.lower()}_lowering" for name in meaning}
    assert kinds_of_claim() == {name: name.lower() for name in meaning}


def kinds_asked_for(path: Path) -> list[str]:
    """The places in a file that ask a value whether it is of one kind of claim."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    own = [node for node in froms if str(node.module).startswith("theorax.language")]
    imported = {name.asname or name.name for node in own for name in node.names} & kinds_of_claim().keys()
    return [
        f"{path.relative_to(PACKAGE)}:{call.lineno} asks for a {name.id}"
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in ("isinstance", "issubclass")
        for name in ast.walk(call.args[1])
        if isinstance(name, ast.Name) and name.id in imported
    ]


NAMES = {*kinds_of_claim().values(), "mean", "quantile"}
OWNERS = ("language/claims/", "cli/statements.py", "cli/data.py")  # the last reads options of these names


def kinds_named(path: Path) -> list[str]:
    """The places in a file that compare ``.kind`` with the name of a kind, or look something up by it."""

    def is_kind(node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and node.attr == "kind"

    def names(node: ast.AST | None) -> set[str]:
        found = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant)) if node is not None else ()
        return {value for value in found if isinstance(value, str)} & NAMES

    def offends(node: ast.AST) -> bool:
        match node:
            case ast.Compare(left=left, comparators=others):
                return any(map(is_kind, (left, *others))) and bool(names(node))
            case ast.Match(subject=subject):
                return any(map(is_kind, ast.walk(subject))) and any(names(case.pattern) for case in node.cases)
            case ast.Dict(keys=keys):
                return len({name for key in keys if isinstance(key, ast.Constant) for name in names(key)}) > 1
            case ast.Subscript(value=ast.Name(id=table), slice=index):
                return table.isupper() and is_kind(index)
            case ast.Call(func=ast.Attribute(attr="get", value=ast.Name(id=table)), args=[first, *_]):
                return table.isupper() and is_kind(first)
        return False

    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [f"{path.relative_to(PACKAGE)}:{node.lineno}" for node in ast.walk(tree) if offends(node)]  # type: ignore[attr-defined]


def compared_in(template: str) -> list[str]:
    """The comparisons of a kind with a name in the text of a template."""
    return re.findall(r"\bkind\s*(?:==|!=|in\b)\s*[('\"][^%}]*", template)


def test_no_template_names_a_kind() -> None:
    templates = sorted(PACKAGE.rglob("*.html"))
    assert templates and {path.name: found for path in templates if (found := compared_in(path.read_text()))} == {}
    assert compared_in("{% if claim.kind == 'rate' %}") and compared_in("{% if claim.kind in ('law', 'limit') %}")


def test_only_a_kind_itself_names_it() -> None:
    files = (path for path in sorted(PACKAGE.rglob("*.py")) if "theorems" not in path.relative_to(PACKAGE).parts[:1])
    own = (path for path in files if not path.relative_to(PACKAGE).as_posix().startswith(OWNERS))
    assert [place for path in own for place in kinds_named(path)] == []


@pytest.mark.parametrize(
    "line",
    [
        'claim.kind == "rate"', '"law" != old.kind', 'claim.kind in ("law", "limit")', 'WORDS[claim.kind]',
        'WORDS.get(claim.kind, "")', '{"limit": 1, "rate": 2}', 'match claim.kind:\n    case "law":\n        pass',
    ],
)  # fmt: skip
def test_a_table_of_kinds_would_be_found(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.PACKAGE", tmp_path)
    (tmp_path / "table.py").write_text(f"{line}\n")
    assert kinds_named(tmp_path / "table.py") == ["table.py:1"]


def test_every_kind_has_its_words() -> None:
    assert {kind.__name__: kind.words.kind for kind in KINDS if isinstance(kind.words, KindWords)} == {
        name: kind
        for name, kind in kinds_of_claim().items()
        if name != "Expectation"  # whose words are a property
    }


def test_nobody_asks_of_which_kind_a_claim_is() -> None:
    assert [place for path in sorted(PACKAGE.rglob("*.py")) for place in kinds_asked_for(path)] == []


def test_a_question_of_which_kind_a_claim_is_would_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.PACKAGE", tmp_path)
    (tmp_path / "asking.py").write_text(
        "from theorax.language import Claim, Limit, Rate\nisinstance(claim, Claim)\nisinstance(claim, Limit | Rate)\n"
    )
    found = kinds_asked_for(tmp_path / "asking.py")
    assert found == ["asking.py:3 asks for a Limit", "asking.py:3 asks for a Rate"]
