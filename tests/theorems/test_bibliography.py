"""Entries of BibTeX, the labels that follow from them, and what is said of a file that holds none."""

from __future__ import annotations

import doctest
import string

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pybtex.richtext import Text

from theorax.errors import UsageError
from theorax.theorems import bibliography
from theorax.theorems.bibliography import read_bibtex, without_markup

ENTRY = """
A comment, even one with an {open brace.
@Article{cramer,
  author = "Cram{\\'e}r, Harald and H. {Wold}",
  title = {Some {Theorems} on
           distribution functions},
  year = 1936, doi = {10.1112/jlms/s1-11.4.290}
}
@misc{three, author = {{A Body and Others} and Van Loan, Charles and B. \\"Osterreicher}, title = {T}, year = {2001a},
  eprint = {arXiv:2101.00001v2}}
@comment{left out}
"""


@pytest.fixture
def file(tmp_path):
    folder = tmp_path / "papers"
    folder.mkdir()
    return folder / "references.bib"


def test_examples():
    assert doctest.testmod(bibliography).failed == 0


@settings(max_examples=500)
@given(st.text(alphabet="abX1 \n" + string.punctuation + "éł–’", max_size=12))
def test_what_holds_no_markup_is_read_as_latex_reads_it(text):
    assume(bibliography._MARKUP.search(text) is None)
    assert without_markup(text) == " ".join(str(Text.from_latex(text)).split())


def test_an_entry_is_read(file):
    file.write_text(ENTRY, encoding="utf-8")
    first, second = read_bibtex(file).works
    assert first.label == "Cramér and Wold 1936"
    assert first.told == "Harald Cramér and H. Wold (1936). Some Theorems on distribution functions."
    assert first.url == "https://doi.org/10.1112/jlms/s1-11.4.290"
    assert second.families == ("A Body and Others", "Van Loan", "Österreicher")
    assert second.label == "A Body and Others et al. 2001a"
    assert (second.arxiv, second.url) == ("2101.00001", "https://arxiv.org/abs/2101.00001")


def test_a_source_is_split_into_works(file):
    file.write_text(ENTRY, encoding="utf-8")
    works = read_bibtex(file)
    found, strangers = works.cited("Cramer and Wold 1936, theorem 1; own_lemma; Cramér and Wold 1937", ["own_lemma"])
    assert [work.key for work in found] == ["cramer"]
    assert strangers == ["Cramér and Wold 1937"]
    assert "did you mean `Cramér and Wold 1936`?" in works.unknown(strangers[0], "papers/references.bib")


def test_a_label_is_no_part_of_a_longer_word(file):
    file.write_text("@misc{a, author={Young, A.}, title={T}, year={1936}}", encoding="utf-8")
    assert read_bibtex(file).named("McYoung 1936, Young 19361") == []
    assert [work.key for work in read_bibtex(file).named("as in Young 1936.")] == ["a"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "@misc{a, author={B, C}, title={T}, year={1999}",
            "references.bib: syntax error in line 1: premature",
        ),
        ("\n@misc{a, author={B, C}, year={1999}}", "papers/references.bib: `@misc{a` has no title"),
        ("@misc{a}", "`@misc{a` has no author and no title and no year"),
        ("@misc{a, title={T}, year={soon}}", "has no author"),
        ("@misc{a, author={B, C}, title={T}, year={soon}}", "is no year"),
        ("@misc{a, author={B, C} title}", "syntax error in line 1"),
        ("@misc{a, author=, title={T}}", "field value expected"),
        (
            "@misc{a, author={B, C}, title={T}, year=1999}\n@misc{a, author={D, E}, title={T}, year=1999}",
            "repeated",
        ),
        ("@misc{a, author={B, C}, title={T}, year=1999}\n@misc{b, author={B, D}, title={U}, year=1999}", "1999a and"),
    ],
)
def test_what_is_no_entry_is_refused(file, text, told):
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=told.replace("{", "\\{").replace("(", "\\(")):
        read_bibtex(file)


def test_a_root_brings_works_of_its_own(file):
    file.write_text("@book{own, author={Muirhead, R.}, title={Mine}, year={1982}}", encoding="utf-8")
    works = bibliography.of([file.parent, file.parent.parent])
    assert [work.key for work in works.cited("Muirhead 1982; Weyl 1912")[0]] == ["own", "weyl"]
