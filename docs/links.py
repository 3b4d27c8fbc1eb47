"""Links of built pages: each must lead to a file of the folder and to an anchor in it; nothing is loaded from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

LOADED = {("script", "src"), ("img", "src"), ("source", "src"), ("iframe", "src"), ("link", "href")}
STATED = ("canonical", "alternate", "me", "license", "next", "prev", "author")
"""Relations of a link element that name an address and load nothing."""


def faults(site: Path) -> Iterator[str]:
    """A sentence for each link that leads nowhere, and for each thing that a page asks for elsewhere."""
    pages = {path: PageLinks.of(path) for path in site.rglob("*.html")}
    for path, page in pages.items():
        place = path.relative_to(site)
        for tag, attribute, address, relation in page.links:
            if urlsplit(address).scheme or address.startswith("//"):
                if (tag, attribute) in LOADED and relation not in STATED and not address.startswith("data:"):
                    yield f"{place}: loads {address}"
                continue
            file, anchor = urldefrag(address)
            target = (path.parent / unquote(file)).resolve() if file else path
            target = target / "index.html" if target.is_dir() else target
            if path.name == "404.html":  # its links are meant from the root of a host
                continue
            if not target.exists():
                yield f"{place}: {address} is no file of the site"
            elif anchor and target in pages and unquote(anchor) not in pages[target].anchors:
                yield f"{place}: {address} has no such anchor"


class PageLinks(HTMLParser):
    """The links of a page and its anchors."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[tuple[str, str, str, str]] = []
        self.anchors: set[str] = {""}

    @classmethod
    def of(cls, path: Path) -> PageLinks:
        """Links and anchors of a file."""
        found = cls()
        found.feed(path.read_text(encoding="utf-8"))
        return found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what an element links to, and the names by which it is linked to."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        for attribute in ("href", "src"):
            address = given.get(attribute, "")
            if address and not re.match(r"(mailto|javascript):", address):
                self.links.append((tag, attribute, address, given.get("rel", "")))
