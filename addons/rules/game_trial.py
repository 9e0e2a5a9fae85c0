"""The rules of a game under check, when they are a program: whether they are a pure function, and play by themselves.

The functions of `GAME_FUNCTIONS` try one rule each. They see the program as a match does, and know no game.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from statistics import median
from typing import Any

import msgspec
import psutil
from msgspec import Struct

from referee.addons.rules.board_file import drawn
from referee.addons.rules.game_rules import RULES
from referee.addons.rules.games import is_program, program
from referee.addons.rules.leaks import MOST_LISTED, leak
from referee.addons.rules.messages import MEMORY_BYTES, Turn
from referee.addons.rules.program import Position, RefusedOptions
from referee.addons.rules.state import ProgramState
from referee.games.contract import Fault, FaultKind, Player, Setup
from referee.games.dice import Dice, derive_seed
from referee.games.game import Game
from referee.harness.check.findings import (
    NOT_TRIED,
    UNDECIDED_NOTE,
    CheckReport,
    Finding,
    Level,
    RuleResult,
    Status,
)
from referee.harness.common.errors import RunError
from referee.harness.isolation.process_tree import descendants
from referee.harness.process.core_wait import busiest_thread, own_thread
from referee.harness.replay.lines import plain

GAMES = 5
LONGEST = 10_000
"""Most turns of a match between random players."""
KEPT = 200
"""Most requests that are made again."""
ANSWERS = 50
"""Most legal answers of a position that are tried, and most others."""
POSITIONS = 40
PLAYED_ON = 10
"""Matches that are played to their end after a seat was lost."""
MEMORY_GAMES, MEMORY_S = 1000, 6.0
"""The games after which memory is compared, and the most time that they get."""
GROWTH_BYTES = 8 << 20
"""Growth from one quarter of the matches to the next that is none."""
LEAK_BYTES, LEAK_S = MEMORY_BYTES * 3 // 4, 30.0
"""Growth that no heap explains, whose runtime sizes it by the limit of memory; and the time to see whether it ends."""
PATIENCE = 4
"""How much longer that takes at most, as a multiple, where no core is free."""
LATER_S = 2.2
"""After this time the same requests are made again: a clock has gone on."""
SLOW_S = 0.5
JUNK: tuple[Any, ...] = ("", "x", -1, 0, 10**9, None, True, [], {}, [[]], {"a": 1}, 0.5)
"""Answers that few rules accept. Those that have another type than the game's never reach the rules."""


rules = RULES
"""The rules that a check of a game tries, by name."""


class Failed(Exception):
    """The rules do not keep a rule; the message says where."""


class Skipped(Exception):
    """A rule does not apply; the message says why."""


class Doubted(Exception):
    """A rule may be broken, and nobody can tell; the message says why."""


class Busy(Exception):
    """The machine was too busy to try a rule."""


class Asked(Struct, frozen=True):
    """A request with its answer, to be made again."""

    method: str
    position: Position | None
    params: dict[str, Any]
    answer: bytes
    """In canonical form, without `at`."""


def canonical(turn: Turn) -> bytes:
    """Returns what a turn says, in canonical form, without the number of its position."""
    plain = msgspec.json.encode(msgspec.structs.replace(turn, at=None, canonical=False))
    return msgspec.json.encode(msgspec.json.decode(plain), order="deterministic")


