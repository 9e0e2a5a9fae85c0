"""What `referee doctor` says of the engine of metered bots."""

import subprocess
from importlib.util import find_spec

from referee.addons.wasm import runner
from referee.harness.cli.doctor import Tool
from referee.harness.common import installed
from referee.harness.languages import toolchains


def engine() -> Tool:
    """Returns whether the engine of metered bots runs a module here."""
    name, install = "wasmtime", [installed.extra_command("wasm")]
    if find_spec("wasmtime") is None:
        return Tool(["metered bots"], name, "", "is not installed", install)
    command = [*runner.PYTHON, runner.COMPILER, "--try"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=toolchains.VERSION_TIMEOUT_S)
    version = runner.engine(name).removeprefix("wasmtime ")
    if runner.runner_in_c() is None:
        version += ", slow without a C compiler"
    lack = "" if done.returncode == 0 else f"does not run a module: {(done.stderr.splitlines() or ['?'])[-1]}"
    return Tool(["metered bots"], name, version, lack, install)
