"""The modules of a replay's metered bots: next to the replay, in the cache, or in the bot's folder."""

import os
from collections.abc import Sequence
from pathlib import Path

from referee.addons.wasm import runner
from referee.addons.wasm.kind import MODULE
from referee.games.contract import Player
from referee.harness.common.errors import RunError, UsageError, reason
from referee.harness.common.measures import measured
from referee.harness.common.output import kind_like, write_whole
from referee.harness.programs import archive
from referee.harness.programs.build_process import BuildContext
from referee.harness.programs.entrant import Entrant
from referee.harness.replay.reader import Replay


def kept_module(replay: Path, player: Player) -> Path:
    """Returns where the module of a seat is kept, next to the replay."""
    return replay.with_name(f"{replay.name.split('.jsonl')[0]}.seat{player}{MODULE.suffix}")


def keep_modules(replay: Replay) -> None:
    """Copies the modules of the metered bots next to the replay. RunError if that fails.

    UsageError if a file that is no module has such a name.
    """
    for player in measured(replay.header, "metered"):
        module, kept = runner.module_of(replay.header.commands[player]), kept_module(replay.path, player)
        try:
            content = module.read_bytes()
            kind_like(content, "a module").refuse_other(kept)
            write_whole(kept, content)
        except OSError as error:
            raise RunError(f"the module {module} cannot be kept at {kept}: {reason(error)}") from error


def found_modules(replay: Replay) -> dict[Player, Path]:
    """Returns the modules of a replay's metered bots: next to it, or in this machine's cache.

    UsageError if one is missing, or if no bot was metered.
    """
    if not measured(replay.header, "metered"):
        raise UsageError(f"{replay.path}: no bot was metered, so no other run must give the same match")
    modules = {}
    for player in sorted(measured(replay.header, "metered")):
        kept, command = kept_module(replay.path, player), replay.header.commands[player]
        in_cache = runner.module_of(command) if runner.in_cache(command) else None
        found = kept if kept.is_file() else in_cache
        if found is None:
            name = replay.header.setup.names[player]
            raise UsageError(
                f"{replay.path}: the module of {name} (seat {player}) is neither at {kept} nor in the cache; "
                "name the modules of the metered seats after the replay"
            )
        modules[player] = found
    return modules


def module_entrant(replay: Replay, player: Player, module: Path, context: BuildContext, target: str = "") -> Entrant:
    """Returns the bot that runs a module with the arguments and the prices of a replay."""
    header = replay.header
    name, command = header.setup.names[player], header.commands[player]
    arguments = runner.arguments_of(command)  # the rest could start any program
    argv = runner.command(module.resolve(), context, arguments, target, measured(header, "metered")[player].prices)
    return Entrant(name, argv, module.resolve().parent, MODULE.name)


def recorded_entrant(
    replay: Replay, player: Player, command: Sequence[str], folder: str, context: BuildContext
) -> Entrant | None:
    """Returns a metered bot of a replay, compiled here; None if no module with the recorded hash is left."""
    recorded = measured(replay.header, "metered").get(player)
    places = [kept_module(replay.path, player)]
    if runner.in_cache(command):
        places.append(runner.module_of(command))
    if folder and os.path.isdir(folder):
        places += sorted(Path(folder).glob(f"*{MODULE.suffix}"))
    for place in places:
        if recorded is not None and place.is_file() and archive.sha256(place) == recorded.sha256:
            return module_entrant(replay, player, place, context)
    return None
