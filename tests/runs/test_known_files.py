"""Source files that did not change are not parsed again, and no change of a file goes unseen."""

import os
import sys
import time
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import pytest

from theorax.runs import known_files
from theorax.runs.known_files import FILE, KnownFiles, SourceFile
from theorax.runs.own_files import PACKAGE


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n", encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """Files count as settled at once; one test asks for the wait itself."""
    monkeypatch.setattr(known_files, "SETTLED", -(10**12))


@pytest.fixture(autouse=True)
def bytecode(tmp_path, monkeypatch):
    """Bytecode is kept below a folder of the test, and not in the package's own."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "bytecode"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    folder = Path(cache_from_source(str(tmp_path / "__init__.py"))).parent
    folder.mkdir(parents=True)
    return folder


def said(path: Path) -> SourceFile:
    text = path.read_text(encoding="utf-8")
    return SourceFile(text, ("theorax.names",))


def asked(folder: Path, path: Path, package: Path = PACKAGE) -> tuple[SourceFile, int]:
    """What is known of the file in a new process, and how often it was read."""
    times: list[Path] = []
    known = KnownFiles(folder, package)
    found = known.of(path, lambda path: times.append(path) or said(path))
    known.save()
    return found, len(times)


def test_an_unchanged_file_is_read_once(tmp_path, file):
    assert asked(tmp_path, file) == (said(file), 1)
    assert asked(tmp_path, file) == (said(file), 0)


def test_a_change_of_one_size_and_one_time_is_seen(tmp_path, file):
    asked(tmp_path, file)
    before = file.stat()
    file.write_text("x = 2\n", encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # the time of the inode cannot be set back
    assert asked(tmp_path, file) == (said(file), 1)


def test_another_file_in_its_place_is_seen(tmp_path, file):
    asked(tmp_path, file)
    before = file.stat()
    other = tmp_path / "b.py"
    other.write_text("x = 3\n", encoding="utf-8")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(file)
    assert asked(tmp_path, file) == (said(file), 1)


def test_a_file_that_has_just_changed_is_not_kept(tmp_path, file, monkeypatch):
    monkeypatch.setattr(known_files, "SETTLED", 2_000_000_000)
    assert asked(tmp_path, file)[1] == 1
    assert asked(tmp_path, file)[1] == 1
    monkeypatch.setattr(known_files.time, "time_ns", lambda: time.clock_gettime_ns(time.CLOCK_REALTIME) + 10**10)
    assert asked(tmp_path, file)[1] == 1
    assert asked(tmp_path, file)[1] == 0


@pytest.mark.parametrize("byte", [0, 30, 64, 65, 80, -2])
def test_a_file_of_it_that_was_altered_is_not_used(tmp_path, file, byte):
    asked(tmp_path, file)
    kept = tmp_path / FILE
    content = bytearray(kept.read_bytes())
    content[byte] ^= 1
    kept.write_bytes(content)
    assert asked(tmp_path, file) == (said(file), 1)


def test_what_other_code_kept_is_not_used(tmp_path, file, monkeypatch):
    asked(tmp_path, file)
    monkeypatch.setattr(known_files.sys, "version", "another Python")
    assert asked(tmp_path, file) == (said(file), 1)


def test_a_folder_that_is_missing_or_cannot_be_written_is_no_error(tmp_path, file, monkeypatch):
    assert asked(tmp_path / "none", file)[1] == 1
    assert not (tmp_path / "none").exists()

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "write_text", refuse)
    assert asked(tmp_path, file)[1] == 1
    assert not list(tmp_path.glob(f"{FILE}*"))


def test_a_file_of_the_package_is_read_once_for_all_folders_of_results(tmp_path, file, bytecode):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    assert asked(tmp_path / "one", file, tmp_path) == (said(file), 1)
    assert (bytecode / FILE).is_file()
    assert asked(tmp_path / "two", file, tmp_path) == (said(file), 0)
    assert not (tmp_path / "two" / FILE).exists()
    before = file.stat()
    file.write_text("x = 2\n", encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert asked(tmp_path / "two", file, tmp_path) == (said(file), 1)
    assert asked(tmp_path / "one", file, tmp_path) == (
        said(file),
        1,
    )  # it holds an older stamp, which is not that of the file


def test_files_of_others_are_not_kept_beside_the_package(tmp_path, file, bytecode):
    (tmp_path / "package").mkdir()
    asked(tmp_path, file, tmp_path / "package")
    assert not list(bytecode.parent.rglob(FILE))


@pytest.mark.parametrize("refused", ["no bytecode", "read-only", "no folder"])
def test_a_package_that_cannot_be_written_is_read_for_each_folder(tmp_path, file, bytecode, monkeypatch, refused):
    if refused == "no bytecode":
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
    elif refused == "no folder":
        bytecode.rmdir()
    else:
        write = Path.write_text

        def guarded(path: Path, *arguments: Any, **named: Any) -> int:
            if path.parent == bytecode:
                raise PermissionError
            return write(path, *arguments, **named)

        monkeypatch.setattr(Path, "write_text", guarded)
    assert asked(tmp_path, file, tmp_path)[1] == 1
    assert asked(tmp_path, file, tmp_path)[1] == 0  # from the folder of results
    assert not list(bytecode.glob(f"{FILE}*"))
