"""The catalogue of theorems, read from the file tree and from the text of the files alone.

``<root>/<paper>/<id>.py`` defines the theorem ``<id>``; :mod:`theorax.theorems.roots` says which files do.
Nothing is imported, so listing and completion cost milliseconds and a file that does not import is still listed, with
what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from theorax.errors import UsageError, option
from theorax.names import did_you_mean
from theorax.theorems.bibliography import Bibliography, of
from theorax.theorems.roots import LIBRARY, Origin, Root, around, named_apart

if TYPE_CHECKING:
    import ast

LABELS = ("read", "reconstructed", "derived", "own")

_ROOT = option("root")
_CLAIMS = LIBRARY.parent / "language" / "claims"
_KIND = re.compile(r"^@final\n@dataclass[^\n]*\nclass (\w+)\(", re.MULTILINE)
STATEMENT, IDEA = "**Theorem.**", "**Idea.**"
"""Heads of the two paragraphs of a theorem file's docstring: the statement in words, and the idea of its proof."""

_DOCSTRING = re.compile(r'\A(?:\s|#[^\n]*\n)*[rR]?("""|\'\'\')(.*?)(?:\1|\n)', re.DOTALL)


@dataclass(frozen=True)
class Facts:
    """Facts that the text of a theorem's file states.

    ``problem`` is a sentence where it states them wrongly, against the rule ``rule`` on the line ``line``. ``statement`` and
    ``idea`` are the theorem in words and the idea of its proof, from its docstring; empty where it has none.
    """

    id: str
    paper: str
    path: Path
    title: str
    place: str = ""
    label: str = ""
    uses: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    claims: tuple[str, ...] | None = None  # None where the file computes some
    problem: str | None = None
    rule: str = "theorem"
    line: int = 1
    statement: str = ""
    idea: str = ""


