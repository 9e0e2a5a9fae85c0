"""`referee serve bridge PROTOCOL BOT`: a bot as an engine, for programs that run games between engines."""

from typing import Literal

from referee.games.game import TimeControl
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.limit_options import LimitOptions
from referee.harness.cli.options import GameName, Seed, drawn
from referee.harness.cli.screen import building
from referee.harness.cli.signals import run
from referee.harness.cli.standard_streams import read_input, write_output
from referee.harness.common.errors import UsageError
from referee.harness.common.known_games import typed_game
from referee.harness.programs.built_in import check_seats, entrant_in_game
from referee.harness.programs.spec import entrant


def bridge(
    protocol: Literal["uci", "ugi"],
    bot: str,
    *,
    game: GameName = "openspiel:chess",
    seed: Seed = None,
    limits: LimitOptions = LimitOptions(),
) -> int:
    """Lets a bot play as a UCI or UGI engine.

    Programs such as cutechess, fastchess and lichess-bot start this command as they start an engine, and speak to it on
    standard input and output.

    Args:
        protocol: uci, or ugi for other games than chess.
        bot: As for a match: PATH, cmd:'COMMAND LINE' or @NAME. NAME= before it names the bot.
    """
    if limits.clock is not None:
        raise UsageError("--clock: the program that runs the games keeps the clock")
    played = typed_game(game)
    from referee.addons.engines.bridge import Conditions, serve  # needs OpenSpiel, as the game does

    check_seats([bot], played.name, every_seat=True)
    program = entrant_in_game(entrant(bot, played.name, limits.limits(), progress=building), played.name)
    conditions = Conditions(
        protocol, played, program, limits.limits(), limits.time(TimeControl()).per_call_s, drawn(seed)
    )
    conditions.board()
    run(serve, read_input, write_output, conditions)
    return PLAYED
