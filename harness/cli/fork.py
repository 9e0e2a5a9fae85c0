"""`referee fork REPLAY --turn N`: goes on from a position of a recorded match, perhaps with other bots."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.text import Text

from referee.harness.cli.exit_codes import AT_FAULT, PLAYED
from referee.harness.cli.options import Flag
from referee.harness.cli.person import Hands
from referee.harness.cli.reports.text import printable
from referee.harness.cli.repro import recorded
from referee.harness.cli.screen import Screen, building, out, print_json
from referee.harness.cli.signals import run
from referee.harness.errors import NotIsolated, UsageError
from referee.harness.isolation import plan
from referee.harness.match.fork import forked, path_of
from referee.harness.match.series import Outcome, People, Series, play_series
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import Entrant, built_in_of, check_seats, entrants
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference
from referee.harness.replay.writer import claimed


def fork(
    file: Path,
    *,
    turn: int,
    seat: Annotated[Sequence[str], Parameter(negative=())] = (),
    replay: Path | None = None,
    json: Flag = False,
    strict: Flag = False,
    verbose: Annotated[bool, Parameter(name=["--verbose", "-v"], negative=())] = False,
) -> int:
    """Goes on from a position of a recorded match, under its rules, times and limits.

    Every bot hears what its seat was asked and told up to there; its answers count from then on.

    Parameters
    ----------
    file
        The replay.
    turn
        The last turn that stays as it was; 0 is the opening.
    seat
        S=BOT: at seat S (from 0) plays that bot, named as for a match, or `human`, you; may be given more than once. At
        the other seats play the programs of the record.
    replay
        Where the new record goes. Default: a new file in ./replays.
    json
        Print one machine-readable object on standard output and nothing else.
    strict
        Exit with 1 if a bot was at fault.
    verbose
        Print every turn.
    """
    before = Replay(file)
    specs = _seats(seat, len(before.header.setup.names))
    limits = _limits(before.header.limits)
    given = {player: _given(spec, player, before) for player, spec in specs.items()}
    seated = {
        player: _seated(player, before) for player in range(len(before.header.setup.names)) if player not in given
    }
    try:
        match = forked(before, turn, seated, given)
    except Difference as difference:
        raise UsageError(f"{file}: {printable(str(difference))}") from difference
    with nullcontext(replay) if replay is not None else claimed(path_of(before, turn)) as path:
        series = Series(msgspec.structs.replace(match, replay=path, bundles=True))
        screen = Screen(series, json, verbose)
        if not json:
            where = "the opening" if turn == 0 else f"turn {turn}"
            out.print(Text(f"goes on from {where} of {file}", style="dim"))
        outcome = run(_play, series, limits, screen)
    if json:
        print_json(outcome)
    return AT_FAULT if strict and outcome.matches[0].faults else PLAYED


async def _play(series: Series, limits: Limits, screen: Screen) -> Outcome:
    several = sum(bot.human for bot in series.match.entrants) > 1
    people = People(Hands(series.match.game, series.match.setup.seed, several))
    async with screen.drawn():
        return await play_series(series, limits, screen.turned, screen.played, people)


def _seats(given: Sequence[str], count: int) -> dict[int, str]:
    """The bots that were named, by seat."""
    found: dict[int, str] = {}
    for text in given:
        number, equals, spec = text.partition("=")
        if not equals or not spec or not number.isascii() or not number.isdigit() or int(number) >= count:
            raise UsageError(f"--seat {text}: wanted is S=BOT, with a seat from 0 to {count - 1}")
        if int(number) in found:
            raise UsageError(f"--seat {text}: seat {int(number)} was given already")
        found[int(number)] = spec
    return found


def _given(spec: str, player: int, before: Replay) -> Entrant:
    check_seats([*["@random"] * player, spec], before.game.name)
    (found,) = entrants([spec], before.game.name, before.header.limits, people=True, progress=building)
    return found


def _seated(player: int, before: Replay) -> Entrant:
    """Who played there. UsageError if that program is not there any more."""
    header = before.header
    name, command = header.setup.names[player], header.commands[player] if header.commands else ()
    if player in header.people:
        raise UsageError(f"seat {player} was a person's; --seat {player}=human for you to play on, or {player}=BOT")
    built_in = built_in_of(command)
    if built_in is not None:
        return msgspec.structs.replace(built_in, name=name)
    folder = header.folders[player] if header.folders else ""
    who, otherwise = f"seat {player} ({printable(name)})", f"--seat {player}=BOT names another"
    return recorded(who, otherwise, name, command, folder)


def _limits(limits: Limits) -> Limits:
    """Those of the record. NotIsolated if they require what this machine does not have."""
    if lines := plan.unmet(limits.isolation):
        raise NotIsolated("\n".join(["the match was played with layers that are not here", *lines]))
    return limits
