"""The rules of a check: each is a function that tries one of them, and returns in a few words what it has tried."""

import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

import msgspec

from referee.games.contract import FaultKind
from referee.games.dice import derive_seed
from referee.harness.check.engine_match import EngineGame, GamePlan, params_sizes, play_engine_game
from referee.harness.check.findings import Level, added
from referee.harness.check.trial import PLAIN, TRIES, Skip, Trial
from referee.harness.match.match import Match, play
from referee.harness.match.verdict import Verdict, decided_by_machine
from referee.harness.opponents import levels, opponents
from referee.harness.programs.spec import entrant
from referee.harness.seats.chaos import Manner
from referee.protocol.codec import JSON
from referee.protocol.messages import Encoding
from referee.protocol.text import counted, mebibytes, quote

FEW_CALLS = 12
SLOW_CALLS = 2
REPEATED_CALLS = 30
LONG_CALLS = 200
"""The length of the games in which the largest params are searched."""
GAMES, MAX_GAMES = 2, 4
"""Games at the first seat: one for each encoding, and more until every method was called."""
CLOSE_TO = 0.5
"""The part of a limit that causes a warning: another machine may be slower."""
MATCHES_S = 24.0
"""The time for all matches of one rule; a longer match is stopped."""
BOTH = (Encoding.MSGPACK, Encoding.JSON)


# The handshake and the calls.


async def builds(trial: Trial) -> str:
    build_s = trial.request.build_s  # a bot that cannot be built never comes here: see `not_built`
    if trial.request.missing:
        trial.report(Level.WARNING, trial.request.missing)
    return f"in {build_s:.1f} s" if build_s else ""


async def starts(trial: Trial) -> str:
    game, bot = await trial.play(trial.plan(encodings=BOTH, calls=0, breaks_off=True))
    if game.fault is None:
        handshake = bot.handshake
        trial.program, trial.reuse = bot.program_name, handshake.reuse
        if handshake.encoding is Encoding.MSGPACK:
            trial.encodings = list(BOTH)
    return f"as {trial.program}, in {trial.startup_s:.2f} s" if trial.program else f"in {trial.startup_s:.2f} s"


async def greets_json(trial: Trial) -> str:
    both = Encoding.MSGPACK in trial.encodings  # otherwise `answers_every_call` checks the answers
    plan = trial.plan(encodings=(Encoding.JSON,), calls=2 if both else 0, breaks_off=not both)
    game, bot = await trial.play(plan, level=None)
    if game.fault is None:
        return f"and answered {counted(len(game.calls), 'call')}" if both else ""
    if not game.calls and game.fault.kind is FaultKind.ERROR and both:
        trial.encodings = [Encoding.MSGPACK]
        trial.report(Level.WARNING, f"plays in msgpack only: {game.fault.detail}", plan)
    else:
        trial.report_fault(plan, game, bot)
    return ""


async def greets_msgpack(trial: Trial) -> str:
    if Encoding.MSGPACK not in trial.encodings:
        raise Skip("it chose json when both were offered")
    game, _ = await trial.play(trial.plan(encodings=(Encoding.MSGPACK,), calls=2))
    return f"and answered {counted(len(game.calls), 'call')}"


async def answers_every_call(trial: Trial) -> str:
    """Plays game after game, until the bot was called with every method that the engine's own games reach."""
    reachable = {method for number in range(MAX_GAMES) for method, _ in await params_sizes(trial.plan(number))}
    counts = Counter[str]()
    for number in range(MAX_GAMES):
        if number >= GAMES and reachable <= counts.keys():
            break
        game, _ = await trial.play(trial.plan(number))
        counts.update(call.method for call in game.calls)
        if game.fault is not None:
            break
    return ", ".join(f"{count} {method}" for method, count in counts.items())


async def every_seat(trial: Trial) -> str:
    seats = range(1, trial.game.seats.stop - 1)
    for seat in seats:
        await trial.play(trial.plan(seat=seat, number=seat))
    return f"seats 0 to {seats[-1]}" if seats else "there is only one"


async def exits(trial: Trial) -> str:
    return f"after {counted(trial.exits, 'game')}"  # `Trial.play` checks every ending


async def end_of_file(trial: Trial) -> str:
    await trial.play(trial.plan(calls=3, breaks_off=True), says_exit=False)
    return "in the middle of a game"


# Unusual frames and large states.


