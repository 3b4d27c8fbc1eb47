"""Worker processes and the one that counts what they share: what a signal to the group may end."""

import signal
import subprocess
import sys

COUNTER = """
from multiprocessing import resource_tracker
from theorax.numerics.processes import fresh_processes
queue = fresh_processes().SimpleQueue()
print(next(line.split()[1] for line in open(f"/proc/{resource_tracker._resource_tracker._pid}/status") if "SigIgn" in line))
"""


def test_a_closed_terminal_does_not_end_the_process_that_counts_what_is_shared():
    told = subprocess.run([sys.executable, "-c", COUNTER], capture_output=True, text=True, check=True)
    assert int(told.stdout, 16) >> (signal.SIGHUP - 1) & 1


def test_what_this_process_does_at_a_closed_terminal_stays():
    from theorax.numerics.processes import fresh_processes

    before = signal.getsignal(signal.SIGHUP)
    fresh_processes()
    assert signal.getsignal(signal.SIGHUP) is before


def test_what_a_killed_process_leaves_is_cleaned_up_in_silence():
    left = (
        "import os\n"
        "from theorax.numerics.processes import fresh_processes\n"
        "lock = fresh_processes().Lock()\n"
        "os._exit(1)\n"
    )
    told = subprocess.run([sys.executable, "-c", left], capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (1, "")