class GameTrial:
    """The state that all rules of one check share."""

    def __init__(self, game: Game, seed: int, options: Any) -> None:
        self.game, self.seed, self.options = game, seed, options
        self.program = program(game)
        self.asked: list[Asked] = []
        self.first_asked_at = 0.0
        self.times: list[float] = []
        self.seats = game.seats.start

    def state(self, number: int = 0, seats: int | None = None) -> ProgramState:
        """Returns the first position of the match with this number."""
        seed = derive_seed(self.seed, "game", number)
        state = self.game.new(Setup(seed, tuple(map(str, range(seats or self.seats))), self.options))
        assert isinstance(state, ProgramState)
        return state

    def play(self, state: ProgramState, dice: Dice, keep: bool = False) -> Iterator[ProgramState]:
        """Yields every position of a match between random players. Failed if it does not end."""
        for _ in range(LONGEST):
            yield state
            if not state.awaited:
                return
            answers = {player: state.sample(player, dice) for player in state.awaited}
            place, luck = state.position, state.next_luck
            started = time.perf_counter()
            judged = state.judged(answers)
            self.times.append(time.perf_counter() - started)
            if keep and len(self.asked) < KEPT:
                self._keep(place, judged, luck, state.turn_ahead)
            if at_fault := [player for player, each in judged.items() if isinstance(each, Fault)]:
                player = at_fault[0]
                raise Failed(f"seat {player}: {_json(answers[player])} is legal, and is ruled: {judged[player].detail}")
            state.step(judged)
        raise Failed(f"a match between random players has not ended after {LONGEST:,} turns")

    def _keep(self, place: Position, judged: Mapping[Player, Any], luck: str, turn: Turn | None) -> None:
        if turn is None:
            return
        given = {str(player): each for player, each in judged.items() if not isinstance(each, Fault)}
        params = {"answers": msgspec.to_builtins(given), "faults": {}, "luck": luck}
        self.first_asked_at = self.first_asked_at or time.monotonic()
        self.asked.append(Asked("step", place, params, canonical(turn)))

    def again(self, asked: Asked, whole: bool = True) -> None:
        """Makes a request again. Failed if the answer is another."""
        if asked.position is None:
            turn = self.program.start(asked.params["options"], asked.params["seats"], asked.params["luck"])
        else:
            place = msgspec.structs.replace(asked.position, at=None) if whole else asked.position
            turn = self.program.turn(asked.method, place, **asked.params)
        if (answer := canonical(turn)) != asked.answer:
            raise Failed(f"the same {asked.method} has another answer: {_difference(asked.answer, answer)}")

    def players(self, number: int) -> Dice:
        """Returns the luck of the random players of a match."""
        return Dice(derive_seed(self.seed, "players", number))

    def matches(self) -> Iterator[ProgramState]:
        """Yields every position of a few matches, which then goes on."""
        for number in range(GAMES):
            yield from self.play(self.state(number), self.players(number))

    def positions(self) -> Iterator[ProgramState]:
        """Yields some positions, each a copy, of a few matches."""
        for number in range(GAMES):
            for state in islice(self.play(self.state(number), self.players(number)), 0, POSITIONS * 3, 3):
                if state.awaited and state.result is None:
                    yield state.copy()


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()[:200]


def _difference(before: bytes, after: bytes) -> str:
    """Returns the first member of two turns that differs, with both values."""
    one, other = msgspec.json.decode(before), msgspec.json.decode(after)
    name = next(name for name in one if one[name] != other.get(name))
    return f"{name} was {_json(one[name])}, and is {_json(other.get(name))}"


def starts(trial: GameTrial) -> str:
    """The program starts, and there is a first position for every number of seats."""
    began = time.perf_counter()
    for seats in trial.game.seats:
        trial.state(0, seats)
    asked = ", ".join(trial.program.requests) or "none"
    return f"in {time.perf_counter() - began:.2f} s; optional requests: {asked}"


def start_repeats(trial: GameTrial) -> str:
    """Makes the same start twice, and in a new process."""
    options = msgspec.to_builtins(trial.options)
    kept = []
    for number in range(20):
        luck = f"{Dice(derive_seed(trial.seed, 'luck', number)).bits():016x}"
        given = {"options": options, "seats": trial.seats, "luck": luck}
        kept.append(Asked("start", None, given, canonical(trial.program.start(**given))))
    for asked in kept:
        trial.again(asked)
    trial.program.close()
    for asked in reversed(kept):
        trial.again(asked)
    trial.asked += kept
    return f"{len({asked.answer for asked in kept})} different starts of {len(kept)}"


def ends(trial: GameTrial) -> str:
    """Plays whole matches between random players; what is sent fits its schema, or the program has failed."""
    turns = []
    for number in range(GAMES):
        for seats in {trial.seats, trial.game.seats.stop - 1}:
            dice = trial.players(number)
            turns.append(sum(1 for _ in trial.play(trial.state(number, seats), dice, keep=seats == trial.seats)) - 1)
    return f"{len(turns)} matches of {min(turns)} to {max(turns)} turns"


