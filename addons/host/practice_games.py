"""Practice games: unranked, with the rival, seed and options that a team has asked for.

They have their own folder, `practice`: of game N a replay, and then the ledger line that says it was played.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from referee.addons.host import times
from referee.addons.host.orders import PRACTICE, Orders, Request, State, replay_name
from referee.addons.tournament.execution.worker_messages import Assignment, PlayedGame
from referee.addons.tournament.plan import IDENT_DIGITS, Entry, Plan
from referee.addons.tournament.store.bot_archives import finding
from referee.addons.tournament.store.ledger import Line
from referee.addons.web.replay_list import reason_of
from referee.games.contract import Result
from referee.games.dice import derive_seed
from referee.games.game import Game
from referee.harness.common import maps
from referee.harness.common.errors import UsageError
from referee.harness.common.known_games import find_game
from referee.harness.common.paths import make_folder, replace_file
from referee.harness.match import rule_options
from referee.harness.programs.built_in import check_seats

KEY = "practice"
"""The conditions in the keys of practice games: they are those of no tournament."""
SHARE = 5
"""Practice games get one fifth of the machine's time while rated games are played."""
MOST_OWED_S = 5.0
"""Machine time that practice games may save up while none waits."""
LEAST_OWED_S = -60.0
MOST_READY = 2
"""Requests that are made ready before a worker is free for them."""
WIDEST = 4
"""How many times the contest's value a number in a team's options may be: larger games would block a core."""
SMALL = 16
"""A number up to this is always allowed."""

_decode = msgspec.json.Decoder(Line).decode


class PracticeGame(Struct, frozen=True):
    """A request that can be played."""

    request: Request
    bots: tuple[Entry, ...]
    """By seat."""
    assignment: Assignment