async def reads_frames(trial: Trial, manner: Manner, calls: int = FEW_CALLS) -> str:
    for number in range(len(trial.encodings)):
        await trial.play(trial.plan(number=number, calls=calls), manner)
    return f"in {' and '.join(trial.encodings)}"


async def largest_states(trial: Trial) -> str:
    """Plays the games with the largest params. The engine's answers are played instead of the bot's, to get there.

    A bot that keeps its own board, from events and its own answers, does not know such a position. So an illegal answer
    is only a note, and in games with events any failure is only a warning.
    """
    has_notices = any(method.result is None and not method.viewers for method in trial.game.methods.values())
    plans, sizes = await _largest_params(trial)
    for plan in plans:
        await trial.play(plan, level=Level.WARNING if has_notices else Level.ERROR)
    return ", ".join(f"{method} {size:,} bytes" for method, size in sizes.items())


async def _largest_params(trial: Trial) -> tuple[list[GamePlan], dict[str, int]]:
    """Returns the games in which the engine sees the largest params of each method, and the sizes in bytes."""
    largest: dict[str, tuple[int, GamePlan]] = {}
    for number in range(MAX_GAMES):
        for seat in range(trial.game.seats.stop - 1):
            plan = msgspec.structs.replace(trial.plan(number, seat, calls=LONG_CALLS), shadow=True)
            for method, size in await params_sizes(plan):
                if method not in largest or size > largest[method][0]:
                    largest[method] = size, plan
    plans = {(plan.seed, plan.seat): plan for _, plan in largest.values()}
    return list(plans.values()), {method: size for method, (size, _) in largest.items()}


# Repetition.


async def repeatable(trial: Trial) -> str:
    plan = trial.plan(calls=REPEATED_CALLS)
    first, _ = await trial.play(plan)
    with busy_loop():  # a bot that looks at the clock answers otherwise
        second, _ = await trial.play(plan)
    difference = _difference(first, second)
    if first.fault or second.fault or difference:
        trial.repeats = False
    if first.fault or second.fault:
        return ""
    if difference:
        trial.report(Level.WARNING, f"the same seed gave different answers: {difference}", plan)
        return ""
    plan = msgspec.structs.replace(plan, luck=derive_seed(trial.request.seed, "luck"))
    other, _ = await trial.play(plan)
    if difference := _difference(first, other):
        trial.report(Level.NOTE, f"its play depends on its seed: {difference}", plan)
    return counted(len(first.calls), "answer")


@contextmanager
def busy_loop() -> Iterator[None]:
    """Keeps one core busy."""
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


async def many_games(trial: Trial) -> str:
    if not trial.reuse:
        raise Skip('it did not say "reuse"')
    seats, first_encoding = trial.game.seats.stop - 1, (trial.encodings[0],)
    plans = [
        trial.plan(calls=REPEATED_CALLS, number=number, seat=number % seats, encodings=first_encoding)
        for number in (0, 1, 2, 0)
    ]
    for attempt in range(TRIES):
        bot = await trial.start(PLAIN, attempt=attempt)
        games: list[EngineGame] = []
        for plan in plans:
            games.append(await play_engine_game(bot, plan))
            trial.count_costs(games[-1], bot)
            if games[-1].fault is not None:
                break
        await trial.roster.end([bot])
        if trial.is_settled(games[-1].delay):
            break
    trial.report_fault(plan, games[-1], bot, prefix=f"game {len(games)} in one process: ")
    if games[-1].fault is None and trial.repeats and (difference := _difference(games[0], games[-1])):
        text = f"played the same game differently after {len(games) - 2} more in the same process: {difference}"
        trial.report(Level.ERROR, text, plan)
    return f"{len(games)} in one process"


def _difference(one: EngineGame, other: EngineGame) -> str | None:
    """Describes the first call that was answered differently in two games with the same calls."""
    for number, (first, second) in enumerate(zip(one.calls, other.calls, strict=False), 1):
        if first.method != second.method:
            return None  # one of the games was stopped because it took too long
        if first.answer != second.answer:
            answers = " and then ".join(quote(JSON.encode(call.answer)) for call in (first, second))
            return f"call {number} {first.method} was answered {answers}"
    return None


# Limits.


