"""``python -m theorax`` is the command ``verify``: it begins here, and Ctrl-C is a sentence from here on."""

import os
import signal


def run() -> None:
    """Run the command, and end the process with its exit code."""
    try:
        from theorax.cli.main import main

        main()
    except KeyboardInterrupt:
        # Modules may be half imported: what they do at the exit of a process is left out.
        os.write(2, b"Error: Interrupted.\n")
        os._exit(130)
    except SystemExit:
        # The code is known; a second Ctrl-C must not change it while the interpreter ends.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise


if __name__ == "__main__":
    run()
