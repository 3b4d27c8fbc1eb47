"""Pages of the documentation site that are generated, and the check of its links; a hook of mkdocs.

The reference is made of what the package itself reads: its tables of words, rules, keys and exit codes, the schema of its
report, and its docstrings. Formulas become MathML, since the site loads nothing. A page per theorem is rendered from a JSON
report alone, the one that the environment variable THEORAX_REPORT names, or the one that the release ships. After the build
every link of every page must lead to a file, and to an anchor in it, and no page may ask for anything from another host.
"""

from __future__ import annotations

import inspect
import json
import os
import re
from collections.abc import Mapping
from html import unescape
from importlib import import_module
from pathlib import Path
from typing import Any

from links import faults
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
PAGES = ("CONTRIBUTING.md", "ARCHITECTURE.md", "STYLE.md", "CHANGELOG.md", "SECURITY.md")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to those of the folder."""
    for path, text in generated().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Formulas as MathML, which needs no script."""
    from latex2mathml.converter import convert

    shown = {"span": "inline", "div": "block"}
    return FORMULA.sub(lambda found: str(convert(unescape(found[2]), display=shown[found[1]])), html)


def generated() -> dict[str, str]:
    """Text of every generated page, by its path in the site."""
    found = {"index.md": (ROOT / "README.md").read_text(encoding="utf-8").replace("](docs/", "](")}
    found |= {name: (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](") for name in PAGES}
    found |= {f"reference/{name}.md": text for name, text in reference().items()}
    return found | theorems()


def reference() -> dict[str, str]:
    """The pages of the reference, by name."""
    from theorax.cli.main import EXIT_CODES
    from theorax.decide.status import Status
    from theorax.decide.wording import REMEDIES
    from theorax.project import KEYS
    from theorax.runs import selectors
    from theorax.text.glossary import GLOSSARY
    from theorax.text.rules import RULES

    words = [
        "# Exit codes and words\n",
        "0 and 1 come from a summary that was written, from nothing else.\n",
        table("exit code", "meaning", {str(code): text for code, text in EXIT_CODES.items()}),
        "\n## Words of a verdict, from the best to the worst\n",
        table("word", "meaning", {str(status): f"{status.meaning}." for status in Status}),
        "\n## Reasons of INCONCLUSIVE\n",
        "JSON has the code, a report the sentence; `verify explain CODE` has both.\n",
        table("code", "reason", {f"`{code.value}`": text for code, text in REMEDIES.items()}),
    ]
    return {
        "commands": "# The command verify\n\n::: mkdocs-click\n    :module: theorax.cli.main\n    :command: group\n"
        "    :prog_name: verify\n    :style: table\n    :depth: 1\n",
        "language": documented("theorax.language", "The language of theorems"),
        "decide": documented("theorax.decide", "theorax.decide"),
        "exact": documented("theorax.exact", "theorax.exact"),
        "selectors": f"# Selectors\n\n```text\n{inspect.getdoc(selectors)}\n```\n",
        "configuration": "# Configuration\n\nKeys of `[tool.theorax]` in the nearest pyproject.toml. An option of a command "
        "comes before its key.\n\n"
        + table("key", "an example", {f"`{key}`": f"`{row[0]}`" for key, row in KEYS.items()}),
        "report": schema(),
        "words": "\n".join(words),
        "rules": "# Rules of statements\n\n`verify lint` names the rule that a statement breaks.\n\n"
        + table("rule", "what it asks", {f"`{name}`": text for name, text in RULES.items()}),
        "glossary": "# Glossary\n\n" + "\n".join(f"## {word}\n\n{text}\n" for word, text in GLOSSARY.items()),
    }


def table(left: str, right: str, rows: Mapping[str, str]) -> str:
    """A table of two columns."""
    cells = (f"| {name} | {text.replace('|', chr(92) + '|')} |" for name, text in rows.items())
    return "\n".join((f"| {left} | {right} |", "|---|---|", *cells, ""))


def documented(name: str, title: str) -> str:
    """A page on the public names of a module, each documented where it is defined."""
    module = import_module(name)
    found = [f"# {title}\n", inspect.getdoc(module) or ""]
    for public in module.__all__:
        value = getattr(module, public)
        home = getattr(value, "__module__", "")
        if home.startswith("theorax.") and getattr(value, "__qualname__", "") == public:
            found.append(f"\n::: {home}.{public}\n")
    return "\n".join(found)


def schema() -> str:
    """A page on the fields of the JSON report, from its schema."""
    text = (ROOT / "theorax" / "reports" / "schema" / "report.json").read_text(encoding="utf-8")
    document = json.loads(text)
    found = [f"# The JSON report\n\n{document['description']}\n", fields(document)]
    for name, part in sorted(document["$defs"].items()):
        found.append(f"\n## {name}\n\n{part.get('description', '')}\n\n{fields(part)}")
    return "\n".join(found)


def fields(part: Mapping[str, Any]) -> str:
    """The fields of an object of a schema, or its values."""
    if "properties" in part:
        return table("field", "type", {f"`{name}`": kind(value) for name, value in part["properties"].items()})
    return kind(part) + "\n"


def kind(value: Mapping[str, Any]) -> str:
    """The type of a value of a schema, in a word; a type of the page as a link."""
    if "$ref" in value:
        name = value["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    for several in ("anyOf", "oneOf"):
        if several in value:
            return " or ".join(kind(part) for part in value[several])
    if "enum" in value:
        return ", ".join(f"`{json.dumps(part)}`" for part in value["enum"])
    if value.get("type") == "array":
        return f"list of {kind(value['items'])}" if isinstance(value.get("items"), Mapping) else "list"
    if isinstance(value.get("additionalProperties"), Mapping):
        return f"object with values of {kind(value['additionalProperties'])}"
    given = value.get("type", "any value")
    return " or ".join(given) if isinstance(given, list) else str(given)


def theorems() -> dict[str, str]:
    """The pages of a report, made from that report alone, and the list of its theorems."""
    from theorax.reports import release
    from theorax.reports.html.page import theorem_pages
    from theorax.reports.reading import read

    named = os.environ.get("THEORAX_REPORT")
    document = read(Path(named)) if named else _in_words(release.release_report())
    papers: dict[str, list[str]] = {}
    for part in document.theorems:
        row = f"- [{part.title or part.id}](theorems/{part.id}.html): {part.status}"
        papers.setdefault(part.source or part.paper, []).append(row)
    told = (
        "These pages are rendered from the JSON report of a run; [the first of them](theorems/index.html) has its results. "
        "`verify audit --pages` makes the same pages of yours.\n"
    )
    listed = "\n".join(f"\n## {source}\n\n" + "\n".join(rows) for source, rows in papers.items())
    pages = {f"theorems/{name}": text for name, text in theorem_pages(document).items()}
    return {"library.md": f"# Theorems\n\n{told}{listed}\n", **pages}


def _in_words(document: Any) -> Any:
    """The report of the release with the statements in words of the files that it still speaks of."""
    from dataclasses import replace

    from theorax.reports import release
    from theorax.theorems.catalogue import Catalogue

    catalogue, heads, parts = Catalogue(), release.heads(), []
    for part in document.theorems:
        facts = catalogue.facts(part.id)
        is_checked = bool(heads.line(part.id, facts.path))
        parts.append(replace(part, statement=facts.statement, idea=facts.idea) if is_checked else part)
    return replace(document, theorems=tuple(parts))


def on_post_build(config: MkDocsConfig) -> None:
    """Follow every link of the built site.

    **Raises:** PluginError with all links that lead nowhere and all addresses that a page would load.
    """
    if wrong := sorted(set(faults(Path(config.site_dir)))):
        raise PluginError("\n".join(["links of the site:", *wrong]))