async def time_limit(trial: Trial) -> str:
    costs = trial.costs()
    if costs is None:
        raise Skip("it answered no call")
    if costs.limit_s is not None and costs.max_s > costs.limit_s * CLOSE_TO:
        text = f"its slowest call, {costs.max_method}, took {costs.max_s:.3f} s of {costs.limit_s:g} s"
        trial.report(Level.WARNING, text)
    if costs.startup_s > trial.limits.startup_s * CLOSE_TO:
        text = f"its start took {costs.startup_s:.2f} s of {trial.limits.startup_s:g} s"
        trial.report(Level.WARNING, text)
    return f"{counted(costs.calls, 'call')}, median {costs.median_s * 1000:.2f} ms, slowest {costs.max_s * 1000:.1f} ms"


async def memory_limit(trial: Trial) -> str:
    limit, peak = trial.limits.memory_bytes, trial.peak_bytes
    if limit is not None and peak > limit * CLOSE_TO:
        trial.report(Level.WARNING, f"used {mebibytes(peak)} of {mebibytes(limit)}")
    return f"{mebibytes(peak)}, no limit" if limit is None else f"{mebibytes(peak)} of {mebibytes(limit)}"


# Whole matches.


async def plays_builtin(trial: Trial) -> str:
    name = best_opponent(trial.game.name)
    if name is None:
        raise Skip(f"there is none for {trial.game.name}")
    return await plays(trial, f"@{name}")


CHOOSING_NOTHING = ("random", "uniform", "first")


def best_opponent(game: str) -> str | None:
    """Returns the strongest built-in opponent that takes every seat; None if none chooses its answers.

    One whose strength is a number is left out: how long it thinks depends on the game.
    """
    known = opponents(game)
    choosing = [name for name in levels(game) if known[name].number is None and name not in CHOOSING_NOTHING]
    return choosing[-1] if choosing else None


async def plays(trial: Trial, rival: str) -> str:
    """Plays a whole match at every seat, with the built-in opponent at all other seats."""
    points, seats = 0.0, trial.game.seats.start
    for seat in range(seats):
        verdict = await _match(trial, rival, seat)
        trial.report_match(verdict, seat, rival)
        points += verdict.result.scores[seat]
    return f"{rival}, {counted(seats, 'match', 'matches')}, {points:g} point{'' if points == 1 else 's'}"


async def _match(trial: Trial, rival: str, seat: int) -> Verdict:
    request, seats = trial.request, trial.game.seats.start
    time, match_s = request.time, MATCHES_S / seats
    if time.match_s is None or time.match_s > match_s:
        time = msgspec.structs.replace(time, match_s=match_s)
    bots = [entrant(rival, trial.game.name)] * seats
    bots[seat] = request.bot
    match = Match(
        game=trial.game,
        entrants=tuple(bots),
        seed=derive_seed(request.seed, trial.rule, seat),
        options=request.options,
        time=time,
        encodings=tuple(reversed(BOTH)),
    )
    for _ in range(TRIES):  # a built-in opponent that is late is so because of the machine
        verdict = await play(match, trial.roster)
        late = decided_by_machine(verdict)
        trial.games += 1
        trial.decided_by_machine += late
        if not late and not any(each.player != seat and each.kind is FaultKind.TIMEOUT for each in verdict.faults):
            break
    return verdict


RULE_FUNCTIONS: Mapping[str, Callable[[Trial], Awaitable[str]]] = {
    "builds": builds,
    "starts": starts,
    "greets-json": greets_json,
    "greets-msgpack": greets_msgpack,
    "answers-every-call": answers_every_call,
    "every-seat": every_seat,
    "exit": exits,
    "end-of-file": end_of_file,
    "unknown-members": partial(reads_frames, manner=Manner(members=True, reordered=True, padded=12)),
    "chunked-pipes": partial(reads_frames, manner=Manner(cuts=9, pause_s=0.001)),
    "slow-pipes": partial(reads_frames, manner=Manner(cuts=1, pause_s=0.1), calls=SLOW_CALLS),
    "largest-states": largest_states,
    "repeatable": repeatable,
    "many-games": many_games,
    "time-limit": time_limit,
    "memory-limit": memory_limit,
    "plays-random": partial(plays, rival="@random"),
    "plays-builtin": plays_builtin,
}
"""By name, in the order of `findings.RULES`."""


def tried(rule: str) -> Callable[[Trial], Awaitable[str]]:
    """Returns the function that tries a rule."""
    return RULE_FUNCTIONS[rule] if rule in RULE_FUNCTIONS else added()[rule].tried
