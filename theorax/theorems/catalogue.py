"""The catalogue of theorems, read from the file tree and from the text of the files alone.

``theorems/<paper>/<id>.py`` defines the theorem ``<id>``; files whose name starts with an underscore define none.
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

from theorax.errors import UsageError
from theorax.names import did_you_mean
from theorax.theorems.bibliography import Bibliography, of

if TYPE_CHECKING:
    import ast

LABELS = ("read", "reconstructed", "derived")
NOT_PAPERS = frozenset({"language"})
LIBRARY = Path(__file__).parent

_CLAIMS = LIBRARY.parent / "language" / "claims"
_KIND = re.compile(r"^@final\n@dataclass[^\n]*\nclass (\w+)\(", re.MULTILINE)
_DOCSTRING = re.compile(r'\A(?:\s|#[^\n]*\n)*[rR]?("""|\'\'\')(.*?)(?:\1|\n)', re.DOTALL)


@dataclass(frozen=True)
class Facts:
    """Facts that the text of a theorem's file states; ``problem`` is a sentence where it states them wrongly."""

    id: str
    paper: str
    path: Path
    title: str
    place: str = ""
    label: str = ""
    uses: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    problem: str | None = None


@dataclass(frozen=True)
class Catalogue:
    """The theorems found under ``roots``; a root holds one folder per paper."""

    roots: tuple[Path, ...] = (LIBRARY,)
    _facts: dict[str, Facts] = field(default_factory=dict[str, Facts], repr=False, compare=False)

    @cached_property
    def files(self) -> Mapping[str, tuple[Path, ...]]:
        """Every id with the files that define it: one, or several by mistake."""
        found: dict[str, tuple[Path, ...]] = {}
        for root in self.roots:
            for folder in sorted(root.iterdir()) if root.is_dir() else ():
                if not folder.is_dir() or folder.name.startswith(("_", ".")) or folder.name in NOT_PAPERS:
                    continue
                for path in sorted(folder.glob("*.py")):
                    if not path.name.startswith("_"):
                        found[path.stem] = (*found.get(path.stem, ()), path)
        return found

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """The roots as texts, where they are not the package's own library alone."""
        return () if self.roots == (LIBRARY,) else tuple(map(str, self.roots))

    @property
    def ids(self) -> tuple[str, ...]:
        """Every theorem's id, paper by paper."""
        return tuple(self.files)

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
        return of(self.roots)

    def citation(self, paper: str) -> str:
        """The entry of a paper in the bibliography, or else its heading.

        **Raises:** UsageError if a file of the bibliography cannot be read.
        """
        if paper in self.bibliography.by_key:
            return self.bibliography.by_key[paper].told.removesuffix(".")
        return self.heading(paper)

    def heading(self, paper: str) -> str:
        """The first line of a paper's docstring, or its key; read at once, unlike the bibliography."""
        for root in self.roots:
            init = root / paper / "__init__.py"
            if init.is_file():
                return first_line(init) or paper
        return paper

    def facts(self, id: str) -> Facts:
        """Facts that the text of a theorem's file states.

        **Raises:** UsageError if there is no such theorem.
        """
        if id not in self._facts:
            self._facts[id] = self._read(id)
        return self._facts[id]

    def _read(self, id: str) -> Facts:
        path = self.path(id)
        base = Facts(id, path.parent.name, path, title=self.title(id))
        others = self.files[id][1:]
        if others:
            folders = " and ".join(sorted(f"{other.parent.name}/{other.name}" for other in (path, *others)))
            return _wrong(base, f"Two files define the theorem `{id}`: {folders}. Rename one of them.")
        return read_facts(base)

    def unknown_ancestors(self, id: str) -> str | None:
        """A sentence about ancestors that do not exist, or None."""
        for ancestor in self.facts(id).uses:
            if ancestor not in self.files:
                hint = did_you_mean(ancestor, self.ids)
                place = _place(self.path(id))
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
        with path.open(encoding="utf-8", errors="replace") as file:
            head = file.read(2000)
    except OSError:
        return ""
    match = _DOCSTRING.match(head)
    return match.group(2).strip().removesuffix(".") if match else ""


def read_facts(base: Facts) -> Facts:
    """``base`` with what the text of its file says."""
    import ast

    try:
        tree = ast.parse(base.path.read_bytes(), filename=str(base.path))
    except SyntaxError as error:
        return _wrong(base, f"{_place(base.path)}, line {error.lineno}: {error.msg}. Python cannot read the file.")
    except (OSError, ValueError) as error:
        return _wrong(base, f"{_place(base.path)} cannot be read: {error}.")
    call = _closing_call(tree)
    if call is None:
        return _wrong(
            base,
            f"{_place(base.path)} does not close with `theorem = Theorem(...)`, so it states nothing. Add that line.",
        )
    fields = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    called = {_name(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    kinds = tuple(kind for name, kind in kinds_of_claim().items() if name in called)
    filled = Facts(
        id=base.id,
        paper=base.paper,
        path=base.path,
        title=base.title,
        place=_text(fields.get("place")),
        label=_text(fields.get("label")),
        kinds=kinds,
    )
    uses = _literal(fields.get("uses"), ())
    names = _strings(uses)
    if names is None:
        written = ast.unparse(fields["uses"])
        return _wrong(
            filled,
            f"{_place(base.path)}, line {fields['uses'].lineno}: `uses={written}` is no tuple of ids written out, so "
            'the order of checks cannot be read from the file. Write `uses=("one_id", "another_id")`.',
        )
    filled = replace(filled, uses=tuple(dict.fromkeys(names)))
    if filled.label and filled.label not in LABELS:
        hint = did_you_mean(filled.label, LABELS)
        return _wrong(
            filled,
            f'{_place(base.path)}: `label="{filled.label}"` is none of {", ".join(LABELS)}{hint} Write one of them.',
        )
    if not filled.title:
        return _wrong(
            filled, f"{_place(base.path)} has no docstring, so the theorem has no title. Open the file with one."
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
    claims = next((part.value for part in call.keywords if part.arg == "claims"), None) if call is not None else None
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


def _wrong(facts: Facts, sentence: str) -> Facts:
    return replace(facts, problem=sentence)
