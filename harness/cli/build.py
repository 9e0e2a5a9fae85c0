"""`referee build`: builds a bot."""

import shlex
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.screen import building, out
from referee.harness.errors import UsageError
from referee.harness.programs.build_process import BuildContext
from referee.harness.programs.spec import entrant


def build(
    bot: str,
    *,
    target: Literal["native", "wasm"] = "native",
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
) -> int:
    """Builds a bot, or makes a module of WebAssembly of it.

    A module plays metered: its time is fuel, the same on every machine.

    Args:
        bot: A folder with bot.toml, or a source file.
        target: wasm: a module, for which bot.toml has a table [wasm]; a source file needs nothing.
        output: Where to put the module. Default: BOT.wasm in this folder.
    """
    if target == "native":
        if output is not None:
            raise UsageError("--output is for --target wasm: native programs stay in the cache")
        built = entrant(bot, progress=building)
        out.print(f"{built.name}: {shlex.join(built.argv)}", soft_wrap=True)
        return PLAYED
    from referee.addons.wasm.build import build_module, save  # for modules alone

    module = build_module(bot, BuildContext(progress=building))
    file = Path(f"{Path(bot).resolve().stem}.wasm") if output is None else output
    save(module, file)
    out.print(f"{file}  ({file.stat().st_size >> 10} KiB)")
    return PLAYED