def steps_repeat(trial: GameTrial) -> str:
    """Makes the same steps again: in another order, by number, in a new process, and later."""
    if not trial.asked:
        list(trial.play(trial.state(), Dice(trial.seed), keep=True))
    order = list(trial.asked)
    Dice(trial.seed).shuffle(order)
    for asked in order:
        trial.again(asked)
        if asked.position is not None and asked.position.at is not None:
            trial.again(asked, whole=False)
    trial.program.close()
    for asked in reversed(order):
        trial.again(asked)
    time.sleep(max(0.0, trial.first_asked_at + LATER_S - time.monotonic()))
    for asked in order:
        trial.again(asked)
    return f"{len(order)} requests, each in two processes and {LATER_S:g} s later"


def legal_accepted(trial: GameTrial) -> str:
    """Tries every legal answer."""
    if "legal" not in trial.program.requests:
        raise Skipped("the program does not answer legal")
    tried = 0
    for state in trial.positions():
        for player in state.awaited:
            for answer in islice(state.legal(player), ANSWERS):
                tried += 1
                if (fault := state.check(player, answer)) is not None:
                    raise Failed(f"seat {player}: {_json(answer)} is in the list, and is refused: {fault.detail}")
    return f"{tried} answers"


def others_refused(trial: GameTrial) -> str:
    """Tries answers that are not in the list: those of other positions, and junk."""
    if "legal" not in trial.program.requests:
        raise Skipped("the program does not answer legal")
    tried, seen = 0, dict.fromkeys(map(_json, JUNK))
    for state in trial.positions():
        for player in state.awaited:
            listed = [*islice(state.legal(player), MOST_LISTED + 1)]
            if len(listed) > MOST_LISTED:
                continue
            legal = set(map(_json, listed))
            others = [text for text in seen if text not in legal]
            for text in others[:ANSWERS]:
                tried += 1
                if state.check(player, msgspec.json.decode(text)) is None:
                    raise Failed(f"seat {player}: {text} is not in the list of legal answers, and is accepted")
            seen |= dict.fromkeys(legal)
    return f"{tried} answers"


def faults_ruled(trial: GameTrial) -> str:
    """Gives every kind of fault to every seat, in and out of turn, and stops matches."""
    tried = played_on = 0
    for state in islice(trial.positions(), 0, None, 4):
        for kind in FaultKind:
            fault = Fault(kind, f"a {kind} of the check", "junk" if kind is FaultKind.ILLEGAL else None)
            for player in state.awaited:
                answers = {each: fault if each == player else state.sample(each, Dice(1)) for each in state.awaited}
                state.copy().apply(answers)
                tried += 1
        for player in range(trial.seats):
            twin = state.copy()
            twin.forfeit({player: Fault(FaultKind.CRASH, "a crash of the check")})
            played_on += 1
            most = LONGEST if played_on <= PLAYED_ON else 1
            for last in islice(trial.play(twin, Dice(derive_seed(trial.seed, "forfeit", player))), most):
                _check_ranks(last)
        state.copy().forfeit({player: Fault(FaultKind.CRASH, "a crash of the check") for player in range(trial.seats)})
        state.copy().stop("stopped by the check")
    return f"{tried} faults"


def _check_ranks(state: ProgramState) -> None:
    """Raises Failed if a seat that is out does not rank behind all others."""
    if state.result is None or len(state.out) == len(state.result.ranks):
        return
    ranks = state.result.ranks
    worst = max(rank for seat, rank in enumerate(ranks) if seat not in state.out)
    for seat in sorted(state.out):
        if ranks[seat] <= worst:
            raise Failed(
                f"seat {seat} is out, and has rank {ranks[seat]} in {list(ranks)}: a seat that is out ranks behind all "
                "others, also behind those that lost before it"
            )