class PracticeGames:
    """The practice games that wait for a worker or are played, and the share of the machine that they get."""

    def __init__(self, folder: Path, game: str) -> None:
        self._game = game
        self.folder = folder / PRACTICE
        self._waiting: deque[PracticeGame] = deque()
        self._open: dict[str, PracticeGame] = {}
        """By key, those that wait or are played."""
        self._given: set[str] = set()
        """Keys of those that were taken to be played."""
        self._reports: deque[Callable[[Orders], None]] = deque()
        self._known: dict[str, Entry] = {}
        """By ident, the bots of practice games so far."""
        self._owed_s = MOST_OWED_S
        """The machine time that practice games may use now."""
        self._mean_s = 1.0
        """Running mean of a game's length."""

    # Which game is played next.

    @property
    def wants_more(self) -> bool:
        """Whether another request may be made ready."""
        return len(self._waiting) < MOST_READY

    def next_if_due(self, given: int) -> Assignment | None:
        """Returns a game if it is the practice games' turn. `given`: the games that workers have."""
        if self._owed_s <= 0 or len(self._given) >= max(1, given // SHARE):
            return None
        return self.next()

    def next(self) -> Assignment | None:
        """Returns the game that has waited longest."""
        if not self._waiting:
            return None
        game = self._waiting.popleft()
        self._given.add(game.assignment.key)
        self._owe(-self._mean_s)
        return game.assignment

    def take_back(self, given: set[str]) -> None:
        """Lets games that were taken and have reached no worker wait again. `given`: the keys that workers have."""
        back = [key for key in self._open if key in self._given - given]
        self._waiting.extendleft(self._open[key] for key in reversed(back))
        self._given.difference_update(back)
        self._owe(len(back) * self._mean_s)

    def rated_s(self, seconds: float) -> None:
        """Counts the length of a rated game."""
        self._owe(seconds / (SHARE - 1))

    def _owe(self, seconds: float) -> None:
        self._owed_s = max(LEAST_OWED_S, min(MOST_OWED_S, self._owed_s + seconds))

    # Games.

    def is_practice(self, key: str) -> bool:
        """Whether a key is that of a practice game."""
        return key.startswith(f"{KEY}/")

    def is_open(self, key: str) -> bool:
        """Whether a practice game of that key has yet to be played."""
        return key in self._open

    def knows(self, game: PracticeGame) -> bool:
        """Whether workers know the bots of a game from earlier ones."""
        return all(entry.ident in self._known for entry in game.bots)

    def bots(self) -> dict[str, Entry]:
        """Returns the bots of practice games, by ident."""
        return {ident: msgspec.structs.replace(entry, absent=False) for ident, entry in self._known.items()}

    def add(self, game: PracticeGame) -> None:
        """Adds a game whose bots are ready."""
        self._known |= {entry.ident: entry for entry in game.bots}
        self._waiting.append(game)
        self._open[game.assignment.key] = game

    def end(self, played: PlayedGame) -> None:
        """Keeps a game that was played, unless it came before."""
        game = self._open.pop(played.key, None)
        self._given.discard(played.key)
        if game is None:
            return
        line = _decode(played.line)
        self._owe(self._mean_s - line.ms / 1000)
        self._mean_s = (self._mean_s + line.ms / 1000) / 2
        make_folder(self.folder)
        number, result = game.request.id, result_of(self._game, line, game.request.seat)
        if played.replay is not None:
            replace_file(self.folder / f"{number}.jsonl.gz", played.replay)
        replace_file(self._line_file(number), played.line)  # the last file: with it, the game was played
        self._reports.append(lambda orders: orders.practice_played(number, replay_name(number), result))

    def refuse(self, key: str, reason: str) -> None:
        """Gives up a game."""
        game = self._open.pop(key, None)
        self._given.discard(key)
        if game is not None:
            number = game.request.id
            self._reports.append(lambda orders: orders.practice_failed(number, reason))

    def reports(self) -> Iterator[Callable[[Orders], None]]:
        """Yields what the database has yet to hear."""
        while self._reports:
            yield self._reports[0]
            self._reports.popleft()

    def ended(self, number: int, seat: int) -> str | None:
        """Returns the result of a game that was played before this process began."""
        try:
            return result_of(self._game, _decode(self._line_file(number).read_bytes()), seat)
        except (OSError, msgspec.MsgspecError):
            return None

    def _line_file(self, number: int) -> Path:
        return self.folder / f"{number}.json"

    # Requests.

    def prepared(self, request: Request, plan: Plan, state: State) -> PracticeGame:
        """Returns the game that a request asks for. UsageError, with a reason for the team, if there is none such."""
        if not times.may_practise(state.practice, request.rival_is_staff):
            raise UsageError(f"{request.rival}: practice is limited to the organiser's bots now")
        if request.seat not in range(plan.seats):
            raise UsageError(f"seat {request.seat}: expected one of 0 to {plan.seats - 1}")
        own, rival = _identified(request.entry, plan), _rival(request.rival, plan)
        bots = tuple(own if seat == request.seat else rival for seat in range(plan.seats))
        idents = [entry.ident for entry in bots]
        row = [*permutations(sorted(idents))].index(tuple(idents))
        key = f"{KEY}/{'-'.join(sorted(idents))}/{request.id}/{row}"
        options = checked_options(plan, request.options)
        return PracticeGame(request, bots, Assignment(key, tuple(idents), _seed(request, plan), options=options))


def result_of(game: str, line: Line, seat: int) -> str:
    """Returns a game's result for the bot at a seat, in one line."""
    place, of = line.r[seat], len(line.r)
    if line.r.count(place) == of:
        result = "draw"
    elif of == 2:
        result = "won" if place == 1 else "lost"
    else:
        result = f"place {place} of {of}"
    fault = next((f"; {each.kind}: {each.detail}" for each in line.f if each.seat == seat), "")
    names = ["your bot" if each == seat else "the rival" for each in range(of)]
    why = reason_of(game, Result(line.r, line.p, line.why), names)
    return f"{result} in {line.t} turns: {why}{fault}"


def checked_options(plan: Plan, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options of a practice game. UsageError for wrong ones, and for those that make a game too large."""
    game = find_game(plan.game)
    default = _numbers(game, plan.options)
    options = dict(plan.options)
    if plan.maps_of(""):
        options["map"] = plan.maps_of("")[0]
    options |= given
    if isinstance(name := given.get("map"), str) and name in maps.names(game.name):
        options["map"] = maps.read(game.name, name)
    rule_options.options(game, options, plan.seats)
    for name, value in _numbers(game, options).items():
        most = max(SMALL, WIDEST * default.get(name, 0))
        if value > most and value != default.get(name):
            raise UsageError(f"options of {game.name}: {name} is {value:g}; in practice it may be {most:g} at most")
    return options


def _numbers(game: Game, options: Mapping[str, Any]) -> dict[str, float]:
    """Returns the options that are numbers, with their defaults."""
    found = msgspec.to_builtins(game.options()) | dict(options)
    return {name: each for name, each in found.items() if isinstance(each, int | float) and not isinstance(each, bool)}


def _seed(request: Request, plan: Plan) -> int:
    if not request.seed:
        return derive_seed(plan.seed, KEY, request.id)
    if not re.fullmatch(r"[0-9]{1,20}", request.seed):
        raise UsageError(f"seed {request.seed[:40]!r}: expected a number from 0 on")
    return rule_options.checked_seed(int(request.seed))


def _identified(entry: Entry, plan: Plan) -> Entry:
    """Returns a version as the plan has it, if it has."""
    known = (each for each in plan.bots if each.name == entry.name and each.hash == entry.hash)
    return next(known, msgspec.structs.replace(entry, ident=entry.hash[:IDENT_DIGITS]))


def _rival(name: str, plan: Plan) -> Entry:
    """Returns a bot of the contest in its newest version, or a built-in one. A team may not name any program."""
    older = plan.older
    for entry in plan.bots:
        if entry.name == name and entry.ident not in older and not entry.void:
            return entry
    if not name.startswith("@") or " " in name or "=" in name:
        raise UsageError(f"{name[:40]!r}: there is no bot of that name")
    check_seats([name], plan.game, every_seat=True)
    with finding([name], plan.game) as (found,):
        return msgspec.structs.replace(found.entry, ident=found.entry.hash[:IDENT_DIGITS])