@dataclass(frozen=True)
class Catalogue:
    """The theorems found under ``roots``; the package's own library unless others are given.

    ``values``: theorems that were handed over as values of Python and have no file.
    """

    roots: tuple[Root, ...] = (Root("library", "library", LIBRARY),)
    values: Mapping[str, Facts] = field(default_factory=dict[str, Facts])
    _facts: dict[str, Facts] = field(default_factory=dict[str, Facts], repr=False, compare=False)

    @classmethod
    def of(cls, folders: Iterable[str | Path]) -> Catalogue:
        """The catalogue of these folders alone, whatever a project says; of the library if there are none."""
        given = [Path(folder) for folder in folders]
        found = tuple(
            Root("library", "library", folder) if folder == LIBRARY else Root(folder.name, "added", folder)
            for folder in given
        )
        return cls(found) if found else cls()

    @cached_property
    def _places(self) -> Mapping[str, tuple[tuple[Root, Path], ...]]:
        """Every id with the files that define it and their roots."""
        found: dict[str, tuple[tuple[Root, Path], ...]] = {}
        for root in self.roots:
            for path in root.files():
                before = found.get(path.stem, ())
                # One file is seen twice where a root lies in another, or by a link.
                if not any(path.samefile(other) for _, other in before):
                    found[path.stem] = (*before, (root, path))
        return found

    @cached_property
    def files(self) -> Mapping[str, tuple[Path, ...]]:
        """Every id with the files that define it: one, or several by mistake."""
        return {id: tuple(path for _, path in places) for id, places in self._places.items()}

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """The folders of the roots as texts, where they are not the package's own library alone."""
        folders = tuple(str(root.folder) for root in self.roots)
        return () if folders == (str(LIBRARY),) else folders

    def root(self, id: str) -> Root:
        """The root that a theorem's file lies in.

        **Raises:** UsageError as :meth:`path` does.
        """
        self.path(id)
        return self._places[id][0][0]

    def is_a_user_s(self, id: str) -> bool:
        """True if a file that defines the theorem is not the library's: its code runs in a worker, which it may end."""
        return any(root.kind != "library" for root in self.roots_of(id))

    def roots_of(self, id: str) -> tuple[Root, ...]:
        """Every root in which a file defines this id."""
        return tuple(root for root, _ in self._places.get(id, ()))

    def origin(self, id: str) -> Origin | None:
        """The root of a theorem and its file in it, as reports name them; None if it has no file.

        **Raises:** UsageError as :meth:`path` does.
        """
        return None if id in self.values else Origin.of(self.root(id), self.path(id))

    def selector(self, id: str) -> tuple[str, ...]:
        """The words that select a theorem on a command line: its id, or its path if it lies in no root; and ``--root``."""
        root = self.root(id)
        word = (Path(root.given) / self.path(id).relative_to(root.folder)).as_posix() if root.by_path else id
        added = [root.given for root in self.roots if root.kind == "added" and root.given and not root.by_path]
        return (word, *(part for folder in added for part in ("--root", folder)))

    def missing_root(self, recorded: Mapping[str, Origin | None], what: str) -> str | None:
        """The sentence that a root of a report (``what``) is missing here, by the theorems recorded in it; or None."""
        here = {(one.name, one.folder) for id, one in recorded.items() if one is not None and id in self.files}
        here |= {(root.name, root.recorded) for root in self.roots}
        for id, one in recorded.items():
            if one is not None and id not in self.files and (one.name, one.folder) not in here:
                place = " ".join(filter(None, (one.distribution, one.version))) or one.folder
                install = f"Install {one.distribution}, or write" if one.distribution else "Write"
                return f'This {what} needs the root "{one.name}" ({place}). {install} {_ROOT} DIR.'
        return None

    def under(self, path: Path) -> tuple[str, ...]:
        """The ids of the theorems in this file, or in the files of this folder."""
        place = path.resolve()
        found = tuple(
            id for id, files in self.files.items() if any(file.resolve().is_relative_to(place) for file in files)
        )
        # A file and a link to it are two theorems of two names; the path says which.
        return (path.stem,) if path.stem in found and path.is_file() else found

    def reaching(self, paths: Iterable[str]) -> Catalogue:
        """The catalogue with the folders of the paths that lie in none of its roots.

        **Raises:** UsageError for a path that does not exist.
        """
        found = self
        for text in paths:
            path = Path(text).expanduser()
            if not path.exists():
                raise UsageError(
                    f"There is no file or folder `{text}` here. A word with `/` or `.py` is a path from the present "
                    "folder. Correct it, or write an id without `.py`; `verify list` shows the ids."
                )
            inside = path.is_dir() and any(path in root for root in found.roots)
            if not (found.under(path) and (inside or path.is_file())):
                found = replace(found, roots=named_apart((*found.roots, around(path, text))), _facts={})
        return found

    def duplicate(self, id: str) -> str | None:
        """The sentence that several files define a theorem, or None."""
        files = self.files.get(id, ())
        if len(files) < 2:
            return None
        shown = [Origin.of(root, path) for root, path in self._places[id]]
        named = " and ".join(sorted(f"{one.folder}/{one.file}" for one in shown))
        return f"Two files define the theorem `{id}`: {named}. An id means one theorem everywhere. Rename one file."

    @property
    def ids(self) -> tuple[str, ...]:
        """Every theorem's id, paper by paper; those of values last."""
        return (*self.files, *self.values)

    @cached_property
    def papers(self) -> Mapping[str, tuple[str, ...]]:
        """The papers' keys, each with its theorems' ids."""
        found: dict[str, tuple[str, ...]] = {}
        for name, paths in self.files.items():
            key = paths[0].parent.name
            found[key] = (*found.get(key, ()), name)
        return found

    def path(self, id: str) -> Path:
        """The file of a theorem.

        **Raises:** UsageError if there is no such theorem; the message names the nearest ones.
        """
        if id not in self.files:
            raise UsageError(f"There is no theorem `{id}`{did_you_mean(id, self.ids)} `verify list` shows them all.")
        return self.files[id][0]

    def module(self, id: str) -> str:
        """The dotted name under which a theorem of the package's own library is imported."""
        return f"theorax.theorems.{self.path(id).parent.name}.{id}"

    def paper(self, id: str) -> str:
        """The key of the paper that a theorem belongs to."""
        return self.path(id).parent.name

    def title(self, id: str) -> str:
        """The first line of a theorem's docstring, read without parsing the rest of its file."""
        return first_line(self.path(id))

    @cached_property
    def bibliography(self) -> Bibliography:
        """The works that texts under these roots can cite.

        **Raises:** UsageError if a file of it cannot be read.
        """
        return of(root.folder for root in self.roots)

    def citation(self, paper: str) -> str:
        """The entry of a paper in the bibliography, or else its heading.

        **Raises:** UsageError if a file of the bibliography cannot be read.
        """
        if paper in self.bibliography.by_key:
            return self.bibliography.by_key[paper].told.removesuffix(".")
        return self.heading(paper)

    def heading(self, paper: str) -> str:
        """The first line of a paper's docstring, or its key; read at once, unlike the bibliography."""
        ids = self.papers.get(paper, ())
        return (first_line(self.path(ids[0]).parent / "__init__.py") if ids else "") or paper

    def facts(self, id: str) -> Facts:
        """Facts that the text of a theorem's file states.

        **Raises:** UsageError if there is no such theorem.
        """
        if id in self.values:
            return self.values[id]
        if id not in self._facts:
            self._facts[id] = self._read(id)
        return self._facts[id]

    def _read(self, id: str) -> Facts:
        path = self.path(id)
        base = Facts(id, path.parent.name, path, title=self.title(id))
        twice = self.duplicate(id)
        return _wrong(base, twice) if twice is not None else read_facts(base)

    def unknown_ancestors(self, id: str) -> str | None:
        """A sentence about ancestors that do not exist, or None."""
        for ancestor in self.facts(id).uses:
            if ancestor not in self.files:
                hint = did_you_mean(ancestor, self.ids)
                place = "the theorem" if id in self.values else _place(self.path(id))
                return f"`{id}` uses `{ancestor}`, and there is no such theorem{hint} Correct `uses` in {place}."
        return None

    def problem(self, id: str) -> str | None:
        """The error in a theorem's file that its text shows, as a sentence, or None."""
        return self.facts(id).problem or self.unknown_ancestors(id)