def views_fit(trial: GameTrial) -> str:
    """Looks at every position as every seat and as everybody, and makes it again from the view."""
    seen = 0
    for state in trial.positions():
        for player in range(trial.seats):
            state.view(player)
            state.shown_to(player)
        if trial.game.position(state.setup, plain(state.view(None))).key() != state.key():
            raise Failed("the position that is made from the view of everything is another")
        seen += 1
    return f"{seen} positions"


def views_hide(trial: GameTrial) -> str:
    """Draws again what is hidden from each awaited seat, which may not see a difference."""
    if "view" not in trial.program.requests:
        if "deal" in trial.program.requests:
            raise Failed(
                "every seat sees the whole position: the program answers deal, which draws what is hidden, "
                "and not view, which hides it"
            )
        raise Skipped("every seat sees the whole position: the program does not answer view")
    if "deal" not in trial.program.requests:
        raise Skipped("not covered: the program does not answer deal, which draws again what is hidden")
    seen = {"one seat": 0, "several seats at once": 0}
    changed = dict.fromkeys(seen, 0)
    for state in trial.positions():
        asked = "one seat" if len(state.awaited) == 1 else "several seats at once"
        for player in state.awaited:
            for number in range(3):
                twin = state.dealt_for(player, derive_seed(trial.seed, "deal", number))
                if (problem := leak(state, twin, player)) is not None:
                    raise Failed(problem)
                seen[asked] += 1
                changed[asked] += twin.position.canonical != state.position.canonical
    without = [f"positions that ask {asked}" for asked, times in changed.items() if seen[asked] and not times]
    uncovered = f"not covered: {' and '.join(without)}, in which deal has drawn nothing else"
    if not any(changed.values()):
        raise Skipped(uncovered if without else "not covered: no seat is asked anything")
    return f"{sum(seen.values())} views" + (f"; {uncovered}" if without else "")


def memory_flat(trial: GameTrial) -> str:
    """Plays many matches in one process, whose memory must not grow.

    The last two quarters are compared: a virtual machine grows until it has compiled what runs often. A heap with a
    garbage collector rises and falls, so medians count, and it fills once. So where memory grew, twice as many matches
    are played, until it is flat or a leak. A heap that has not been filled by then raises doubts, and no more.
    """
    sizes: list[int] = []
    matches, clock = MEMORY_GAMES, CoreClock(trial.program.pid)
    while True:
        limit_s = LEAK_S if sizes else MEMORY_S
        while len(sizes) < matches and (clock.spent_s() < limit_s or len(sizes) < 4):
            for _ in trial.play(trial.state(len(sizes)), Dice(len(sizes))):
                pass
            sizes.append(_memory(trial))
        grown = growth(sizes)
        if grown <= GROWTH_BYTES:
            return f"{len(sizes)} matches, {sizes[-1] >> 20} MiB"
        text = f"the program's memory grew by {grown >> 20} MiB from one quarter of {len(sizes)} matches to the next"
        if sizes[-1] - sizes[0] > LEAK_BYTES:
            raise Failed(text)
        if clock.spent_s() >= LEAK_S:
            raise Busy if clock.is_busy() else Doubted(f"{text}: a leak, or a heap that is not full yet")
        matches = 2 * len(sizes)


def growth(sizes: Sequence[int]) -> int:
    """Returns by how much the median of the last quarter is above that of the quarter before."""
    quarter = len(sizes) // 4
    return round(median(sizes[-quarter:]) - median(sizes[-2 * quarter : -quarter]))


