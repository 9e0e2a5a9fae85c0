"""Python."""

import sys
from signal import SIGABRT

from referee.harness.languages.language import Argv, Debugger, Language, SourceBuild


def _run(build: SourceBuild) -> Argv:
    return (sys.executable, str(build.source))


PYTHON = Language(
    name="Python",
    suffixes=(".py",),
    run=_run,
    debugger=Debugger(
        attach="python -m debugpy --listen 5678 --pid {pid}   "
        "(pip install debugpy; then attach an editor to port 5678)",
        crash="start it as `cmd:'python3 -X faulthandler bot.py'`, and standard error names the line",
        runtimes=("python", "pypy"),
        uses_gdb=True,
        dump_signal=SIGABRT,
        dump_options=("-X", "faulthandler"),
        dump_start="Current thread ",
    ),
    kit="python",
    aliases=("py",),
)
