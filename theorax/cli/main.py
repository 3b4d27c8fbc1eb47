"""The command ``verify``: its subcommands by name, its exit codes, and what becomes of an error."""

from __future__ import annotations

import errno
import importlib
import io
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NoReturn, TextIO

import click

from theorax.cli.workspace import Workspace, workspace_of
from theorax.deleted import OPTIONS
from theorax.errors import NothingSelected, TheoraxError
from theorax.names import did_you_mean
from theorax.version import __version__

COMMANDS = {
    "theorem": ("theorax.cli.check:theorem", "Check theorems and report on them."),
    "all": ("theorax.cli.check:all_", "Check every theorem."),
    "audit": ("theorax.cli.audit:audit", "Check everything and write a folder of reports, for people and machines."),
    "list": ("theorax.cli.listing:list_", "Show the theorems, without running anything."),
    "explain": ("theorax.cli.explain:explain", "Show what a theorem states, without running it."),
    "graph": ("theorax.cli.graph:graph", "Show which theorem rests on which."),
    "plan": ("theorax.cli.plan:plan", "Show what a run would check and why, before any draw."),
    "new": ("theorax.cli.scaffold:new", "Write a small theorem of a kind, to be changed into your own."),
    "init": ("theorax.cli.scaffold:init", "Make this folder a project with theorems of its own, and with CI."),
    "evaluate": ("theorax.cli.evaluate:evaluate", "Show what the claims predict at given values, without any draw."),
    "lint": ("theorax.cli.lint:lint", "Show every error of the statements in theorem files, without running them."),
    "baseline": ("theorax.cli.baseline:baseline", "Keep what a run found, and hold later runs against it."),
    "replay": ("theorax.cli.replay:replay", "Check again what a report found, from its seeds."),
    "merge": ("theorax.cli.merge:merge", "Join the shards of a run into its report."),
    "report": ("theorax.cli.report:report", "Turn a JSON report into another format."),
    "draws": ("theorax.cli.draw_tables:draws", "Write the draws that a kept result was decided from, as a table."),
    "data": ("theorax.cli.data:data", "Decide a claim about a table of your own (CSV, Parquet or NPZ)."),
    "completion": ("theorax.cli.completion:completion", "Print the script that completes words in bash, zsh or fish."),
    "doctor": ("theorax.cli.doctor:doctor", "Show versions, devices and the precision of matrix products."),
}
EXIT_CODES = {
    0: "all theorems hold",
    1: "a theorem is refuted over the run, or a claim broke since the baseline",
    2: "wrong usage",
    3: "an error, in a theorem's check or in the engine",
    4: "undecided: inconclusive, vacuous, blocked; or refuted on its own only",
    5: "nothing is selected",
    130: "interrupted; what had finished is kept",
    141: "the reader of a pipe left, as in `verify list | head -1`",
}
AGAIN = 0.02  # seconds until an interruption that was lost is repeated
# Of files and folders that a user can mend.
_OF_FILES = {
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.ENOSPC, errno.EDQUOT,
    errno.EIO,
}  # fmt: skip
EPILOG = "\b\nExit codes:\n" + "\n".join(f"  {code:>3}  {meaning}" for code, meaning in EXIT_CODES.items())


class Lazy(click.Group):
    """A group that imports a subcommand when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The names with what they do, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The subcommand that was typed.

        **Raises:** click.UsageError with the nearest names if there is none.
        """
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            typed = args[0]
            hint = did_you_mean(typed, COMMANDS)
            if ":" in typed or "/" in typed or typed.endswith(".py") or _is_id(ctx, typed):
                hint = f". Write `verify theorem {typed}`."
            raise click.UsageError(f"There is no command `{typed}`{hint}")
        return super().resolve_command(ctx, args)


def _is_id(context: click.Context, typed: str) -> bool:
    with suppress(TheoraxError):
        return typed in workspace_of(context).catalogue.files
    return False


@click.group(
    cls=Lazy,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Check theorems of deep-learning theory: state, prove, measure, try to break.\n\n"
    "Begin with `verify list`, then `verify theorem ID`.",
)
@click.version_option(__version__, prog_name="theorax")
def group() -> None:
    """The command itself; its subcommands do the work."""


def main(arguments: Sequence[str] | None = None, workspace: Workspace | None = None) -> NoReturn:
    """Run the command and leave the process with its exit code."""
    code = 3  # of whatever ends the command but a summary
    try:
        _end_as_interrupted()
        _hear_interruptions()
        _open_streams()
        typed = tuple(sys.argv[1:] if arguments is None else arguments)
        code = exit_code_of(replace(workspace or Workspace(), arguments=typed))
    except KeyboardInterrupt:
        code = _print_error("Interrupted.", 130)
    except BaseException as error:
        code = _unexpected(error)
    sys.exit(code)


