"""The works that texts cite, read from ``references.bib``: one file for the library, one for each of a user's roots.

A text cites by label, and a label follows from authors and year: ``Weyl 1912``, ``Golub and Kahan 1965``,
``Matthews et al. 2018``. What follows a label is a place in the work; a semicolon parts several works. Accents count
for nothing when a label is looked up, so that a file of plain letters can cite ``Cramer and Wold 1936``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from theorax.errors import UsageError
from theorax.names import did_you_mean

if TYPE_CHECKING:
    from pybtex.database import Entry, Person

FILE = "references.bib"
LIBRARY = Path(__file__).parent / FILE

_ARXIV = re.compile(r"(?:arXiv:)?(?P<id>[\w.-]+/\d{7}|\d{4}\.\d{4,5})(v\d+)?", re.IGNORECASE)

# What LaTeX reads as another sign, or as none; most values have nothing of it.
_MARKUP = re.compile(r"[\\{}%~$]|--|``|''|,,|[?!]`")


@dataclass(frozen=True, eq=False)
class BibliographyEntry:
    """One entry: its key, its authors as they are printed and by family name, its fields as plain text."""

    key: str
    authors: tuple[str, ...]
    families: tuple[str, ...]
    fields: Mapping[str, str]

    @property
    def year(self) -> str:
        """The year, with a letter where several works share a label."""
        return self.fields["year"]

    @property
    def label(self) -> str:
        """By what name a text cites it.

        >>> BibliographyEntry("k", ("Gene H. Golub", "W. Kahan"), ("Golub", "Kahan"), {"year": "1965"}).label
        'Golub and Kahan 1965'
        """
        first, *others = self.families
        names = first if not others else f"{first} and {others[0]}" if len(others) == 1 else f"{first} et al."
        return f"{names} {self.year}"

    @property
    def told(self) -> str:
        """The whole entry on one line: authors, year, title, where it was published."""
        *others, last = self.authors
        names = f"{', '.join(others)} and {last}" if others else last
        parts = [f"{names} ({self.year})", self.fields["title"], *self._where()]
        return " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in parts)

    @property
    def url(self) -> str:
        """Address where it can be read; empty if the entry has none."""
        if "doi" in self.fields:
            return f"https://doi.org/{self.fields['doi'].removeprefix('https://doi.org/')}"
        if self.arxiv:
            return f"https://arxiv.org/abs/{self.arxiv}"
        return self.fields.get("url", "")

    @property
    def arxiv(self) -> str:
        """The id at arXiv; empty if there is none."""
        found = _ARXIV.fullmatch(self.fields.get("eprint", ""))
        return found["id"] if found else ""

    def _where(self) -> Iterator[str]:
        found = self.fields
        whole = found.get("journal") or found.get("booktitle") or found.get("school") or found.get("howpublished")
        if whole:
            number = f"({found['number']})" if "number" in found and "volume" in found else ""
            volume = f" {found['volume']}{number}" if "volume" in found else ""
            yield f"{whole}{volume}" + (f", {found['pages']}" if "pages" in found else "")
        if "edition" in found:
            yield f"{found['edition'].capitalize()} edition"
        if "publisher" in found and not whole:
            yield found["publisher"]
        if self.arxiv:
            yield f"arXiv:{self.arxiv}"


@dataclass(frozen=True)
class Bibliography:
    """Works, found by key or by label; of two with one name the later is meant."""

    works: tuple[BibliographyEntry, ...] = ()

    @cached_property
    def by_key(self) -> Mapping[str, BibliographyEntry]:
        """Every work by its key."""
        return {work.key: work for work in self.works}

    @cached_property
    def by_label(self) -> Mapping[str, BibliographyEntry]:
        """Every work by its label without accents."""
        return {folded(work.label): work for work in self.works}

    @cached_property
    def _label(self) -> re.Pattern[str]:
        longest = sorted(map(re.escape, self.by_label), key=len, reverse=True)
        return re.compile(rf"(?<!\w)(?:{'|'.join(longest)})(?!\w)") if longest else re.compile(r"(?!)")

    def cited(self, source: str, ids: Iterable[str] = ()) -> tuple[list[BibliographyEntry], list[str]]:
        """The works that a source names, part by part, and the parts that begin with neither a label nor one of ``ids``.

        >>> library().cited("Weyl 1912; Nobody 1900, lemma 3")[1]
        ['Nobody 1900, lemma 3']
        """
        works, strangers, known = [], [], set(ids)
        for part in filter(None, (part.strip() for part in source.split(";"))):
            found = self._label.match(folded(part))
            if found is not None:
                works.append(self.by_label[found[0]])
            elif re.split(r"[\s,]", part, maxsplit=1)[0] not in known:
                strangers.append(part)
        return works, strangers

    def named(self, text: str) -> list[BibliographyEntry]:
        """The works whose labels stand anywhere in a text, in their order."""
        return list(dict.fromkeys(self.by_label[label] for label in self._label.findall(folded(text))))

    def unknown(self, source: str, file: str) -> str:
        """The sentence about a source that is in no file of the bibliography."""
        near = did_you_mean(source, [work.label for work in self.works])
        return (
            f"“{source}” is cited and no bibliography has it{near} A source begins with the label of an entry, authors "
            f"and year, such as “Golub and Kahan 1965”. Add its entry to {file}."
        )


def library() -> Bibliography:
    """The works that the package's own texts cite."""
    return read_bibtex(LIBRARY)


