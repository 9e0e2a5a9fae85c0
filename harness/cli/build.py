"""`referee build`: builds a bot."""

import shlex
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.screen import building, out
from referee.harness.common.errors import UsageError, writing
from referee.harness.common.output import kind_like, write_whole
from referee.harness.programs.build_process import BuildContext
from referee.harness.programs.spec import entrant
from referee.harness.programs.targets import NATIVE, target_named, targets_help


def build(
    bot: str,
    *,
    target: Annotated[str, Parameter(help=targets_help())] = NATIVE,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
) -> int:
    """Builds a bot.

    Args:
        bot: A folder with bot.toml, or a source file.
        output: Where to put the file of another target. Default: in this folder, with the name of the bot.
    """
    other = target_named(target)
    if other is None:
        if output is not None:
            raise UsageError("--output is for other targets: native programs stay in the cache")
        built = entrant(bot, progress=building)
        out.print(f"{built.name}: {shlex.join(built.argv)}", soft_wrap=True)
        return PLAYED
    made = other.build(bot, BuildContext(progress=building))
    file = Path(f"{Path(bot).resolve().stem}{other.suffix}") if output is None else output
    content = made.read_bytes()
    kind_like(content, f"a file that --target {target} makes").check_place(file)
    with writing(file):
        write_whole(file, content)
    out.print(f"{file}  ({file.stat().st_size >> 10} KiB)")
    return PLAYED
