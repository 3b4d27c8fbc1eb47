"""The catalogue: what is read from the tree and from the text of the files."""

from __future__ import annotations

import tomllib
from pathlib import Path

import fakes
import pytest

from theorax.errors import UsageError
from theorax.theorems.catalogue import Catalogue


@pytest.fixture
def root(tmp_path):
    return fakes.library(tmp_path)


def test_ids_papers_titles_and_citations_come_from_the_tree(root):
    catalogue = Catalogue.of([root])
    assert catalogue.ids == ("lanczos", "bulk", "edge", "gap")
    assert catalogue.papers == {"instruments": ("lanczos",), "spectra": ("bulk", "edge", "gap")}
    assert catalogue.title("gap") == "The gap opens"
    assert catalogue.citation("spectra") == catalogue.heading("spectra") == "A. Author, Spectra of things, 2025"
    assert catalogue.citation("instruments") == "instruments"


def test_facts_come_from_the_text(root):
    facts = Catalogue.of([root]).facts("gap")
    assert (facts.label, facts.place, facts.uses, facts.kinds) == ("reconstructed", "Theorem 2", ("bulk",), ("rate",))
    assert facts.problem is None


TITLES = [
    ('"""One line."""', "One line"),
    ('r"""Raw $\\sigma$.\n\nMore."""', "Raw $\\sigma$"),
    ("#!/usr/bin/env python\n# a comment\n'''Single.'''", "Single"),
    ('"""\nNext line."""', ""),
    ("x = 1", ""),
]


@pytest.mark.parametrize(("text", "title"), TITLES)
def test_the_title_is_the_first_line_of_the_docstring(root, text, title):
    fakes.library(root, new=f"{text}\ntheorem = 3\n")
    assert Catalogue.of([root]).title("new") == title


PROBLEMS = [
    ('"""T."""\ntheorem = Theorem(', "spectra/new.py, line 2"),
    ('"""T."""\ntheorem = 3', "does not close with `theorem = Theorem(...)`"),
    ('"""T."""\nnames = ("bulk",)\ntheorem = Theorem(uses=names)', "`uses=names` is no tuple of ids written out"),
    ('"""T."""\ntheorem = Theorem(uses=("bulk"))', "is no tuple of ids"),
    ('"""T."""\ntheorem = Theorem(uses=("bulc",))', "did you mean `bulk`?"),
    ('"""T."""\ntheorem = Theorem(label="guessed")', "none of read, reconstructed, derived"),
    ("theorem = Theorem()", "has no docstring"),
    ("\0\ntheorem = 3", "cannot"),
]


@pytest.mark.parametrize(("text", "said"), PROBLEMS)
def test_a_wrong_file_is_a_sentence(root, text, said):
    fakes.library(root, new=text)
    catalogue = Catalogue.of([root])
    assert said in (catalogue.problem("new") or "")
    assert catalogue.problem("gap") is None


def test_a_file_that_is_named_like_an_option_is_a_problem(root):
    fakes.library(root, **{"-v": '"""T."""\ntheorem = Theorem()\n'})
    assert "is named like an option" in Catalogue.of([root]).problem("-v")


def test_two_files_of_one_id_are_a_problem(root):
    (root / "instruments" / "gap.py").write_text(fakes.stated(), encoding="utf-8")
    problem = Catalogue.of([root]).problem("gap") or ""
    assert "instruments/gap.py and" in problem and "spectra/gap.py. " in problem


def test_an_unknown_id_names_the_nearest(root):
    with pytest.raises(UsageError, match="did you mean `lanczos`"):
        Catalogue.of([root]).facts("lanzcos")


def test_every_theorem_of_the_library_reads_without_a_problem():
    catalogue = Catalogue()
    assert {id: problem for id in catalogue.ids if (problem := catalogue.problem(id))} == {}


def test_the_import_contract_of_papers_names_every_paper():
    settings = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {entry["name"]: entry for entry in settings["tool"]["importlinter"]["contracts"]}
    name = "an instrument may know a paper; a paper knows neither an instrument nor another paper"
    instruments, papers = contracts[name]["layers"]
    assert instruments == "theorax.theorems.instruments"
    assert {paper.strip() for paper in papers.split("|")} == {
        f"theorax.theorems.{paper}" for paper in Catalogue().papers if paper != "instruments"
    }
