"""Keeps one core of this machine busy."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

SPIN = """
import os, sys
os.sched_setaffinity(0, [int(sys.argv[1])])
print(flush=True)
while True: pass
"""


@contextmanager
def busy_core(programs: int = 4) -> Iterator[int]:
    """Runs programs on one core, and yields its number."""
    core = min(os.sched_getaffinity(0))
    with ExitStack() as stack:
        for _ in range(programs):
            program = stack.enter_context(
                subprocess.Popen([sys.executable, "-c", SPIN, str(core)], stdout=subprocess.PIPE)
            )
            stack.callback(program.kill)
            assert program.stdout is not None and program.stdout.readline()
        yield core