def of(roots: Iterable[Path]) -> Bibliography:
    """The library's works and those of each root that has a file of its own; where both have a work, the root's is meant.

    **Raises:** UsageError as :func:`read_bibtex` does.
    """
    works = list(library().works)
    for root in roots:
        path = root / FILE
        if path != LIBRARY and path.is_file():
            works += read_bibtex(path).works
    return Bibliography(tuple(works))


@cache
def _read(path: Path, _stamp: tuple[int, int]) -> Bibliography:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The bibliography `{path}` cannot be read: {error}. Write it as UTF-8 text.") from None
    works = tuple(_work(key, entry, _where(path)) for key, entry in _entries(text, _where(path)))
    _distinct(works, _where(path))
    return Bibliography(works)


def _where(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _entries(text: str, where: str) -> Iterator[tuple[str, Entry]]:
    from pybtex import errors
    from pybtex.database import parse_string

    with errors.capture() as troubles:
        found = parse_string(text, "bibtex")
    for trouble in troubles:
        raise UsageError(
            f"{where}: {trouble}. A work is told by an entry of BibTeX under a key of its own. "
            "Write `@article{key, author = {...}, title = {...}, year = {...}}`."
        )
    yield from found.entries.items()


def without_markup(text: str) -> str:
    r"""A value without its markup.

    >>> without_markup(r"{Cram{\'e}r} --- S. Nørsett \& {\L}o{\'\i}")
    'Cramér — S. Nørsett & Łoí'
    """
    if _MARKUP.search(text) is not None:
        from pybtex.richtext import Text

        text = str(Text.from_latex(text))
    return " ".join(text.split())


def read_bibtex(path: Path) -> Bibliography:
    """The works of one file in BibTeX; what stands outside of entries is a comment.

    **Raises:** UsageError that names the line or the entry, if it is no BibTeX, an entry lacks author, title or year, or
    two share a key or a label.
    """
    try:
        stamp = path.stat()
    except OSError as error:
        raise UsageError(f"The bibliography `{path}` cannot be read: {error.strerror}. Write it there.") from None
    return _read(path, (stamp.st_mtime_ns, stamp.st_size))


def _work(key: str, entry: Entry, where: str) -> BibliographyEntry:
    raw, people = entry.fields, entry.persons.get("author") or entry.persons.get("editor") or []
    missing = [name for name in ("title", "year") if not raw.get(name)]
    if not people or missing:
        lacking = " and no ".join([*([] if people else ["author"]), *missing])
        raise UsageError(
            f"{where}: `@{entry.type}{{{key}` has no {lacking}. "
            "A reader finds a work by its authors, its title and its year. Add the field."
        )
    if not re.fullmatch(r"\d{4}[a-z]?", raw["year"]):
        raise UsageError(
            f"{where}: `year = {{{raw['year']}}}` of {key} is no year. Write four digits, such as 2018, or 2018a."
        )
    names = [_name(person) for person in people]
    fields = {
        name.lower(): value if name.lower() in ("url", "doi", "eprint") else without_markup(value)
        for name, value in raw.items()
    }
    return BibliographyEntry(key, tuple(name for name, _ in names), tuple(family for _, family in names), fields)


def _name(person: Person) -> tuple[str, str]:
    """A person as printed, and the family name."""
    family = without_markup(" ".join([*person.prelast_names, *person.last_names]))
    return without_markup(" ".join([*person.first_names, *person.middle_names, family, *person.lineage_names])), family


def folded(text: str) -> str:
    """Without accents, for comparing labels."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


def _distinct(works: Iterable[BibliographyEntry], where: str) -> None:
    labels: dict[str, BibliographyEntry] = {}
    for work in works:
        label = folded(work.label)
        if label in labels:
            year = work.year[:4]
            raise UsageError(
                f"{where}: `{labels[label].key}` and `{work.key}` are both cited as “{work.label}”, so a reader cannot "
                f"tell them apart. Write {year}a and {year}b as their years, and in the texts that cite them."
            )
        labels[label] = work