@cache
def kinds_of_claim() -> Mapping[str, str]:
    """The kinds of claim by the name of their class, as a selector knows them, read from the files that define them."""
    names = (name for path in sorted(_CLAIMS.glob("*.py")) for name in _KIND.findall(path.read_text("utf-8")))
    return {name: name.lower() for name in names}


def first_line(path: Path) -> str:
    """The first line of a module's docstring without its full stop, read without parsing; empty if it has none."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            head = file.read(2000)
    except OSError:
        return ""
    match = _DOCSTRING.match(head)
    return match.group(2).strip().removesuffix(".") if match else ""


def paragraph(docstring: str, head: str) -> str:
    """The paragraph of a docstring that begins with ``head``, without it, on one line; empty if there is none."""
    found = (part for part in docstring.split("\n\n") if part.startswith(head))
    return " ".join(next(found, "").removeprefix(head).split())


def read_facts(base: Facts) -> Facts:
    """``base`` with what the text of its file says."""
    import ast

    try:
        tree = ast.parse(base.path.read_bytes(), filename=str(base.path))
    except SyntaxError as error:
        sentence = f"{_place(base.path)}, line {error.lineno}: {error.msg}. Python cannot read the file."
        return _wrong(base, sentence, rule="python", line=error.lineno or 1)
    except (OSError, ValueError) as error:
        return _wrong(base, f"{_place(base.path)} cannot be read: {error}.")
    if base.id.startswith("-"):
        sentence = f"{_place(base.path)} is named like an option, so no command can take its id. Rename the file."
        return _wrong(base, sentence)
    call = _closing_call(tree)
    if call is None:
        return _wrong(
            base,
            f"{_place(base.path)} does not close with `theorem = Theorem(...)`, so it states nothing. Add that line.",
        )
    fields = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    called = {_name(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    kinds = tuple(kind for name, kind in kinds_of_claim().items() if name in called)
    docstring = ast.get_docstring(tree) or ""
    filled = replace(
        base,
        statement=paragraph(docstring, STATEMENT),
        idea=paragraph(docstring, IDEA),
        place=_text(fields.get("place")),
        label=_text(fields.get("label")) or "own",
        kinds=kinds,
        claims=_written_claims(call),
    )
    uses = _literal(fields.get("uses"), ())
    names = _strings(uses)
    if names is None:
        written = ast.unparse(fields["uses"])
        return _wrong(
            filled,
            f"{_place(base.path)}, line {fields['uses'].lineno}: `uses={written}` is no tuple of ids written out, so "
            'the order of checks cannot be read from the file. Write `uses=("one_id", "another_id")`.',
            rule="uses",
            line=fields["uses"].lineno,
        )
    filled = replace(filled, uses=tuple(dict.fromkeys(names)))
    if filled.label and filled.label not in LABELS:
        hint = did_you_mean(filled.label, LABELS)
        return _wrong(
            filled,
            f'{_place(base.path)}: `label="{filled.label}"` is none of {", ".join(LABELS)}{hint} Write one of them.',
            rule="label",
            line=fields["label"].lineno,
        )
    if not filled.title:
        return _wrong(
            filled,
            f"{_place(base.path)} has no docstring, so the theorem has no title. Open the file with one.",
            rule="title",
        )
    return filled


def claim_lines(path: Path) -> dict[str, int]:
    """Lines on which a theorem's file states its claims, by the claim's id; empty if the file cannot be read."""
    import ast

    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    call = _closing_call(tree)
    claims = next((part.value for part in call.keywords if part.arg == "claims"), None) if call is not None else None
    if isinstance(claims, ast.Call):
        named = [(part.arg, part.value) for part in claims.keywords if part.arg]
    elif isinstance(claims, ast.Dict):
        keys = [(_literal(key, ""), value) for key, value in zip(claims.keys, claims.values, strict=True)]
        named = [(key, value) for key, value in keys if isinstance(key, str)]
    else:
        named = []
    stated = {
        target.id: node.lineno
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return {id: stated.get(_name(value), value.lineno) for id, value in named}


def claim_ids(path: Path) -> tuple[str, ...] | None:
    """The ids of a theorem's claims, where its file writes all of them out; None if it computes some."""
    import ast

    try:
        call = _closing_call(ast.parse(path.read_bytes()))
    except (OSError, SyntaxError, ValueError):
        return None
    return None if call is None else _written_claims(call)


