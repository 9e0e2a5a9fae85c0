"""A game between one bot and ourselves: the engine's own answers stand at every other seat.

No other program is needed, and every position that the engine can reach can be shown to the bot.
"""

import time
from collections.abc import Callable, Iterable
from types import NoneType
from typing import Any

import trio
from msgspec import Struct

from games.api import Call, Event, Fault, FaultKind, Game, Notice, Player, Setup, State, TimeControl
from games.dice import Dice, derive_seed
from harness.bot import ORDERLY_END_S, exit_words
from harness.chaos import ChaoticBot
from harness.clock import Clock, milliseconds
from harness.limits import Limits, reading
from harness.referee import shown_limits
from harness.sandbox.supervisor import descendants
from protocol import messages
from protocol.connection import answer_decoder
from protocol.errors import RemoteProtocolError
from protocol.messages import PROTOCOL_VERSION, Encoding, Initialize

ENOUGH = "the check has seen enough"
WALK_S = 10.0
"""A bot that thinks for long is asked less often."""
LINGER_S = 0.1
NAMES = ("checked", "rival", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


class Ending(Struct, frozen=True):
    """How a bot ended after it was told to."""

    code: int | None
    """As a shell's, negative for a signal; None = it had to be killed."""
    left: int
    """Processes that it left behind."""
    spoke: Fault | None
    """What it wrote that nobody asked for."""

    @property
    def defect(self) -> str | None:
        """What is wrong with that."""
        if self.spoke is not None:
            return f"after its last answer: {self.spoke.detail}"
        if self.code is None:
            return f"did not end by itself within {ORDERLY_END_S:g} s"
        if self.code != 0:
            return f"ended with {exit_words(self.code)}; wanted is exit code 0"
        if self.left:
            return f"left {self.left} process{'' if self.left == 1 else 'es'} behind"
        return None


class Probe(ChaoticBot):
    """A bot under check: it is ended in the way that is tried, and looked at while it ends."""

    says_exit = True
    ending: Ending | None = None

    async def end(self) -> None:
        """As `Bot.end`, with `exit` or without."""
        patience_s = await self.say_exit() if self.says_exit and self.fault is None else ORDERLY_END_S
        self.process.close_stdin()
        if self.fault is None:
            code = await self.process.exited(patience_s)
            left = 0 if code is None else await self._left_behind()
            self.ending = Ending(code, left, self.spoke_unasked())
            self.stderr.catch_up(self.process.stderr)
        await self.process.end()
        self.meter.close(self.process.cpu_s)

    def spoke_unasked(self) -> Fault | None:
        """The fault of having written something since the last answer."""
        try:
            self._hear_unasked()
        except RemoteProtocolError as error:
            return self._finish(Fault(FaultKind.PROTOCOL, str(error)))
        return None

    async def _left_behind(self) -> int:
        """How many processes have outlived the bot; those that were ending with it have a moment for it."""
        if not descendants(self.process.supervisor):
            return 0
        await trio.sleep(LINGER_S)
        return sum(_lives(pid) for pid in descendants(self.process.supervisor))


def _lives(pid: int) -> bool:
    found = reading(pid)
    return found is not None and found.lives


class Plan(Struct, frozen=True):
    """One game that a bot is walked through."""

    game: Game
    seat: Player
    seed: int
    options: Any
    """`game.options`."""
    time: TimeControl
    encodings: tuple[Encoding, ...]
    calls: int
    """After so many of them the engine is told to stop; closing calls still follow."""
    shadow: bool = False
    """The game goes on with the engine's own answer in the place of the bot's, so that it gets where we want it."""
    breaks_off: bool = False
    """The engine is not told to stop; the bot is left in the middle of the game."""
    luck: int = 0
    """Where it is not 0: another seed for the bot's own luck, in the same game."""

    @property
    def setup(self) -> Setup:
        seats = self.game.seats.start if self.seat < self.game.seats.start else self.seat + 1
        return Setup(self.seed, NAMES[:seats], self.options)


class Asked(Struct, frozen=True):
    """One call, answered or not."""

    method: str
    answer: Any
    wall_s: float


class Walk(Struct):
    """What became of such a game."""

    asked: list[Asked]
    fault: Fault | None = None
    """The first; the walk ends with it."""
    startup_s: float = 0.0

    @property
    def method(self) -> str:
        """What was asked last."""
        return self.asked[-1].method if self.asked else "initialize"


async def greet(bot: Probe, plan: Plan, limits: Limits) -> Fault | None:
    """Opens the game with a bot, new or used again."""
    setup, shown = plan.setup, shown_limits(limits, plan.time)
    seed = derive_seed(plan.luck or plan.seed, "seat", plan.seat)
    name, options, encodings = plan.game.name, setup.options, plan.encodings
    message = Initialize(PROTOCOL_VERSION, name, options, plan.seat, setup.names, encodings, shown, seed)
    return await bot.greet(message, lambda: None)


async def walk(bot: Probe, plan: Plan, limits: Limits) -> Walk:
    """Plays the game with the bot at its seat until it ends or the bot is at fault."""
    started = time.perf_counter()
    done = Walk([], await greet(bot, plan, limits))
    done.startup_s = time.perf_counter() - started
    if done.fault is None:
        await _Walker(bot, plan, done).play()
    bot.measure()
    bot.stderr.catch_up(bot.process.stderr)
    return done


class _Walker:
    def __init__(self, bot: Probe, plan: Plan, done: Walk) -> None:
        self.bot, self.plan, self.done = bot, plan, done
        self.clock = Clock(plan.time)
        self.state = plan.game.new(plan.setup)
        self.dice = Dice(derive_seed(plan.seed, "rivals"))
        self.decoders = {
            method.name: answer_decoder(method.answer_type)
            for method in plan.game.methods.values()
            if method.result is not None
        }

    async def play(self) -> None:
        state, done, seat = self.state, self.done, self.plan.seat
        until = time.perf_counter() + WALK_S
        self._tell(state.opening())
        while state.awaited and done.fault is None:
            if state.result is None and (len(done.asked) >= self.plan.calls or time.perf_counter() > until):
                if self.plan.breaks_off:
                    return
                self._tell(state.stop(ENOUGH))
                continue
            answers: dict[Player, Any] = {}
            for call in state.calls():
                if call.player == seat:
                    answers[seat] = await self._ask(call)
                if call.player != seat or self.plan.shadow:
                    answers[call.player] = our_answer(state, call, self.dice)
            if done.fault is None:
                self._tell(state.apply(answers))
        done.fault = done.fault or self.bot.spoke_unasked()

    async def _ask(self, call: Call) -> Any:
        """The bot's answer; the walk's fault is set if it is none that counts."""
        method, clock, in_opening = call.method, self.clock, self.state.in_opening
        call_s = clock.per_call_s(in_opening) if method.time_s is None else method.time_s
        shown = messages.Clock(milliseconds(call_s), milliseconds(clock.remaining_s), milliseconds(clock.last_s))
        limit_s = clock.limit_s(method.time_s, in_opening)
        answer = await self.bot.ask(method.name, call.params, shown, self.decoders[method.name], limit_s)
        clock.charge(self.bot.charge.wall_s, method.time_s, in_opening)
        self.done.asked.append(Asked(method.name, answer, self.bot.charge.wall_s))
        fault = answer if isinstance(answer, Fault) else self.state.check(call.player, answer)
        if fault is not None:
            self.done.fault = fault
        return answer

    def _tell(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, Notice) and self.plan.seat in event.to:
                self.bot.tell(self.bot.wire.notify(event.method, self.bot.wire.encode(event.params)))


def our_answer(state: State, call: Call, dice: Dice) -> Any:
    """A legal answer in the place of a bot's."""
    return None if call.method.result is NoneType else state.sample(call.player, dice)


def reach(plan: Plan, encode: Callable[[Any], bytes]) -> list[tuple[str, int]]:
    """What the same game asks of the seat when we answer there too: every call's method and the size of its params."""
    state, dice = plan.game.new(plan.setup), Dice(derive_seed(plan.seed, "rivals"))
    found: list[tuple[str, int]] = []
    while state.awaited:
        if len(found) >= plan.calls and state.result is None:
            state.stop(ENOUGH)
            continue
        calls = state.calls()
        found += [(call.method.name, len(encode(call.params))) for call in calls if call.player == plan.seat]
        state.apply({call.player: our_answer(state, call, dice) for call in calls})
    return found
