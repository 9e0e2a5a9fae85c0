"""A game of one bot against the engine, whose own answers are played at every other seat.

It needs no other program, and it can show the bot every position that the engine can reach.
"""

import time
from typing import Any

import trio
from msgspec import Struct

from referee.games.contract import Call, Fault, FaultKind, Notice, Player, Setup
from referee.games.dice import derive_seed
from referee.harness.check.request import Check
from referee.harness.common.records import Cost
from referee.harness.match.listener import Intervention
from referee.harness.match.turn import Driver
from referee.harness.match.verdict import core_wait_words
from referee.harness.process.core_wait import lacked_time
from referee.harness.process.limits import exit_words
from referee.harness.process.usage import living_below
from referee.harness.seats.chaos import Chaos
from referee.harness.seats.program import Bot
from referee.harness.seats.random_seat import RandomSeat
from referee.harness.seats.seat import MatchContext, Reply, Seat
from referee.protocol import messages
from referee.protocol.codec import JSON
from referee.protocol.messages import Encoding, Initialize

ENOUGH = "the check has seen enough"
WALK_S = 10.0
"""The time for one game: a slow bot gets fewer calls."""
LINGER_S = 0.1
NAMES = ("checked", "rival", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


class Delay(Struct, frozen=True):
    """A time-out that the machine may have caused."""

    took_s: float
    waited_s: float

    def __str__(self) -> str:
        return core_wait_words(self.waited_s, self.took_s)


class Defect(Struct, frozen=True):
    """A defect in the way in which a bot ends."""

    text: str
    delay: Delay | None = None
    """If it ended too late, and the machine may be the cause."""


async def end_bot(bot: Bot, says_exit: bool) -> Defect | None:
    """Ends a bot, with `exit` or by closing its input. Returns what is wrong with the way in which it ends.

    None if nothing is wrong, and if the bot is at fault already or may still be busy with a call.
    """
    if bot.fault is not None or bot.wire.owes_answers:
        return None
    core_wait, exit_s = bot.transport.core_wait, bot.limits.exit_s
    core_wait.start()
    code = await bot.leave(says_exit)
    wait = core_wait.read(answered=False) if code is None else None
    core_wait.stop()
    survivors = 0 if code is None else await _survivors(bot)
    if (output := bot.check_unasked()) is not None:
        return Defect(f"after its last answer: {output.detail}")
    if code is None:
        lacked = wait is not None and lacked_time(exit_s, wait.waited_s)
        late = Delay(exit_s, min(exit_s, wait.waited_s)) if wait is not None and lacked else None
        return Defect(f"did not exit within {exit_s:g} s", late)
    if code != 0:
        return Defect(f"ended with {exit_words(code)}; expected exit code 0")
    return Defect(f"left {survivors} process{'' if survivors == 1 else 'es'} running") if survivors else None


async def _survivors(bot: Bot) -> int:
    """Counts the processes that outlive the bot by more than `LINGER_S`."""
    root = pipes(bot).process.root
    if not living_below(root):
        return 0
    await trio.sleep(LINGER_S)
    return living_below(root)


def pipes(bot: Bot) -> Chaos:
    """Returns the bot's pipes, which are always a `Chaos` in a check."""
    transport = bot.transport.carrier
    assert isinstance(transport, Chaos)
    return transport


class GamePlan(Struct, frozen=True):
    """What to play in one game."""

    request: Check
    seat: Player
    seed: int
    encodings: tuple[Encoding, ...]
    calls: int
    """The game is stopped after this many calls; closing calls still follow."""
    shadow: bool = False
    """Play the engine's own answer instead of the bot's, so that the game takes the intended course."""
    breaks_off: bool = False
    """Leave the bot in the middle of the game instead of stopping the game."""
    luck: int = 0
    """If not 0: another seed for the bot's random numbers, in the same game."""

    @property
    def setup(self) -> Setup:
        seats = max(self.request.game.seats.start, self.seat + 1)
        return Setup(self.seed, NAMES[:seats], self.request.options)


class CallRecord(Struct, frozen=True):
    """One call, answered or not."""

    method: str
    answer: Any
    wall_s: float
    waited_s: float = 0.0
    """For how much of that time no core was free, if it was measured."""


class EngineGame(Struct):
    """The calls of a game, and its fault."""

    calls: list[CallRecord]
    fault: Fault | None = None
    """The first fault, which ends the game."""
    startup_s: float = 0.0
    delay: Delay | None = None
    """If the fault is a time-out that the machine may have caused."""

    def is_late(self, cost: Cost) -> None:
        """Notes what the machine had to do with a fault in the last call."""
        if self.fault is not None and self.fault.kind is FaultKind.TIMEOUT and cost.slowed:
            self.delay = Delay(cost.wall_s, cost.waited_s)

    @property
    def method(self) -> str:
        """The method of the last call."""
        return self.calls[-1].method if self.calls else "initialize"


async def play_engine_game(bot: Bot, plan: GamePlan) -> EngineGame:
    """Plays the game until it ends or the bot is at fault."""
    started = time.perf_counter()
    result = EngineGame([])
    driver = await _greeted(plan, CheckedSeat(bot, result, plan.shadow), result)
    result.startup_s = time.perf_counter() - started
    if result.fault is None:
        await driver.play()
        result.fault = result.fault or bot.check_unasked()
    bot.measure()
    return result


class CheckedSeat(Seat):
    """The bot's seat: records every answer and the first fault."""

    def __init__(self, bot: Bot, result: EngineGame, shadow: bool) -> None:
        super().__init__()
        self.bot = bot
        self.result = result
        self.engine = RandomSeat() if shadow else None

    async def greet(self, match: Initialize, context: MatchContext) -> Reply:
        self.context = context
        if self.engine is not None:
            await self.engine.greet(match, context)
        reply = await self.bot.greet(match, context)
        self.result.fault = reply.value
        self.result.is_late(reply.cost)
        return reply

    async def ask(self, call: Call, clock: messages.Clock, limit_s: float) -> Reply:
        reply = await self.bot.ask(call, clock, limit_s)
        answer = reply.value
        cost = reply.cost
        self.result.calls.append(CallRecord(call.method.name, answer, cost.wall_s, cost.waited_s))
        self.result.fault = answer if isinstance(answer, Fault) else self.context.state.check(call.player, answer)
        self.result.is_late(cost)
        if self.engine is None:
            return reply
        return Reply((await self.engine.ask(call, clock, limit_s)).value, reply.cost)

    def notify(self, notice: Notice) -> None:
        self.bot.notify(notice)

    def flush(self) -> None:
        self.bot.flush()


async def _greeted(plan: GamePlan, seat: Seat, result: EngineGame) -> Driver:
    """Greets `seat`, and the engine at every other seat."""
    request, setup = plan.request, plan.setup
    driver = Driver(request.game, setup, request.time)
    driver.intervention = _Enough(driver, plan, result)
    driver.seats += [seat if player == plan.seat else RandomSeat() for player in range(len(setup.names))]
    for player in range(len(setup.names)):
        luck = plan.luck or plan.seed if player == plan.seat else derive_seed(plan.seed, "rivals")
        await driver.greet(player, request.limits, plan.encodings, luck)
    return driver


class _Enough(Intervention):
    """Ends a game after the calls that it needs, or with the first fault."""

    def __init__(self, driver: Driver, plan: GamePlan, result: EngineGame) -> None:
        self.driver = driver
        self.plan = plan
        self.result = result
        self.until = time.perf_counter() + WALK_S

    async def before_turn(self) -> bool:
        driver, plan, result = self.driver, self.plan, self.result
        undecided = driver.state.result is None
        enough = len(result.calls) >= plan.calls or time.perf_counter() > self.until
        if result.fault is not None or (enough and plan.breaks_off and undecided):
            driver.over = True
        elif enough and undecided:
            driver.stop(ENOUGH)
        else:
            return False
        return True


class _Measured(RandomSeat):
    """The engine at the bot's seat: records the size of the params of every call."""

    def __init__(self, result: EngineGame) -> None:
        super().__init__()
        self.result = result
        self.sizes: list[tuple[str, int]] = []

    async def ask(self, call: Call, clock: messages.Clock, limit_s: float) -> Reply:
        self.sizes.append((call.method.name, len(JSON.encode(call.params))))
        reply = await super().ask(call, clock, limit_s)
        self.result.calls.append(CallRecord(call.method.name, reply.value, 0.0))
        return reply


async def params_sizes(plan: GamePlan) -> list[tuple[str, int]]:
    """Plays the same game with the engine at the bot's seat. Returns each call's method and the size of its params."""
    result = EngineGame([])
    seat = _Measured(result)
    driver = await _greeted(plan, seat, result)
    await driver.play()
    return seat.sizes
