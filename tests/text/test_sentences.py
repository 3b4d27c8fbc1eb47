"""Sentences that a user sees obey the rules of English in STYLE.md, as far as a pattern can tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping

import pytest
from sentences import (
    DOCUMENTED,
    HOLE,
    PACKAGE,
    PICTURES,
    Text,
    docstrings,
    literals,
    of_help,
    of_the_code,
    of_the_pictures,
)

from theorax.decide.status import Reason
from theorax.names import many
from theorax.text.glossary import GLOSSARY

LONGEST = 25
QUOTED = re.compile(r"`[^`\n]*`|“[^”]*”|\"[^\"]*\"")
NEGATIVE = re.compile(
    r"\b(?:not|[Nn]o|[Nn]ever|none|[Nn]othing|[Nn]obody|[Nn]either|[Ww]ithout|[Cc]annot|\w+n't)\b"
)  # None is a value
CLAUSE = re.compile(
    r"[][,;:()]|\b(?:and|but|because|so that|so|or|nor|if|since|where|which|while|unless|as|than|when|until)\b"
)
REJECTED = re.compile(
    r"\b[Tt]hat it (?:is|holds)\b[^.]*\breject"
    r"|\breject\w* that\b[^.]*\bfalse\b"
    r"|\b(?:rul(?:e|es|ed|ing) out|exclud\w+|reject\w*)\b[^.;:,]*\b(?:neither|not|no|never)\b"
    r"|\b(?:neither|no|never)\b[^.;:,]*\b(?:ruled? out|excluded?|rejected)\b"
)
BANNED = re.compile(
    r"\b(?:noticeable|kill|kills|killed|killing|fires|fired|cannot be meant|no success|is said of)\b", re.IGNORECASE
)
CODE = re.compile(rf"\b(?:{'|'.join(code for code in Reason if '_' in code)})\b")


def words(sentence: str) -> int:
    """The number of words; what stands between backticks or quotation marks is one."""
    return sum(any(sign.isalnum() or sign == HOLE for sign in word) for word in QUOTED.sub("x", sentence).split())


def _doubly_negated(sentence: str) -> bool:
    plain = QUOTED.sub("x", sentence)
    return bool(REJECTED.search(plain)) or any(
        len(NEGATIVE.findall(clause)) > 1 for clause in CLAUSE.split(plain.replace("not only", "both"))
    )


RULES: Mapping[str, Callable[[str], bool]] = {
    "long": lambda sentence: words(sentence) > LONGEST,
    "negated": _doubly_negated,
    "code": lambda sentence: bool(CODE.search(QUOTED.sub("x", sentence))),
    "opening": lambda sentence: bool(re.match(r"(?:What|That)\b", sentence)) and not sentence.endswith("?"),
    "banned": lambda sentence: bool(BANNED.search(QUOTED.sub("x", sentence))),
}


def nouns() -> set[str]:
    """Plurals of the nouns that are counted anywhere in the package by `many`, and of those that a design holds."""
    found = {
        "sizes",
        "draws",
        "claims",
        "theorems",
        "cases",
        "points",
        "rows",
        "columns",
        "instances",
        "numbers",
    }
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "many":
                said = [part.value for part in node.args[1:] if isinstance(part, ast.Constant)]
                found |= {_plural(*said)} if said else set()  # a theorem's own function may have this name
    return found - {"times"}  # of a factor too


def _plural(one: str = "", several: str | None = None) -> str:
    return many(2, one, several).removeprefix("2 ")


def miscounted(text: Text, counted: set[str]) -> Iterator[str]:
    """Values that stand before a noun in the plural, whatever the value: a count of one is then told as `1 sizes`."""
    noun = re.compile(rf" (?:{'|'.join(sorted(counted))})\b")
    for node in ast.walk(text.source) if text.source is not None else ():
        if isinstance(node, ast.JoinedStr):
            for value, after in zip(node.values, node.values[1:], strict=False):
                told = isinstance(value, ast.FormattedValue) and ast.unparse(value.value)
                if told and not told.isupper() and isinstance(after, ast.Constant) and noun.match(str(after.value)):
                    yield f"{{{told}}}{noun.match(str(after.value))[0]}"
    yield from re.findall(rf"(?<![\w.,/-])1 (?:{'|'.join(sorted(counted))})\b", text.text)


def offences() -> Iterator[tuple[str, str, str]]:
    """Rule, place and sentence of every offence."""
    counted = nouns()
    texts = [*of_help(), *of_the_code(), *of_the_pictures()]
    for text in texts:
        for miscount in miscounted(text, counted):
            yield "count", text.place, miscount
    for text in [*texts, *docstrings()]:
        for sentence in text.sentences:
            for name, broken in RULES.items():
                if broken(sentence):
                    yield name, text.place, sentence
    for word in unused():
        yield "unused", "text/glossary.py", word


def unused() -> Iterator[str]:
    """Words of the glossary that no text of two words or more says outside it."""
    trees = [
        ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py") if path.name != "glossary.py"
    ]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    told = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    told -= {ast.get_docstring(node, clean=False) for node in nodes if isinstance(node, DOCUMENTED)}
    for word in GLOSSARY:
        told_as = f"{word.removesuffix('y')}(?:y|ies)" if word.endswith("y") else f"{word}s?"
        said = re.compile(rf"{told_as}\b.* |.* {told_as}\b", re.IGNORECASE | re.DOTALL)  # alone it is a name
        if not any(said.match(text) for text in told):
            yield word


def test_sentences_obey_the_rules():
    assert not ["\t".join(offence) for offence in offences()]


@pytest.mark.parametrize("picture", sorted(PICTURES.glob("*.txt")), ids=lambda path: path.stem)
def test_pictures_count_in_the_plural_and_hold_no_banned_word(picture):
    told = " ".join(picture.read_text(encoding="utf-8").split())
    assert not list(miscounted(Text(picture.name, told), nouns()))
    assert not BANNED.search(told)
    assert not CODE.search(told)


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("long", " ".join(["word"] * 26) + "."),
        ("negated", "That it is off by the margin or more is rejected."),
        ("negated", "A test rejected that the claim is false."),
        ("negated", "Nothing follows from nothing."),
        ("code", "Undecided because of class_bias."),
        ("opening", "What is asked stands here."),
        ("opening", "That it holds is shown."),
        ("banned", "The number 7 cannot be meant."),
        ("banned", "14 of 14 repetitions kill it."),
    ],
)
def test_a_rule_finds_what_breaks_it(rule, sentence):
    assert RULES[rule](sentence)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_counts_are_told_in_singular_and_plural(count):
    told = many(count, "size"), many(count, "entry", "entries")
    assert told == ((f"{count} size", f"{count} entry") if count == 1 else (f"{count} sizes", f"{count} entries"))


@pytest.mark.parametrize(
    "code",
    [
        'f"{len(sizes)} sizes were planned"',
        '"The table has 1 rows of draws."',
        'f"{plan.draws} draws were " + f"made of {kept}"',
        'sentence(f"{count} claims of this run hold.")',
    ],
)
def test_a_count_before_a_plural_is_found(code):
    (text,) = literals(f"told = {code}", "")
    assert list(miscounted(text, nouns()))
