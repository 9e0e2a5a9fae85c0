"""`referee fork REPLAY --turn N`: continues a match from one of its positions, perhaps with other bots."""

import shlex
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import msgspec

from referee.harness.cli.exit_codes import AT_FAULT, PLAYED
from referee.harness.cli.options import GameFolder, Json, Strict, Verbose, name_folder
from referee.harness.cli.person import Hands
from referee.harness.cli.recorded_bots import RecordedOptions, agree, is_foreign, recorded_entrant
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import Screen, building, out, print_json
from referee.harness.cli.signals import run
from referee.harness.common.errors import UsageError
from referee.harness.common.output import REPLAY
from referee.harness.isolation.plan import Isolation
from referee.harness.match.rerun.fork import fork_match, path_of
from referee.harness.match.series import Outcome, People, Series, play_series
from referee.harness.process.limits import Limits
from referee.harness.programs.built_in import check_seats
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.kinds import kind_of, split_name
from referee.harness.programs.spec import entrants, refuse_people
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference
from referee.harness.replay.writer import claim_file
from referee.harness.seats.kinds import PERSON


def fork(
    file: Path,
    *,
    turn: int,
    seat: Sequence[str] = (),
    replay: Path | None = None,
    game: GameFolder = None,
    options: RecordedOptions = RecordedOptions(),
    json: Json = False,
    strict: Strict = False,
    verbose: Verbose = False,
) -> int:
    """Continues a match from one of its positions.

    Rules, times and limits stay the same.

    Every bot first receives the calls and notices of its seat up to there. Its answers count from then on.

    Args:
        file: The replay.
        turn: The last turn to keep; 0 is the opening.
        seat: S=BOT: put this bot, named as for a match, or `human` (you) at seat S, from 0; repeatable. At the other
            seats play the programs of the replay, if you agree to start them.
        replay: The new replay. Default: a new file in ./replays.
    """
    name_folder(game)
    before = Replay(file)
    if replay is not None:
        REPLAY.check_place(replay, file)
    seats = range(len(before.header.setup.names))
    specs = _seats(seat, seats)
    limits = msgspec.structs.replace(options.limits(before), isolation=options.isolated())
    replaced = {player: _new_entrant(spec, player, before, limits.isolation) for player, spec in specs.items()}
    seated = {player: _old_entrant(player, before) for player in seats if player not in replaced}
    try:
        match = fork_match(before, turn, seated, replaced)
    except Difference as difference:
        raise UsageError(f"{file}: {printable(str(difference))}") from difference
    played = before.game.name
    named = (
        f"{player}={specs.get(player, 'BOT')}"
        for player in seats
        if player in specs or is_foreign(seated[player], played)
    )
    words = (word for bot in named for word in ("--seat", bot))
    instead = shlex.join(["referee", "fork", str(file), "--turn", str(turn), *words])
    agree(file, played, seated, options, instead)
    with nullcontext(replay) if replay is not None else claim_file(path_of(before, turn)) as path:
        series = Series(msgspec.structs.replace(match, replay=path, fault_reports=True))
        screen = Screen(series, json, verbose)
        if not json:
            where = "the opening" if turn == 0 else f"turn {turn}"
            out.print(f"continues from {where} of {file}", style="dim")
        outcome = run(_play, series, limits, screen)
    if json:
        print_json(outcome)
    return AT_FAULT if strict and outcome.matches[0].faults else PLAYED


async def _play(series: Series, limits: Limits, screen: Screen) -> Outcome:
    async with screen.drawn():
        return await play_series(series, limits, screen.turned, screen.played, People(Hands(series.match)))


def _seats(options: Sequence[str], seats: range) -> dict[int, str]:
    bots: dict[int, str] = {}
    for text in options:
        number, equals, spec = text.partition("=")
        if not equals or not spec or not number.isascii() or not number.isdigit() or int(number) not in seats:
            raise UsageError(f"--seat {text}: expected S=BOT, with a seat from 0 to {seats[-1]}")
        if int(number) in bots:
            raise UsageError(f"--seat {text}: seat {int(number)} was given already; name each seat once")
        bots[int(number)] = spec
    return bots


def _new_entrant(spec: str, player: int, before: Replay, isolation: Isolation) -> Entrant:
    name = split_name(spec)[1]
    if (kind := kind_of(name)).absent and kind is not PERSON:
        refuse_people(name)
    check_seats([*["@random"] * player, spec], before.game.name)
    limits = Limits(isolation=isolation)
    (entrant,) = entrants([spec], before.game.name, limits, people=True, progress=building)
    return entrant


def _old_entrant(player: int, before: Replay) -> Entrant:
    """Returns the program that played there. UsageError if it is gone."""
    header = before.header
    command, folder = dict(enumerate(header.commands)).get(player, ()), dict(enumerate(header.folders)).get(player, "")
    person = f" or --seat {player}=human (you)" if player in header.people else ""
    return recorded_entrant(before, player, command, folder, f"--seat {player}=BOT{person}")
