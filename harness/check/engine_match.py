"""A game between one bot and ourselves: the engine's own answers stand at every other seat.

No other program is needed, and every position that the engine can reach can be shown to the bot.
"""

import time
from collections.abc import Callable
from typing import Any

import trio
from msgspec import Struct

from referee.games.contract import Call, Fault, Game, Notice, Player, Setup, TimeControl
from referee.games.dice import derive_seed
from referee.harness.match.match import Loop
from referee.harness.process.limits import Limits, exit_words
from referee.harness.process.usage import living_below
from referee.harness.seats.chaos import Chaos
from referee.harness.seats.program import Bot
from referee.harness.seats.seat import EngineSeat, Seat, Table
from referee.protocol import messages
from referee.protocol.messages import Encoding, Initialize

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
    exit_s: float
    """How long it had."""

    @property
    def defect(self) -> str | None:
        """What is wrong with that."""
        if self.spoke is not None:
            return f"after its last answer: {self.spoke.detail}"
        if self.code is None:
            return f"did not end by itself within {self.exit_s:g} s"
        if self.code != 0:
            return f"ended with {exit_words(self.code)}; wanted is exit code 0"
        if self.left:
            return f"left {self.left} process{'' if self.left == 1 else 'es'} behind"
        return None


async def depart(bot: Bot, says_exit: bool) -> Ending | None:
    """Tells a bot to end, with `exit` or without, and looks at what it does.

    None for one that is at fault already, or that may still be busy with a call.
    """
    if bot.fault is not None or bot.wire.owes_answers:
        return None
    code = await bot.leave(says_exit)
    left = 0 if code is None else await _left_behind(bot)
    return Ending(code, left, bot.spoke_unasked(), bot.limits.exit_s)


async def _left_behind(bot: Bot) -> int:
    """How many processes have outlived the bot; those that were ending with it have a moment for it."""
    root = pipes(bot).process.root
    if not living_below(root):
        return 0
    await trio.sleep(LINGER_S)
    return living_below(root)


def pipes(bot: Bot) -> Chaos:
    """The bot's transport, which is the check's own kind."""
    assert isinstance(bot.transport, Chaos)
    return bot.transport


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


async def walk(bot: Bot, plan: Plan, limits: Limits) -> Walk:
    """Plays the game with the bot at its seat until it ends or the bot is at fault."""
    started = time.perf_counter()
    done = Walk([])
    game = _Walk(plan, Checked(bot, done, plan.shadow), done)
    await game.greet_all(limits)
    done.startup_s = time.perf_counter() - started
    if done.fault is None:
        await game.play()
        done.fault = done.fault or bot.spoke_unasked()
    bot.measure()
    return done


class Checked(Seat):
    """The bot's seat: notes every answer, and the first that does not count.

    In a `shadow` game the engine's own answer is played in the place of the bot's.
    """

    def __init__(self, bot: Bot, done: Walk, shadow: bool) -> None:
        super().__init__()
        self.bot = bot
        self.done = done
        self.engine = EngineSeat() if shadow else None

    async def greet(self, match: Initialize, table: Table) -> Fault | None:
        self.table = table
        if self.engine is not None:
            await self.engine.greet(match, table)
        self.done.fault = await self.bot.greet(match, table)
        return self.done.fault

    async def ask(self, call: Call, clock: messages.Clock, limit_s: float) -> Any:
        answer = await self.bot.ask(call, clock, limit_s)
        self.charge = self.bot.charge
        self.done.asked.append(Asked(call.method.name, answer, self.charge.wall_s))
        self.done.fault = answer if isinstance(answer, Fault) else self.table.state.check(call.player, answer)
        return answer if self.engine is None else await self.engine.ask(call, clock, limit_s)

    def tell(self, notice: Notice) -> None:
        self.bot.tell(notice)

    def flush(self) -> None:
        self.bot.flush()


class _Walk(Loop):
    """The loop of a walk: the engine's own answers stand at every other seat."""

    def __init__(self, plan: Plan, seat: Seat, done: Walk) -> None:
        super().__init__(plan.game, plan.setup, plan.time)
        self.plan = plan
        self.done = done
        self.until = time.perf_counter() + WALK_S
        for player in range(len(self.setup.names)):
            self.seats.append(seat if player == plan.seat else EngineSeat())
        self.interrupted = True

    async def greet_all(self, limits: Limits) -> None:
        plan = self.plan
        for player in range(len(self.seats)):
            luck = plan.luck or plan.seed if player == plan.seat else derive_seed(plan.seed, "rivals")
            await self.greet(player, limits, plan.encodings, luck)

    async def between(self) -> bool:
        plan, done = self.plan, self.done
        enough = len(done.asked) >= plan.calls or time.perf_counter() > self.until
        if done.fault is not None or (enough and plan.breaks_off and self.state.result is None):
            self.over = True
        elif enough and self.state.result is None:
            self.tell(self.state.stop(ENOUGH))
        else:
            return False
        return True


class _Measured(EngineSeat):
    """The engine at the bot's own seat: notes how large the params of every call are."""

    def __init__(self, done: Walk, encode: Callable[[Any], bytes]) -> None:
        super().__init__()
        self.done = done
        self.encode = encode
        self.sizes: list[tuple[str, int]] = []

    async def ask(self, call: Call, clock: messages.Clock, limit_s: float) -> Any:
        self.sizes.append((call.method.name, len(self.encode(call.params))))
        answer = await super().ask(call, clock, limit_s)
        self.done.asked.append(Asked(call.method.name, answer, 0.0))
        return answer


async def reach(plan: Plan, encode: Callable[[Any], bytes]) -> list[tuple[str, int]]:
    """What the same game asks of the seat when we answer there too: every call's method and the size of its params."""
    done = Walk([])
    seat = _Measured(done, encode)
    game = _Walk(plan, seat, done)
    await game.greet_all(Limits())
    await game.play()
    return seat.sizes