def _written_claims(call: ast.Call) -> tuple[str, ...] | None:
    import ast

    claims = next((part.value for part in call.keywords if part.arg == "claims"), None)
    if isinstance(claims, ast.Call) and _name(claims.func) == "dict" and not claims.args:
        names: list[object] = [part.arg for part in claims.keywords]
    elif isinstance(claims, ast.Dict):
        names = [None if key is None else _literal(key, None) for key in claims.keys]
    else:
        return None
    written = [name for name in names if isinstance(name, str)]
    return tuple(written) if len(written) == len(names) else None


def _closing_call(tree: ast.Module) -> ast.Call | None:
    import ast

    for node in reversed(tree.body):
        if isinstance(node, ast.AnnAssign):
            targets: list[ast.expr] = [node.target]
        elif isinstance(node, ast.Assign):
            targets = node.targets
        else:
            continue
        if any(isinstance(target, ast.Name) and target.id == "theorem" for target in targets):
            value = node.value
            return value if isinstance(value, ast.Call) and _name(value.func) == "Theorem" else None
    return None


def _name(node: ast.expr) -> str:
    import ast

    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _literal(node: ast.expr | None, default: object) -> object:
    import ast

    if node is None:
        return default
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def _strings(value: object) -> list[str] | None:
    """The strings of a tuple, list or set that holds nothing else."""
    if not isinstance(value, tuple | list | set):
        return None
    members: list[object] = list(cast("Iterable[object]", value))
    strings = [member for member in members if isinstance(member, str)]
    return strings if len(strings) == len(members) else None


def _text(node: ast.expr | None) -> str:
    value = _literal(node, "")
    return value if isinstance(value, str) else ""


def _place(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _wrong(facts: Facts, sentence: str, rule: str = "theorem", line: int = 1) -> Facts:
    return replace(facts, problem=sentence, rule=rule, line=line)
