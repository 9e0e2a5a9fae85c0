"""Tries every rule of `referee.harness.check.findings` on a bot, one after the other.

The first rules are games against the engine's own answers. Only a bot that gets through them is tried further: what
follows would find the same defect again. Nothing here knows a game.
"""

import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from referee.games.contract import FaultKind, Game, Player, TimeControl
from referee.games.dice import derive_seed
from referee.harness.check.engine_match import Plan, Walk, depart, pipes, reach, walk
from referee.harness.check.findings import NOT_TRIED, RULES, Checked, CheckReport, Costs, Finding, Level, Status
from referee.harness.check.source_lines import places
from referee.harness.errors import RunError
from referee.harness.match.play import Match, play
from referee.harness.match.verdict import Verdict
from referee.harness.opponents import OPPONENTS
from referee.harness.process.limits import Limits, mebibytes
from referee.harness.programs.spec import Entrant, entrant
from referee.harness.seats.chaos import CHAOS, Chaos, Manner
from referee.harness.seats.program import PROGRAM_CHARACTERS, Bot
from referee.harness.seats.roster import Roster, open_roster
from referee.protocol.codec import JSON
from referee.protocol.errors import quote
from referee.protocol.messages import Encoding

CALLS = 60
"""Of one game against the engine's answers."""
FEW_CALLS = 12
SLOW_CALLS = 2
REPEATED_CALLS = 30
GAMES = 2
"""At the first seat, one in each encoding if there are two; more, up to `SEEDS`, if something was not asked yet."""
SEEDS = 4
CLOSE_TO = 0.5
"""A bot that needs more of a limit than this is warned: another machine may be slower."""
PLAIN = Manner()
LONG_CALLS = 200
"""How deep we look for the largest params."""
TRIES = 3
"""So often a match is played in which a built-in bot comes too late: that is the machine's doing."""
MATCHES_S = 24.0
"""The whole matches of a rule share that; one that takes longer is stopped: the check has seen enough of it."""
BASICS = ("builds", "starts", "greets-json", "greets-msgpack", "answers-every-call", "every-seat")
ALWAYS = ("builds", "starts")
"""What stands on everything else: how a bot is started, and what it says of itself."""
BOTH = (Encoding.MSGPACK, Encoding.JSON)

Progress = Callable[[Checked], None]


class Origin(Struct, frozen=True):
    """Where a bot comes from, for whoever reads what was found."""

    spec: str
    """As it was named."""
    folder: Path
    """Its own folder, or that of its source file."""
    again: tuple[str, ...] = ()
    """The words of a command for one match of it, from `referee` on, without seed and bots; empty: unknown."""


class Check(Struct, frozen=True):
    """What is to be checked."""

    game: Game
    bot: Entrant
    seed: int
    options: Any
    """`game.options`."""
    limits: Limits
    time: TimeControl
    chaos: bool = False
    """The whole matches are played in that manner too."""
    origin: Origin | None = None
    only: frozenset[str] = frozenset()
    """Only these rules; empty: all. What a bot says of itself is learned in any case."""
    built: str = ""
    """How the bot was built, in a few words."""


def not_built(game: Game, seed: int, name: str, error: RunError, origin: Origin, built_s: float) -> CheckReport:
    """The report of a bot whose build fails: nothing else can be tried."""
    how, _, printed = str(error).partition("\n")
    text = how[max(how.find(": the build "), how.find(": run names ")) + 2 :]
    lines = tuple(printed.split("\n")) if printed else ()
    again = _again(origin, game, seed, "builds")
    found = Finding("builds", Level.ERROR, text, last_words=lines, places=places(lines, origin.folder), again=again)
    failed = Checked("builds", Status.FAILED, built_s, "", (found,))
    rest = [Checked(rule, Status.SKIPPED, 0.0, NOT_TRIED) for rule in RULES if rule != "builds"]
    return CheckReport(game.name, seed, name, None, False, (failed, *rest), None)


def _again(origin: Origin | None, game: Game, seed: int, rule: str) -> tuple[str, ...]:
    """The command that tries one rule again."""
    if origin is None or not origin.again:
        return ()
    return ("referee", "check", origin.spec, *origin.again[1:], "--seed", str(seed), "--only", rule)


