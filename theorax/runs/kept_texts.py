"""Texts about theorems, kept beside the results under the digest of their sources, so that they are not made again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from theorax.text import blocks
from theorax.text.blocks import Block

FOLDER = "explained"


def kept_text(folder: Path, id: str, key: str) -> list[Block] | None:
    """The text about this theorem that was made from sources of this digest; None if none is kept whole."""
    try:
        seal, _, text = _file(folder, id).read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    if seal != _seal(key, text):
        return None
    return [
        getattr(blocks, kind)(**{name: _frozen(value) for name, value in of.items()}) for kind, of in json.loads(text)
    ]


def keep_text(folder: Path, id: str, key: str, text: Sequence[Block]) -> None:
    """Keep a text, if results are kept in this folder; one that cannot be written is made again the next time."""
    if not folder.is_dir():
        return
    told = json.dumps([[type(block).__name__, asdict(block)] for block in text], ensure_ascii=False)
    path = _file(folder, id)
    temporary = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(exist_ok=True)
        temporary.write_text(f"{_seal(key, told)}\n{told}", encoding="utf-8")
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)


def _file(folder: Path, id: str) -> Path:
    return folder / FOLDER / f"{id}.json"


def _seal(key: str, text: str) -> str:
    return hashlib.sha256(f"{key}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


def _frozen(value: object) -> object:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
