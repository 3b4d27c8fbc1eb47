"""Everything that a check reads while a user's file is loaded and checked, as Python itself reports it.

Python announces to an audit hook which files it opens, which folders it lists and which programs it starts. Reading an
environment variable announces nothing, so a mapping that takes notes replaces ``os.environ``. A module that was already
loaded announces nothing either, so all loaded modules outside the installed packages count.

===========================================================  ===============================================
read                                                         counts
===========================================================  ===============================================
a file, by Python code or by a package that the author uses  yes, also one that was not there
a folder's listing                                           yes, by the names in it
an environment variable, by the author's own code            yes, also one that was not set
a program started by the author's own code                   yes; what it reads is not seen
a file or folder that the same check wrote                   no
files of Python, installed packages and theorax              no: their versions and sources are other entries
caches, the folder of results, ``/proc``, ``/sys``, ``/dev``  no
===========================================================  ===============================================

Not seen: a file read by compiled code that opens it itself (HDF5, for one), ``os.path.exists`` and other questions about
a file, ``os.environb``, and the network.
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

__all__ = ["ABSENT", "Reads", "digest_of_file", "digest_of_folder", "digest_of_variable", "recorded_reads"]

ABSENT = "absent"
_PACKAGE = os.path.join(str(Path(__file__).parents[1]), "")
_LIBRARIES = ("stdlib", "platstdlib", "purelib", "platlib")
_INSTALLED = ("site-packages", "dist-packages")  # the names of folders of installed packages
_BACKPORT = f"{os.sep}importlib_metadata{os.sep}"  # a package, also inside others, that takes the place of Python's own
_SYSTEM = ("/proc/", "/sys/", "/dev/")
_OPENED = ("open", "sqlite3.connect", "ctypes.dlopen")
_LISTED = ("os.listdir", "os.scandir")
_CHANGED = ("os.mkdir", "os.rename", "os.remove", "os.rmdir")
_HEARD = frozenset((*_OPENED, *_LISTED, *_CHANGED, "subprocess.Popen"))
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@dataclass(frozen=True)
class Reads:
    """Everything that a check read: digests by absolute path or by name; ABSENT where there was nothing."""

    files: dict[str, str] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    programs: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()


def digest_of_file(path: str | Path) -> str:
    """The digest of a file's bytes; ABSENT if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ABSENT


def digest_of_folder(path: str | Path, without: str | Path = "") -> str:
    """The digest of the names in a folder, bytecode and the folder of results ``without`` left out; ABSENT if gone."""
    hidden = {"__pycache__"}
    if without and os.path.dirname(os.path.abspath(without)) == os.path.abspath(path):
        hidden.add(os.path.basename(os.path.abspath(without)))
    try:
        names = sorted(set(os.listdir(path)) - hidden)
    except OSError:
        return ABSENT
    return _digest("\0".join(names))


def digest_of_variable(name: str) -> str:
    """The digest of an environment variable; ABSENT if it is not set."""
    value = os.environ.get(name)
    return ABSENT if value is None else _digest(value)


@contextmanager
def recorded_reads(state: str) -> Iterator[_Recorder]:
    """Record everything that is read inside; ``state`` is the folder of results.

    A user's modules that an earlier recording imported are forgotten first: a module that is already loaded would not
    read its data again.
    """
    hook = _hook()
    for name in [name for name in hook.imported if name in sys.modules]:
        del sys.modules[name]
    before, real = frozenset(sys.modules), os.environ
    recorder = hook.recorder = _Recorder(state)
    setattr(os, "environ", _RecordingEnvironment(real, recorder))  # noqa: B010  # B003 is about clearing it
    try:
        yield recorder
    finally:
        hook.recorder = None
        setattr(os, "environ", real)  # noqa: B010
        own = {name: file for name in list(sys.modules) if (file := _file_of(name)) and recorder.counts(file)}
        recorder.modules = tuple(sorted(set(own.values())))
        hook.imported = frozenset(name for name, file in own.items() if name not in before and file.endswith(".py"))


class _Hook:
    """The one audit hook of a process, which cannot be removed: it hands events to whoever records."""

    def __init__(self) -> None:
        self.recorder: _Recorder | None = None
        self.imported: frozenset[str] = frozenset()  # names of a user's modules that the last recording imported
        self._busy = threading.local()  # taking a note raises events

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        recorder = self.recorder
        if recorder is None or event not in _HEARD or getattr(self._busy, "now", False):
            return
        self._busy.now = True
        try:
            recorder.note(event, arguments)
        except Exception:  # a hook that raises would forbid the author's own call
            recorder.failed = True
        finally:
            self._busy.now = False


@cache
def _hook() -> _Hook:
    found = _Hook()
    sys.addaudithook(found)
    return found