class CoreClock:
    """The time in which a program and we could run."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._began, self._waited = time.monotonic(), self._waited_s()

    def spent_s(self) -> float:
        """Returns the time that has passed, without that in which no core was free: at most three quarters of it."""
        passed_s = time.monotonic() - self._began
        return max(passed_s - (self._waited_s() - self._waited), passed_s / PATIENCE)

    def is_busy(self) -> bool:
        """Returns whether no core was free for more than half of the time."""
        return 2 * (self._waited_s() - self._waited) > time.monotonic() - self._began

    def _waited_s(self) -> float:
        return (own_thread().waited_ns + busiest_thread(self._pid).waited_ns) / 1e9


def _memory(trial: GameTrial) -> int:
    """Returns the memory of the program, with that of the processes that it has started."""
    pid, total = trial.program.pid, 0
    for each in (pid, *descendants(pid)):
        with suppress(psutil.Error):
            total += psutil.Process(each).memory_info().rss
    return total


def step_times(trial: GameTrial) -> str:
    """Says how long a step takes."""
    if not trial.times:
        list(trial.play(trial.state(), Dice(trial.seed)))
    times = sorted(trial.times)
    median, longest = times[len(times) // 2], times[-1]
    note = f"median {median * 1000:.2f} ms, longest {longest * 1000:.1f} ms"
    if median > SLOW_S:
        raise Failed(f"a step takes long: {note}; all bots wait meanwhile")
    return note


GAME_FUNCTIONS: Mapping[str, Callable[[GameTrial], str]] = {
    "starts": starts,
    "start-repeats": start_repeats,
    "ends": ends,
    "steps-repeat": steps_repeat,
    "legal-accepted": legal_accepted,
    "others-refused": others_refused,
    "faults-ruled": faults_ruled,
    "views-fit": views_fit,
    "views-hide": views_hide,
    "board": lambda trial: drawn(trial.game, trial.matches()),
    "memory-flat": memory_flat,
    "step-times": step_times,
}


def takes(game: Game) -> bool:
    """Returns whether the rules of a game are a program."""
    return is_program(game)


def check(
    game: Game, spec: str, seed: int, options: Any, only: frozenset[str], progress: Callable[[RuleResult], None]
) -> CheckReport:
    """Tries the rules of `rules`, one after the other; `progress` receives each result.

    `spec`: how the user names the game. RunError if the machine cannot start anything.
    """
    trial, results, broken = GameTrial(game, seed, options), [], False
    for rule in rules:
        if only and rule not in only and rule != "game-starts":
            continue
        result = RuleResult(rule, Status.SKIPPED, 0.0, NOT_TRIED) if broken else _tried(trial, rule, spec)
        broken |= rule == "game-starts" and result.status is Status.FAILED
        results.append(result)
        progress(result)
    passed = all(result.status not in (Status.FAILED, Status.UNDECIDED) for result in results)
    return CheckReport(game.name, seed, f"the rules of {game.name}", None, passed, tuple(results), None)


def not_started(game: Game, spec: str, seed: int, error: RunError) -> CheckReport:
    """Returns the report of rules that cannot be started: nothing else can be tried."""
    failed = _failed("game-starts", spec, seed, str(error), 0.0)
    others = [RuleResult(rule, Status.SKIPPED, 0.0, NOT_TRIED) for rule in rules if rule != failed.rule]
    return CheckReport(game.name, seed, f"the rules of {game.name}", None, False, (failed, *others), None)


def _tried(trial: GameTrial, rule: str, spec: str) -> RuleResult:
    started = time.perf_counter()
    try:
        note = GAME_FUNCTIONS[rule.removeprefix("game-")](trial)
    except Skipped as skipped:
        return RuleResult(rule, Status.SKIPPED, time.perf_counter() - started, str(skipped))
    except Busy:
        return RuleResult(rule, Status.UNDECIDED, time.perf_counter() - started, UNDECIDED_NOTE)
    except Doubted as doubt:
        finding = _finding(rule, spec, trial.seed, Level.WARNING, str(doubt))
        return RuleResult(rule, Status.PASSED, time.perf_counter() - started, "", (finding,))
    except (Failed, RunError, RefusedOptions, ValueError) as error:
        return _failed(rule, spec, trial.seed, str(error), time.perf_counter() - started)
    return RuleResult(rule, Status.PASSED, time.perf_counter() - started, note)


def _failed(rule: str, spec: str, seed: int, text: str, duration_s: float) -> RuleResult:
    return RuleResult(rule, Status.FAILED, duration_s, "", (_finding(rule, spec, seed, Level.ERROR, text),))


def _finding(rule: str, spec: str, seed: int, level: Level, text: str) -> Finding:
    command = ("referee", "check", "--game", spec, "--seed", str(seed), "--only", rule)
    return Finding(rule, level, text, section=rules[rule].section, command=command)
