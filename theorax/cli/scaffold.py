"""``verify new`` and ``verify init``: a first file of each kind, and a project with theorems of its own."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from theorax.cli.options import OneOf
from theorax.cli.printing import shown_path
from theorax.cli.workspace import workspace_of
from theorax.errors import UsageError
from theorax.names import many, with_article

_SCAFFOLDS = Path(__file__).parent / "scaffolds"
KINDS = tuple(sorted(path.stem for path in _SCAFFOLDS.glob("*.txt")))
CI = ("github", "gitlab", "none")

FOLDER = "claims"
LOCK = "requirements-theorax.txt"
TABLE = f'[tool.theorax]\ntheorems = ["{FOLDER}"]\n'
_FILL = "# FILL IN"
_OTHER_CI = ".gitlab-ci.theorems.yml"  # beside a file that exists already


@click.command("new")
@click.argument("id", metavar="ID")
@click.option("--kind", type=OneOf(KINDS), required=True, metavar="KIND", help=", ".join(KINDS) + ".")
@click.option(
    "--root", type=click.Path(path_type=Path), metavar="DIR", help="Folder of the file [that of the project]."
)
@click.pass_context
def new(context: click.Context, id: str, kind: str, root: Path | None) -> int:
    """Write a small true theorem of a kind, to be changed into your own.

    Its comments `# change this:` say where your mathematics goes. No file is overwritten.
    """
    workspace = workspace_of(context)
    if not id.isidentifier() or id.startswith("_"):
        raise UsageError(
            f"`{id}` is no id: it names a Python file. Write letters, digits and underscores, as in `gap_opens`."
        )
    catalogue = workspace.catalogue
    if id in catalogue.files:
        raise UsageError(f"There is a theorem `{id}` already: {catalogue.path(id)}. Choose another id.")
    listed = workspace.project.theorems
    folder = root if root is not None else workspace.project.root / (listed[0] if listed else FOLDER)
    path = _write(folder / f"{id}.py", _text(f"{kind}.txt"))
    found = folder.resolve() in [part.folder.resolve() for part in catalogue.roots]
    selector = id if found else shown_path(path)
    click.echo(
        f"Wrote {shown_path(path)}: {with_article(kind)}, {many(len(path.read_text('utf-8').splitlines()), 'line')}."
    )
    click.echo(f"Next: verify theorem {selector} --effort quick")
    if not found and root is None:
        click.echo(f"To name it by its id: verify init, or add these lines to pyproject.toml:\n{TABLE}", nl=False)
    elif not found:
        click.echo(
            f"To name it by its id: --root {shown_path(folder)}, or `theorems` of [tool.theorax] in pyproject.toml."
        )
    return 0


@click.command("init")
@click.option("--ci", type=OneOf(CI), default="none", metavar="CI", help=f"Write a workflow: {', '.join(CI)} [none].")
@click.pass_context
def init(context: click.Context, ci: str) -> int:
    """Make the present folder a project with theorems of its own.

    Adds [tool.theorax] to pyproject.toml, the folder claims with a first limit, and .theorax/ to .gitignore. Locks the
    versions in use in requirements-theorax.txt. With --ci it writes a workflow. No file is overwritten.
    """
    here = Path.cwd()
    steps = [_project_table(here), _first_theorem(here), _ignored(here), _locked(here), *_workflow(here, ci)]
    for step in steps:
        click.echo(f"{step.done} {shown_path(step.path)}{f': {step.what}' if step.what else ''}")
    for step in steps:
        if step.left:
            click.echo(f"! {step.left}")
    click.echo("Next: verify all --effort quick")
    return 0


@dataclass(frozen=True)
class _Done:
    """Fate of one file; ``left`` tells what a person still has to do."""

    done: str
    path: Path
    what: str = ""
    left: str = ""


def _project_table(here: Path) -> _Done:
    path = here / "pyproject.toml"
    if not path.is_file():
        return _Done("Wrote", _write(path, TABLE), "[tool.theorax]")
    import tomllib

    from theorax.project import find_project

    find_project(here)  # refuses a file that cannot be read
    text = path.read_text("utf-8")
    table = tomllib.loads(text).get("tool", {}).get("theorax")
    if table is None:
        path.write_text(f"{text.rstrip()}\n\n{TABLE}" if text.strip() else TABLE, encoding="utf-8")
        return _Done("Added to", path, "[tool.theorax]")
    if "theorems" in table:
        return _Done("Kept", path, f"theorems = {list(table['theorems'])}")
    return _Done("Kept", path, left=f'Add `theorems = ["{FOLDER}"]` to [tool.theorax] in pyproject.toml.')


def _first_theorem(here: Path) -> _Done:
    from theorax.project import find_project

    listed = find_project(here).theorems
    folder = here / (listed[0] if listed else FOLDER)
    there = sorted(path for path in folder.glob("**/*.py") if not path.name.startswith("_"))
    if there:
        return _Done("Kept", folder, many(len(there), "file"))
    return _Done("Wrote", _write(folder / "first_limit.py", _text("limit.txt")), "a first limit, to be changed")


def _ignored(here: Path) -> _Done:
    path = here / ".gitignore"
    text = path.read_text("utf-8") if path.is_file() else ""
    if any(line.strip().strip("/") == ".theorax" for line in text.splitlines()):
        return _Done("Kept", path)
    path.write_text(f"{text.rstrip()}\n.theorax/\n".lstrip("\n"), encoding="utf-8")
    return _Done("Added to" if text else "Wrote", path, ".theorax/")


def _locked(here: Path) -> _Done:
    path = here / LOCK
    fill = f"Fill in the first line of {LOCK}: where a build installs theorax from."
    if path.exists():
        return _Done("Kept", path, left=fill if _FILL in path.read_text("utf-8") else "")
    own, others = _theorax(), list(_versions())
    head = "# The versions that were in use when `verify init` wrote this file; a build installs exactly these.\n"
    _write(path, head + "\n".join([own, *others]) + "\n")
    told = many(len(others) + 1, "version")
    return _Done("Wrote", path, told, left=fill if own.startswith(_FILL) else "")


def _theorax() -> str:
    """The requirement by which a build installs theorax as it is here; a comment where only a person knows."""
    import json
    from importlib import metadata

    fill = f"{_FILL}, for it is a local folder here: theorax @ git+https://HOST/OWNER/theorax@COMMIT"
    try:
        found = metadata.distribution("theorax")
    except metadata.PackageNotFoundError:
        return fill
    text = found.read_text("direct_url.json")
    if text is None:
        return f"theorax=={found.version}"
    place = json.loads(text)
    if "vcs_info" in place:
        kind, commit = place["vcs_info"]["vcs"], place["vcs_info"]["commit_id"]
        return f"theorax @ {kind}+{place['url']}@{commit}"
    return fill if place.get("url", "").startswith("file:") else f"theorax @ {place['url']}"


def _versions() -> Iterator[str]:
    """Exact requirements of what theorax needs here, directly or not."""
    from importlib import metadata

    found: dict[str, str] = {}
    wanted = list(metadata.requires("theorax") or ()) if _installed("theorax") else ["jax", "equinox", "sympy"]
    while wanted:
        text = wanted.pop()
        match = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", text)
        # An extra that was not asked for, and what is for other machines, is not installed or not needed.
        if match is None or "extra ==" in text.partition(";")[2]:
            continue
        name = re.sub(r"[-_.]+", "-", match.group()).lower()
        if name in found or name == "theorax" or not _installed(name):
            continue
        found[name] = metadata.version(name)
        wanted += metadata.requires(name) or ()
    yield from (f"{name}=={version}" for name, version in sorted(found.items()))


def _installed(name: str) -> bool:
    from importlib import metadata

    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _workflow(here: Path, ci: str) -> Iterator[_Done]:
    if ci == "none":
        return
    path = here / (".github/workflows/theorems.yml" if ci == "github" else ".gitlab-ci.yml")
    left = ""
    if ci == "gitlab" and path.exists() and "verify " not in path.read_text("utf-8"):
        path, left = here / _OTHER_CI, f"Add to .gitlab-ci.yml: include: {_OTHER_CI}"
    if path.exists():
        yield _Done("Kept", path)
        return
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    yield _Done("Wrote", _write(path, _text(f"{ci}.yml").replace("@PYTHON@", version)), left=left)


def _text(name: str) -> str:
    return (_SCAFFOLDS / name).read_text("utf-8")


def _write(path: Path, text: str) -> Path:
    """A file that was not there before.

    **Raises:** UsageError if it is, or cannot be written.
    """
    try:
        if not path.parent.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(
            f"`{shown_path(path)}` exists, and nothing is overwritten. Choose another name, or move it away."
        ) from None
    except OSError as error:
        raise UsageError(f"`{shown_path(path)}` cannot be written: {error.strerror}. Choose another folder.") from None
    return path