def _end_as_interrupted() -> None:
    """Answer a request to end, or a terminal that closes, as Ctrl-C: what had finished is kept, and workers end too."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # What is ignored stays ignored: that is how a command is kept running without a terminal.
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def _hear_interruptions() -> None:
    """Repeat a Ctrl-C that came inside a callback: Python prints the exception of a callback, and goes on without it."""

    def repeat(found: sys.UnraisableHookArgs) -> None:
        if issubclass(found.exc_type, KeyboardInterrupt):
            # Not at once: it would come inside this function, which is a callback too.
            threading.Timer(AGAIN, _interrupt).start()
        else:
            sys.__unraisablehook__(found)

    sys.unraisablehook = repeat


def _interrupt() -> None:
    """Send the signal to the main thread, which may wait: one that another thread gets ends no wait of the main one."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or threading.get_ident(), signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)


class _Closed(io.TextIOBase):
    """Standard output of a process that was started without one."""

    def write(self, text: str, /) -> int:
        raise OSError(errno.EBADF, "it is closed")


def _open_streams() -> None:
    """Make the standard streams usable; one that is closed is told where it is written to, never met by chance."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # Else the next file that is opened would get this number, and be written to as a stream.
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or _Closed()
    sys.stderr = sys.stderr or io.StringIO()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a sign shows a question mark in its place.
            stream.reconfigure(errors="replace")


def exit_code_of(workspace: Workspace) -> int:
    """The exit code of a command; every error has become a sentence on the standard error."""
    output = sys.stdout
    try:
        result: object = group.main(
            args=list(workspace.arguments),
            prog_name="verify",
            standalone_mode=False,
            obj=workspace,
        )
        sys.stdout.flush()
    except NothingSelected as error:
        return _print_error(str(error), 5)
    except TheoraxError as error:
        return _print_error(str(error), 2)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 2
    except click.NoSuchOption as error:
        if error.option_name in OPTIONS:
            return _print_error(OPTIONS[error.option_name], 2)
        return _wrong_usage(error)
    except click.UsageError as error:
        return _wrong_usage(error)
    except click.ClickException as error:
        return _print_error(error.format_message(), 2)
    except (click.Abort, KeyboardInterrupt):
        return _print_error("Interrupted.", 130)
    except BrokenPipeError:
        return _reader_has_gone()
    except SystemExit as error:
        # Of a pipe without a reader click makes a number of its own, and wraps the standard output.
        return _reader_has_gone() if sys.stdout is not output else _unexpected(error)
    except MemoryError:
        return _print_error("The memory is used up. Take fewer processes (`--jobs 1`), or smaller sizes.", 3)
    except OSError as error:
        return _of_system(error)
    except BaseException as error:
        return _unexpected(error)
    # Only a command that came to its end has a number to return: a process that is ended on the way has not.
    return result if isinstance(result, int) else _unexpected(TypeError(f"the command returned {result!r}"))


def _wrong_usage(error: click.UsageError) -> int:
    path = error.ctx.command_path if error.ctx is not None else "verify"
    return _print_error(f"{error.format_message()} (`{path} --help` explains.)", 2)


def _print_error(sentence: str, code: int) -> int:
    from theorax.text.safe import uncommanded, visible

    # What was typed, and what stands in a file, is repeated here.
    try:
        click.echo(uncommanded(visible(f"Error: {sentence}")), err=True)
    except (OSError, ValueError):  # nothing can be told there, and the code says most of it
        _discard(sys.stderr)
    return code


def _of_system(error: OSError) -> int:
    """The exit code of an error of the operating system: of a file the error names it, of a stream it names nothing."""
    if error.filename is None:
        try:
            os.getcwd()
        except FileNotFoundError:
            return _print_error("The working folder was deleted. Change into another, and type the command again.", 2)
        return _unprinted(error)
    if error.errno in _OF_FILES:
        return _print_error(f"`{os.fsdecode(error.filename)}` cannot be used: {error.strerror}.", 2)
    return _unexpected(error)


def _reader_has_gone() -> int:
    # The reader of a pipe has gone, as with `verify list | head`; Python would complain once more when it exits.
    _discard(sys.stdout)
    return 141


def _discard(stream: TextIO) -> None:
    """Drop what a stream still holds, or it is tried again at the exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _unprinted(error: OSError) -> int:
    _discard(sys.stdout)
    return _print_error(
        f"The standard output cannot be written ({error.strerror or error}), so nothing is told there. "
        "Name a file, as in `--output json=report.json`.",
        3,
    )


def _unexpected(error: BaseException) -> int:
    import tempfile
    import traceback
    from pathlib import Path

    text = traceback.format_exc()
    folder = Path(".theorax") if Path(".theorax").is_dir() else Path(tempfile.gettempdir())
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", prefix="theorax-error-", suffix=".txt", dir=folder, delete=False
        ) as file:
            file.write(text)
        where = f"The traceback is in {Path(file.name).resolve()}."
    except OSError:
        where = text
    return _print_error(f"Something in theorax itself went wrong ({type(error).__name__}: {error}). {where}", 3)