class _Recorder:
    """Notes of one check."""

    def __init__(self, state: str) -> None:
        self.state = os.path.abspath(state)
        self.modules: tuple[str, ...] = ()
        self.failed = False  # an event could not be noted
        self._files: dict[str, str] = {}
        self._folders: dict[str, str] = {}
        self._variables: dict[str, str] = {}
        self._programs: set[str] = set()
        self._written: set[str] = set()
        self._set: set[str] = set()
        self._others = tuple(os.path.join(place, "") for place in (*_installed(), *_caches(), self.state))

    def note(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Take a note of an event."""
        caller = _caller()
        if caller in (_Caller.THEORAX, _Caller.IMPORT):
            return
        if event == "subprocess.Popen":
            if caller is _Caller.OWN:
                self._programs.add(os.fsdecode(arguments[0] if arguments[0] else arguments[1][0]))
            return
        path = _path(arguments[0])
        if path is None or (event == "ctypes.dlopen" and os.sep not in str(arguments[0])):
            return
        if event in _CHANGED:
            self._written.update(filter(None, (path, _path(arguments[1]) if event == "os.rename" else None)))
        elif event in _LISTED:
            self._folders.setdefault(path, digest_of_folder(path, self.state) if self.counts(path) else "")
        elif event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING:
            self._written.add(path)
        elif path not in self._files and self.counts(path) and not os.path.isdir(path):
            self._files[path] = "" if path.endswith(".py") else digest_of_file(path)

    def note_variable(self, name: str, value: str | None) -> None:
        """Take a note of a variable that was read."""
        if name not in self._set and _caller() is _Caller.OWN:
            self._variables.setdefault(name, ABSENT if value is None else _digest(value))

    def note_set(self, name: str) -> None:
        """Take a note of a variable that was set: from now on its value is the check's own."""
        self._set.add(name)

    def counts(self, path: str) -> bool:
        """True for a path outside Python, installed packages, caches and the folder of results."""
        real = os.path.join(os.path.realpath(path), "")
        return not any(name in Path(path).parts for name in _INSTALLED) and not any(
            place.startswith((*_SYSTEM, _PACKAGE, *self._others)) for place in (os.path.join(path, ""), real)
        )

    @property
    def found(self) -> Reads:
        """Everything that was read and not written by the check."""

        def is_written(path: str) -> bool:
            return path in self._written or any(path.startswith(made + os.sep) for made in self._written)

        folders = {path: digest for path, digest in self._folders.items() if digest and not is_written(path)}
        # What the check itself wrote into a folder is there from now on.
        touched = {os.path.dirname(path) for path in self._written}
        folders |= {path: digest_of_folder(path, self.state) for path in folders if path in touched}
        unseen = ("a read that could not be noted",) if self.failed else ()
        return Reads(
            files={path: digest for path, digest in self._files.items() if not is_written(path)},
            folders=folders,
            variables=dict(self._variables),
            programs=(*sorted(self._programs), *unseen),
            modules=self.modules,
        )


class _RecordingEnvironment(os._Environ):  # its copies and unions must stay what they are
    """``os.environ`` with notes of the variables that are read and set; it shares its values."""

    def __init__(self, real: Any, recorder: _Recorder) -> None:
        super().__init__(real._data, real.encodekey, real.decodekey, real.encodevalue, real.decodevalue)
        self._recorder = recorder

    def __getitem__(self, name: Any) -> Any:
        try:
            value = super().__getitem__(name)
        except KeyError:
            self._recorder.note_variable(str(name), None)
            raise
        self._recorder.note_variable(str(name), value)
        return value

    def __setitem__(self, name: Any, value: Any) -> None:
        self._recorder.note_set(str(name))
        super().__setitem__(name, value)


class _Caller(Enum):
    """The code that reads: the innermost that is not Python's own."""

    OWN = "own"
    PACKAGE = "package"
    THEORAX = "theorax"
    IMPORT = "import"


def _caller() -> _Caller:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(_importing()) or _BACKPORT in name:
            return _Caller.IMPORT
        if name == __file__ or name.startswith("<frozen"):
            pass
        elif name.startswith(_PACKAGE):
            return _Caller.THEORAX
        elif any(f"{os.sep}{folder}{os.sep}" in name for folder in _INSTALLED):
            return _Caller.PACKAGE
        elif not name.startswith(_standard_library()):
            return _Caller.OWN
        frame = frame.f_back
    return _Caller.OWN  # a thread of the author's that runs a function of Python's own


@cache
def _standard_library() -> tuple[str, ...]:
    return tuple({os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "platstdlib")})


@cache
def _importing() -> tuple[str, ...]:
    """Beginnings of the names of the files in which Python looks for modules, and for lists of what is installed."""
    library = sysconfig.get_path("stdlib")
    looked = (os.path.join("importlib", "metadata"), "pkgutil.py", "zipimport.py")
    return "<frozen importlib", "<frozen zipimport", *(os.path.join(library, name) for name in looked)


@cache
def _installed() -> tuple[str, ...]:
    places = {sysconfig.get_path(name) for name in _LIBRARIES}
    # The archive that Python looks into before its library, whether or not there is one.
    archive = f"python{sys.version_info.major}{sys.version_info.minor}.zip"
    places.add(os.path.join(os.path.dirname(sysconfig.get_path("stdlib")), archive))
    return tuple({*places, *(os.path.realpath(place) for place in places)})


def _caches() -> tuple[str, ...]:
    cache_of_user = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    compiled = os.environ.get("JAX_COMPILATION_CACHE_DIR")
    return tuple(os.path.abspath(place) for place in (cache_of_user, compiled) if place)


def _path(given: Any) -> str | None:
    """The absolute path of what was opened or listed; None for a descriptor, which some earlier event opened."""
    if given is None:
        return os.getcwd()
    if isinstance(given, int):
        return None
    with suppress(TypeError, ValueError):
        found = os.fsdecode(given)
        return None if found.startswith((":memory:", "file:")) else os.path.abspath(found)
    return None


def _file_of(module: str) -> str | None:
    if module == "__main__":
        return None
    file = getattr(sys.modules[module], "__file__", None)
    return os.path.abspath(file) if isinstance(file, str) else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
