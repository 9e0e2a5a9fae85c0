"""A bot under check: starts it, plays it against the engine, and collects findings and costs."""

import statistics
from collections.abc import Callable

import msgspec

from referee.games.contract import FaultKind, Player
from referee.games.dice import derive_seed
from referee.harness.check.engine_match import (
    Delay,
    EngineGame,
    GamePlan,
    end_bot,
    pipes,
    play_engine_game,
)
from referee.harness.check.findings import BASIC_RULES, Costs, Finding, Level, rule_named
from referee.harness.check.request import Check, Origin
from referee.harness.check.source_lines import places
from referee.harness.common.errors import RunError
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import OnNoise
from referee.harness.programs.entrant import Entrant
from referee.harness.seats.chaos import Manner
from referee.harness.seats.program import Bot
from referee.harness.seats.roster import Roster
from referee.protocol.messages import Encoding

TRIES = 3
"""How often a game is played if the machine may be the cause of its end."""
CALLS = 60
"""The number of calls in one game against the engine."""
PLAIN = Manner()


class Skip(Exception):
    """A rule does not apply; the message says why."""


class Trial:
    """The state that the rules of one check share."""

    def __init__(self, request: Check, roster: Roster) -> None:
        self.request = request
        self.roster = roster
        self.game = request.game
        self.limits = request.limits
        self.rule = ""
        """The rule that is tried now."""
        self.findings: list[Finding] = []
        self.program: str | None = None
        """The name and version that the bot announces."""
        self.encodings: list[Encoding] = [Encoding.JSON]
        """The encodings that the bot speaks."""
        self.reuse = False
        self.repeats = True
        """Whether the same seed gave the same answers."""
        self.exits = 0
        """How many games ended with `exit`."""
        self.startup_s = 0.0
        self.peak_bytes = 0
        self.games = self.decided_by_machine = 0
        """All games, and those in which the bot was late and the machine may be the cause."""
        self.undecided: set[str] = set()
        """Rules with such a game in every attempt."""
        self._call_times: list[tuple[float, str]] = []

    # Games against the engine.

    def plan(
        self,
        number: int = 0,
        seat: Player = 0,
        encodings: tuple[Encoding, ...] | None = None,
        calls: int = CALLS,
        breaks_off: bool = False,
    ) -> GamePlan:
        """Plans a game; each number has its own seed, and the bot's encodings take turns."""
        if encodings is None:
            encodings = (self.encodings[number % len(self.encodings)],)
        return GamePlan(
            request=self.request,
            seat=seat,
            seed=derive_seed(self.request.seed, "check", number),
            encodings=encodings,
            calls=calls,
            breaks_off=breaks_off,
        )

    async def start(self, manner: Manner, program: Entrant | None = None, attempt: int = 0) -> Bot:
        """Starts the bot with frames of that manner, or `program` in its place.

        From the second attempt on, the time in which no core is free is not charged.
        """
        bot = await self.roster.start(program or self.request.bot)
        pipes(bot).manner = manner
        if attempt:
            bot.limits = msgspec.structs.replace(bot.limits, on_noise=OnNoise.FORGIVE)
        return bot

    def is_settled(self, delay: Delay | None) -> bool:
        """Counts a game. Returns whether it need not be tried again."""
        self.games += 1
        self.decided_by_machine += delay is not None
        return delay is None

    async def play(
        self,
        plan: GamePlan,
        manner: Manner = PLAIN,
        says_exit: bool = True,
        level: Level | None = Level.ERROR,
        program: Entrant | None = None,
    ) -> tuple[EngineGame, Bot]:
        """Plays one game in a new process. A fault becomes a finding; with the `level` None, the caller reports it.

        A game that the machine may have decided is tried again.
        """
        for attempt in range(TRIES):
            bot = await self.start(manner, program, attempt)
            game = await play_engine_game(bot, plan)
            defect = await end_bot(bot, says_exit)
            await self.roster.end([bot])
            if self.is_settled(game.delay or (None if defect is None else defect.delay)):
                break
        self.count_costs(game, bot)
        if level is not None:
            self.report_fault(plan, game, bot, level)
        if game.fault is None:
            self.exits += says_exit
            if defect is not None:
                rule = "exit" if says_exit else "end-of-file"
                level, text = self.weighed(Level.ERROR, defect.text, rule, defect.delay)
                self.report(level, text, plan, stderr=bot.status().process.last_lines, rule=rule)
        return game, bot

    # Costs.

    def count_costs(self, game: EngineGame, bot: Bot) -> None:
        """Adds the costs of a game."""
        if not self._call_times:
            self.startup_s = max(self.startup_s, game.startup_s)
        self._call_times += [(max(0.0, call.wall_s - call.waited_s), call.method) for call in game.calls]
        self.peak_bytes = max(self.peak_bytes, bot.status().process.usage.peak_memory_bytes)

    def costs(self) -> Costs | None:
        """Returns the costs of all games; None if the bot answered no call."""
        if not self._call_times:
            return None
        time = self.request.time
        slowest_s, method = max(self._call_times)
        return Costs(
            startup_s=self.startup_s,
            calls=len(self._call_times),
            median_s=statistics.median(wall_s for wall_s, _ in self._call_times),
            max_s=slowest_s,
            max_method=method,
            limit_s=time.initial_s if time.per_call_s is None else time.per_call_s,
            peak_memory_bytes=self.peak_bytes,
            memory_bytes=self.limits.memory_bytes,
        )

    # Findings.

    def is_broken(self) -> bool:
        """Whether there is an error that would make the next rules fail too."""
        broken = {finding.rule for finding in self.findings if finding.level is Level.ERROR}
        return bool((broken | self.undecided) - {"exit"})

    def weighed(self, level: Level, text: str, rule: str, delay: Delay | None) -> tuple[Level, str]:
        """Returns the level and the text of a finding, with the machine's part in it."""
        if delay is None:
            return level, text
        if level is Level.ERROR:
            self.undecided.add(rule)
            level = Level.NOTE
        return level, f"{text}; {delay}"

    def report(
        self,
        level: Level,
        text: str,
        plan: GamePlan | None = None,
        game: EngineGame | None = None,
        stderr: tuple[str, ...] = (),
        rule: str = "",
    ) -> None:
        """Adds a finding for a rule, by default the one that is tried now, unless it is known already."""
        rule = rule or self.rule
        if any((finding.rule, finding.text) == (rule, text) for finding in self.findings):
            return
        method = None if game is None else game.method
        is_illegal = game is not None and game.fault is not None and game.fault.kind is FaultKind.ILLEGAL
        finding = Finding(
            rule=rule,
            level=level,
            text=text,
            seat=None if plan is None else plan.seat,
            call=None if game is None else len(game.calls),
            method=method,
            encoding=None if plan is None or len(plan.encodings) > 1 else plan.encodings[0],
            last_words=stderr,
            section=(is_illegal and method and self.game.methods[method].rules) or rule_named(rule).section,
        )
        tried = self.rule  # another rule may have found it
        self._add(finding, lambda origin: origin.check_command(self.request.seed, tried or rule))

    def report_fault(
        self, plan: GamePlan, game: EngineGame, bot: Bot, level: Level = Level.ERROR, prefix: str = ""
    ) -> None:
        """Adds a finding for the fault of a game, if it has one."""
        fault, rule = game.fault, self.rule
        if fault is None:
            return
        if plan.shadow and fault.kind is FaultKind.ILLEGAL:
            level = Level.NOTE
        if fault.kind is FaultKind.MEMORY:
            rule = "memory-limit"
        elif fault.kind is FaultKind.TIMEOUT and game.calls and rule in BASIC_RULES:
            rule = "time-limit"
        elif game.calls and rule in ("greets-json", "greets-msgpack") and fault.kind is not FaultKind.PROTOCOL:
            rule = "answers-every-call"  # the handshake itself was fine
        level, text = self.weighed(level, f"{prefix}{fault.kind}: {fault.detail}", rule, game.delay)
        self.report(level, text, plan, game, bot.status().process.last_lines, rule)

    def report_match(self, verdict: Verdict, seat: Player, rival: str) -> None:
        """Adds findings for the bot's faults in a whole match. RunError if a built-in opponent is at fault."""
        self.peak_bytes = max(self.peak_bytes, verdict.seats[seat].peak_memory_bytes)
        for fault in verdict.faults:
            if fault.player != seat:
                raise RunError(f"{fault.name} failed in seat {fault.player}: {fault.kind}: {fault.detail}")
            section = fault.rules if fault.kind is FaultKind.ILLEGAL else ""
            text = f"{fault.kind}: {fault.detail}; {fault.penalty} (match with seed {verdict.seed})"
            late = Delay(fault.wall_s, fault.waited_s) if fault.host_noise else None
            level, text = self.weighed(Level.ERROR, text, self.rule, late)
            finding = Finding(
                rule=self.rule,
                level=level,
                text=text,
                seat=seat,
                call=fault.call,
                method=fault.method,
                encoding=verdict.seats[seat].encoding,
                last_words=fault.last_words,
                section=section or None,
            )
            self._add(finding, lambda origin: origin.play_command(verdict, seat, rival))

    def _add(self, finding: Finding, command: Callable[[Origin], tuple[str, ...]]) -> None:
        """Adds a finding with its command and the lines of the bot's files that it mentions."""
        if (origin := self.request.origin) is not None:
            mentioned = places((*finding.text.split("\n"), *finding.last_words), origin.folder)
            finding = msgspec.structs.replace(finding, places=mentioned, command=command(origin))
        self.findings.append(finding)