async def check(request: Check, progress: Progress | None = None) -> CheckReport:
    """Tries all rules; `progress` hears of each. RunError if a program cannot be started, or one of ours fails."""
    manner = CHAOS if request.chaos else PLAIN
    async with open_roster(request.limits, partial(Chaos, manner=manner)) as roster:
        course = _Course(request, roster)
        rules = [rule for rule in RULES if not request.only or rule in request.only or rule in ALWAYS]
        for rule in rules:
            await course.attempt(rule)
            if progress is not None:
                progress(course.checked(rule))
    checks = tuple(course.checked(rule) for rule in rules)
    passed = all(check.status is not Status.FAILED for check in checks)
    return CheckReport(
        request.game.name, request.seed, request.bot.name, course.program, passed, checks, course.costs()
    )


def best_opponent(game: str) -> str | None:
    """The strongest built-in bot that takes every seat of a game: the last on the list, `@random` apart."""
    names = [name for name, known in OPPONENTS.items() if known.seats.get(game, -1) is None and name != "random"]
    return names[-1] if names else None


class _Skip(Exception):
    """A rule does not apply; the message says why."""


class _Course:
    def __init__(self, request: Check, roster: Roster) -> None:
        self.game, self.entrant, self.seed, self.options = request.game, request.bot, request.seed, request.options
        self.limits, self.time, self.roster = request.limits, request.time, roster
        self.origin, self.built = request.origin, request.built
        self.findings: list[Finding] = []
        self.program: str | None = None
        self.encodings: list[Encoding] = [Encoding.JSON]
        """Those that the bot speaks, as far as it said."""
        self.reuse = False
        self.repeats = True
        self._broken = False
        self._endings = 0
        self._tried: dict[str, tuple[Status, float, str]] = {}
        self._walls: list[tuple[float, str]] = []
        self._startup_s = 0.0
        self._peak_bytes = 0

    async def attempt(self, rule: str) -> None:
        """Tries one rule; what it finds is added to the findings."""
        started = time.perf_counter()
        try:
            if self._broken:
                raise _Skip(NOT_TRIED)
            status, words = Status.PASSED, await _ATTEMPTS[rule](self)
        except _Skip as skip:
            status, words = Status.SKIPPED, str(skip)
        if rule in BASICS:
            self._broken = any(found.level is Level.ERROR and found.rule != "exit" for found in self.findings)
        self._tried[rule] = status, time.perf_counter() - started, words

    def checked(self, rule: str) -> Checked:
        """What became of a rule; a finding may have come from another's attempt."""
        status, duration_s, words = self._tried[rule]
        found = tuple(finding for finding in self.findings if finding.rule == rule)
        if any(finding.level is Level.ERROR for finding in found):
            status = Status.FAILED
        return Checked(rule, status, duration_s, words, found)

    def costs(self) -> Costs | None:
        """None when the bot never got so far."""
        if not self._walls:
            return None
        slowest_s, method = max(self._walls)
        median_s = statistics.median(wall_s for wall_s, _ in self._walls)
        memory = self._peak_bytes, self.limits.memory_bytes
        return Costs(self._startup_s, len(self._walls), median_s, slowest_s, method, self._limit_s, *memory)

    # The rules, in their order.

    async def builds(self) -> str:
        """It has been, or there would be no program: see `not_built`."""
        return self.built

    async def starts(self) -> str:
        done, bot = await self._walk("starts", self._plan(encodings=BOTH, calls=0, breaks_off=True))
        if done.fault is None:
            hello = bot.hello
            self.program = " ".join(filter(None, (hello.name, hello.version)))[:PROGRAM_CHARACTERS] or None
            self.reuse = hello.reuse
            if hello.encoding is Encoding.MSGPACK:
                self.encodings = list(BOTH)
        return f"as {self.program}, in {self._startup_s:.2f} s" if self.program else f"in {self._startup_s:.2f} s"

    async def greets_json(self) -> str:
        both = Encoding.MSGPACK in self.encodings  # otherwise the next rule looks at its answers
        plan = self._plan(encodings=(Encoding.JSON,), calls=2 if both else 0, breaks_off=not both)
        done, bot = await self._walk(None, plan)
        if done.fault is None:
            return f"and answered {len(done.asked)} calls" if both else ""
        if not done.asked and done.fault.kind is FaultKind.ERROR and both:
            self.encodings = [Encoding.MSGPACK]
            self._find("greets-json", Level.WARNING, f"plays in msgpack only: {done.fault.detail}", plan)
        else:
            await self._blame("greets-json", plan, done, bot)
        return ""

    async def greets_msgpack(self) -> str:
        if Encoding.MSGPACK not in self.encodings:
            raise _Skip("it chose json where both were offered")
        done, _ = await self._walk("greets-msgpack", self._plan(encodings=(Encoding.MSGPACK,), calls=2))
        return f"and answered {len(done.asked)} calls"

    async def answers_every_call(self) -> str:
        """Seed after seed, until everything has been asked that our own play comes to, in every encoding."""
        reachable = {method for seed in range(SEEDS) for method, _ in await reach(self._plan(number=seed), JSON.encode)}
        counts: dict[str, int] = {}
        for number in range(SEEDS):
            if number >= GAMES and reachable <= counts.keys():
                break
            done, _ = await self._walk("answers-every-call", self._plan(number=number))
            for asked in done.asked:
                counts[asked.method] = counts.get(asked.method, 0) + 1
            if done.fault is not None:
                break
        return ", ".join(f"{count} {method}" for method, count in counts.items())

    async def every_seat(self) -> str:
        seats = range(1, self.game.seats.stop - 1)
        for seat in seats:
            await self._walk("every-seat", self._plan(seat=seat, number=seat))
        return f"seats 0 to {seats[-1]}" if seats else "there is but one"

    async def exit(self) -> str:
        """Looked at whenever a bot was told to end."""
        return f"after {self._endings} games"

    async def end_of_file(self) -> str:
        await self._walk("end-of-file", self._plan(calls=3, breaks_off=True), says_exit=False)
        return "in the middle of a game"

    async def unknown_members(self) -> str:
        manner = Manner(members=True, reordered=True, padded=12)
        return await self._in_manner("unknown-members", manner, FEW_CALLS)

    async def chunked_pipes(self) -> str:
        return await self._in_manner("chunked-pipes", Manner(cuts=9, pause_s=0.001), FEW_CALLS)

    async def slow_pipes(self) -> str:
        return await self._in_manner("slow-pipes", Manner(cuts=1, pause_s=0.1), SLOW_CALLS)

    async def largest_states(self) -> str:
        """In games of our own play: so they come to their last calls and their largest params, whatever the bot does.

        A bot may keep a board of its own, from events and from what it answered itself. So an illegal answer to a
        position that it did not come to by itself is no more than a note, and where there are events any failure is no
        more than a warning.
        """
        has_notices = any(method.result is None and not method.viewers for method in self.game.methods.values())
        plans, largest = await self._largest()
        for plan in plans:
            await self._walk("largest-states", plan, level=Level.WARNING if has_notices else Level.ERROR)
        return ", ".join(f"{method} {size:,} bytes" for method, size in largest.items())

    async def repeatable(self) -> str:
        plan = self._plan(calls=REPEATED_CALLS)
        first, _ = await self._walk("repeatable", plan)
        second, _ = await self._walk("repeatable", plan)
        if first.fault or second.fault:
            self.repeats = False
            return ""
        if differs := _difference(first, second):
            self.repeats = False
            text = f"one seed, two games, and not the same answers: {differs}"
            self._find("repeatable", Level.WARNING, text, plan)
            return ""
        other, _ = await self._walk("repeatable", msgspec.structs.replace(plan, luck=derive_seed(self.seed, "luck")))
        if differs := _difference(first, other):
            self._find("repeatable", Level.NOTE, f"its play depends on its own seed: {differs}", plan)
        return f"{len(first.asked)} answers"

    async def many_games(self) -> str:
        if not self.reuse:
            raise _Skip('it did not say "reuse"')
        seats = self.game.seats.stop - 1
        plans = [
            self._plan(calls=REPEATED_CALLS, number=n, seat=n % seats, encodings=self._first) for n in (0, 1, 2, 0)
        ]
        bot = await self._take(PLAIN)
        walks = []
        for plan in plans:
            walks.append(done := await walk(bot, plan, self.limits))
            self._book(done, bot)
            if done.fault is not None:
                break
        await self.roster.end([bot])
        await self._blame("many-games", plan, done, bot, prefix=f"game {len(walks)} in one process: ")
        if done.fault is None and self.repeats and (differs := _difference(walks[0], walks[-1])):
            text = f"played the same game otherwise after {len(walks) - 2} more in the same process: {differs}"
            self._find("many-games", Level.ERROR, text, plan)
        return f"{len(walks)} in one process"

    async def time_limit(self) -> str:
        costs = self.costs()
        if costs is None:
            raise _Skip("it answered no call")
        if costs.limit_s is not None and costs.max_s > costs.limit_s * CLOSE_TO:
            text = f"its slowest call, {costs.max_method}, took {costs.max_s:.3f} s of {costs.limit_s:g} s"
            self._find("time-limit", Level.WARNING, text)
        if costs.startup_s > self.limits.startup_s * CLOSE_TO:
            text = f"its start took {costs.startup_s:.2f} s of {self.limits.startup_s:g} s"
            self._find("time-limit", Level.WARNING, text)
        return f"{costs.calls} calls, median {costs.median_s * 1000:.2f} ms, slowest {costs.max_s * 1000:.1f} ms"

    async def memory_limit(self) -> str:
        limit, peak = self.limits.memory_bytes, self._peak_bytes
        if limit is not None and peak > limit * CLOSE_TO:
            text = f"used {mebibytes(peak)} of {mebibytes(limit)}"
            self._find("memory-limit", Level.WARNING, text)
        return f"{mebibytes(peak)} of {'any' if limit is None else mebibytes(limit)}"

    async def plays_random(self) -> str:
        return await self._matches("plays-random", "@random")

    async def plays_builtin(self) -> str:
        name = best_opponent(self.game.name)
        if name is None:
            raise _Skip(f"there is none for {self.game.name}")
        return await self._matches("plays-builtin", f"@{name}")

    # What they have in common.

    @property
    def _limit_s(self) -> float | None:
        """Of one call."""
        return self.time.initial_s if self.time.per_call_s is None else self.time.per_call_s

    @property
    def _first(self) -> tuple[Encoding, ...]:
        return (self.encodings[0],)

    def _plan(
        self,
        number: int = 0,
        seat: Player = 0,
        encodings: tuple[Encoding, ...] | None = None,
        calls: int = CALLS,
        breaks_off: bool = False,
    ) -> Plan:
        """A game of its own for each number, in each of the bot's encodings in turn."""
        if encodings is None:
            encodings = (self.encodings[number % len(self.encodings)],)
        seed = derive_seed(self.seed, "check", number)
        return Plan(self.game, seat, seed, self.options, self.time, encodings, calls, breaks_off=breaks_off)

    async def _take(self, manner: Manner) -> Bot:
        bot = await self.roster.start(self.entrant)
        pipes(bot).manner = manner
        return bot

    async def _walk(
        self,
        rule: str | None,
        plan: Plan,
        manner: Manner = PLAIN,
        says_exit: bool = True,
        level: Level = Level.ERROR,
    ) -> tuple[Walk, Bot]:
        """One game in a process of its own; a fault is found under `rule`, None = that is left to the caller."""
        bot = await self._take(manner)
        done = await walk(bot, plan, self.limits)
        ended = await depart(bot, says_exit)
        await self.roster.end([bot])
        self._book(done, bot)
        if rule is not None:
            await self._blame(rule, plan, done, bot, level)
        if ended is not None and done.fault is None:
            self._endings += says_exit
            if ended.defect is not None:
                rule = "exit" if says_exit else "end-of-file"
                self._find(rule, Level.ERROR, ended.defect, plan, words=bot.last_words())
        return done, bot

    async def _in_manner(self, rule: str, manner: Manner, calls: int) -> str:
        for number in range(len(self.encodings)):
            await self._walk(rule, self._plan(number=number, calls=calls), manner)
        return f"in {' and '.join(self.encodings)}"

    async def _largest(self) -> tuple[list[Plan], dict[str, int]]:
        """The games in which our own play shows the largest params of each method, and those sizes."""
        largest: dict[str, tuple[int, int, Plan]] = {}
        for number in range(SEEDS):
            for seat in range(self.game.seats.stop - 1):
                plan = msgspec.structs.replace(self._plan(number, seat, calls=LONG_CALLS), shadow=True)
                for method, size in await reach(plan, JSON.encode):
                    if method not in largest or size > largest[method][0]:
                        largest[method] = size, len(largest), plan
        plans = {(plan.seed, plan.seat): plan for _, _, plan in largest.values()}
        return list(plans.values()), {method: size for method, (size, _, _) in largest.items()}

    async def _matches(self, rule: str, rival: str) -> str:
        """A whole match at every seat, with the built-in bot at all the others."""
        points = 0.0
        seats = self.game.seats.start
        control = self.time
        match_s = MATCHES_S / seats
        if control.match_s is None or control.match_s > match_s:
            control = msgspec.structs.replace(control, match_s=match_s)
        for seat in range(seats):
            entrants = [entrant(rival)] * seats
            entrants[seat] = self.entrant
            seed = derive_seed(self.seed, rule, seat)
            match = Match(self.game, tuple(entrants), seed, self.options, control, tuple(reversed(BOTH)))
            for _ in range(TRIES):
                verdict = await play(match, self.roster)
                if not any(fault.player != seat and fault.kind is FaultKind.TIMEOUT for fault in verdict.faults):
                    break
            self._rule(rule, verdict, seat, rival)
            points += verdict.result.scores[seat]
        return f"{rival}, {seats} matches, {points:g} point{'' if points == 1 else 's'}"

    def _rule(self, rule: str, verdict: Verdict, seat: Player, rival: str) -> None:
        self._peak_bytes = max(self._peak_bytes, verdict.seats[seat].peak_memory_bytes)
        for fault in verdict.faults:
            if fault.player != seat:
                raise RunError(f"{fault.name} failed in seat {fault.player}: {fault.kind}: {fault.detail}")
            text = f"{fault.kind}: {fault.detail}; {fault.penalty} (match with seed {verdict.seed})"
            encoding = verdict.seats[seat].encoding
            method = self.game.methods.get(fault.method)
            section = method.rules if method is not None and fault.kind is FaultKind.ILLEGAL else None
            where = seat, fault.call, fault.method, encoding
            self._add(
                Finding(rule, Level.ERROR, text, *where, fault.last_words, section or None),
                self._match(verdict, seat, rival),
            )

    def _book(self, done: Walk, bot: Bot) -> None:
        """Keeps what a game has cost."""
        if not self._walls:
            self._startup_s = max(self._startup_s, done.startup_s)
        self._walls += [(asked.wall_s, asked.method) for asked in done.asked]
        self._peak_bytes = max(self._peak_bytes, bot.usage.peak_memory_bytes)

    async def _blame(
        self, rule: str, plan: Plan, done: Walk, bot: Bot | None, level: Level = Level.ERROR, prefix: str = ""
    ) -> None:
        """The finding for a walk's fault, if it has one."""
        fault = done.fault
        if fault is None:
            return
        if plan.shadow and fault.kind is FaultKind.ILLEGAL:
            level = Level.NOTE
        if fault.kind is FaultKind.MEMORY:
            rule = "memory-limit"
        elif fault.kind is FaultKind.TIMEOUT and done.asked and rule in BASICS:
            rule = "time-limit"
        elif done.asked and rule in ("greets-json", "greets-msgpack") and fault.kind is not FaultKind.PROTOCOL:
            rule = "answers-every-call"  # it has greeted, and was understood
        text = f"{prefix}{fault.kind}: {fault.detail}"
        words = () if bot is None else bot.last_words()
        self._find(rule, level, text, plan, done, words)

    def _find(
        self,
        rule: str,
        level: Level,
        text: str,
        plan: Plan | None = None,
        done: Walk | None = None,
        words: tuple[str, ...] = (),
    ) -> None:
        """Adds a finding, unless the same was found before."""
        if any((found.rule, found.text) == (rule, text) for found in self.findings):
            return
        seat = None if plan is None else plan.seat
        call, method = (None, None) if done is None else (len(done.asked), done.method)
        encoding = None if plan is None or len(plan.encodings) > 1 else plan.encodings[0]
        illegal = done is not None and done.fault is not None and done.fault.kind is FaultKind.ILLEGAL
        section = (illegal and method and self.game.methods[method].rules) or RULES[rule].section
        again = _again(self.origin, self.game, self.seed, rule)
        self._add(Finding(rule, level, text, seat, call, method, encoding, words, section), again)

    def _add(self, finding: Finding, again: tuple[str, ...]) -> None:
        """With the lines of the bot's files that it names."""
        lines = (*finding.text.split("\n"), *finding.last_words)
        named = () if self.origin is None else places(lines, self.origin.folder)
        self.findings.append(msgspec.structs.replace(finding, places=named, again=again))

    def _match(self, verdict: Verdict, seat: Player, rival: str) -> tuple[str, ...]:
        """The command that plays a whole match again."""
        if self.origin is None or not self.origin.again:
            return ()
        bots = [rival] * len(verdict.seats)
        bots[seat] = self.origin.spec
        return (*self.origin.again, *bots, "--seed", str(verdict.seed))


def _difference(one: Walk, other: Walk) -> str | None:
    """The first call that two games have in common and answer otherwise."""
    for number, (first, second) in enumerate(zip(one.asked, other.asked, strict=False), 1):
        if first.method != second.method:
            return None  # one of the games was broken off because it took too long
        if first.answer != second.answer:
            answers = " and then ".join(quote(JSON.encode(asked.answer)) for asked in (first, second))
            return f"call {number} {first.method} was answered {answers}"
    return None


_ATTEMPTS: Mapping[str, Callable[[_Course], Awaitable[str]]] = {
    rule: getattr(_Course, rule.replace("-", "_")) for rule in RULES
}
