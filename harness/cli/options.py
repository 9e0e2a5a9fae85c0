"""The options that commands share: what a user writes, and what it means to the referee.

Whatever is wrong with them is a UsageError, found before anything is built or started.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter

from referee.games import registry
from referee.games.contract import Game, TimeControl
from referee.harness.cli.units import seconds, size, time_control
from referee.harness.errors import NotIsolated, UsageError
from referee.harness.isolation import plan
from referee.harness.isolation.plan import Isolation
from referee.harness.match import maps, rule_options
from referee.harness.match.rule_options import checked_seed, option_names
from referee.harness.process.limits import Limits, OnNoise
from referee.harness.programs.spec import bot_file, split_name

Flag = Annotated[bool, Parameter(negative=())]

MAX_INTEGER = (1 << 31) - 1
"""Of an option: bots read it in languages whose integers have 32 bits."""
MOST_PROCESSES = 1 << 22
"""Linux numbers no more than so many."""


class UnknownOption(UsageError):
    """There is no such option. Which one may have been meant is found where all are known, in `main`."""

    def __init__(self, option: str, rules: Sequence[str], otherwise: str) -> None:
        super().__init__(f"there is no option {option}; {otherwise}")
        self.option = option
        """As it was written, with its dashes."""
        self.rules = rules
        """The names that options of the rules may have here, without dashes."""
        self.otherwise = otherwise
        """What to say when none is near."""


@Parameter(name="*", group="Rules")
@dataclass(frozen=True, kw_only=True)
class RuleOptions:
    """What the game's rules leave open."""

    map: Annotated[str | None, Parameter(name=["--map", "-m"])] = None
    """A file with a map, or the name of one that comes along (`referee games` lists them), for games that have one."""
    set: Annotated[Sequence[str], Parameter(negative=())] = ()
    """KEY=VALUE, an option of the game's rules; may be given more than once. Or as an option itself: --KEY VALUE."""

    def options(self, game: Game, seats: int, game_options: Mapping[str, str]) -> Any:
        """The game's options from KEY=VALUE, from `game_options` (those that were written as options themselves,
        `--rounds 300`) and the content of a map. A value is JSON, or else text."""
        known = option_names(game)
        given: dict[str, Any] = {}
        for setting in self.set:
            key, equals, value = setting.partition("=")
            if not equals or key not in known:
                raise UsageError(f"--set {setting}: wanted is KEY=VALUE; options of {game.name}: {', '.join(known)}")
            given[key] = _value(value, f"--set {setting}")
        for name, value in game_options.items():
            given[name.replace("-", "_")] = _value(value, f"--{name} {value}")
        if self.map is not None:
            if "map" not in known:
                raise UsageError(f"--map {self.map}: {game.name} has no maps")
            given["map"] = maps.read(game.name, self.map)
        return rule_options.options(game, given, seats)


@Parameter(name="*", group="Time")
@dataclass(frozen=True, kw_only=True)
class TimeOptions:
    """How long a bot may think."""

    call_time: str | None = None
    """The limit of one call: 1s, 250ms, none. Default: the game's own."""
    opening_time: str | None = None
    """The limit of one call in the opening, for games that grant more time there; none: the same as later."""
    closing_time: str | None = None
    """The limit of a call after the result, for games that have such calls: 2s."""
    clock: str | None = None
    """A time bank for each bot, in seconds, and what every answer in time adds to it: 60+2, none. Default: the
    game's own."""

    def time(self, game: Game) -> TimeControl:
        """The game's own time control with what was asked for in its place."""
        return time_control(game.time, self.clock, self.call_time, self.opening_time, self.closing_time)


@Parameter(name="*", group="Limits of a bot")
@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """What a bot may use."""

    startup: str = "10s"
    """The limit of start-up, from the start of the process to its greeting."""
    memory: str = "256MiB"
    """What a bot with everything that it starts may hold: 256MiB, none."""
    cpu: str = "none"
    """CPU time that a bot may use in one game: 10s, none."""
    exit_time: str = "1s"
    """How long a bot may take to end by itself after its last match."""
    isolation: str = "auto"
    """What keeps bots apart: off, auto (whatever this machine has; `referee doctor` tells), required (or exit with 5),
    required:NAME,NAME."""
    readable: Annotated[Sequence[Path], Parameter(negative=())] = ()
    """A file or folder that bots may read beside the system and their own; may be given more than once."""
    processes: str = "256"
    """How many processes of a bot may live at a time: 256, none."""
    file_size: str = "64MiB"
    """How large a file may become that a bot writes: 64MiB, none."""
    scratch: str = "64MiB"
    """How much all files in a bot's scratch folder, its HOME, may hold together: 64MiB, none. It may contain
    16,384 files and folders in any case."""
    frame_size: str = "1MiB"
    """How long one frame of a bot may be."""
    call_output: str = "4MiB"
    """How much a bot may write to standard output in one call."""
    stderr: str = "1MiB"
    """How much of a bot's standard error is kept."""
    on_noise: OnNoise = OnNoise.CHARGE
    """What becomes of a late call for which the machine had no core: charge it, forgive the time that it waited, or
    replay the match."""
    pause: Annotated[bool, Parameter(negative=())] = False
    """Stop bots while no call to them is open."""
    build_time: str = "10m"
    """The limit of one build."""
    build_memory: str = "4GiB"
    """What everything that a build starts may hold: 4GiB, none."""
    build_processes: str = "1024"
    """How many processes of a build may live at a time: 1024, none."""
    build_offline: Annotated[bool, Parameter(negative=())] = False
    """Builds have no network."""

    def limits(self) -> Limits:
        """In seconds and bytes."""
        return Limits(
            startup_s=_bounded(self.startup, "--startup"),
            memory_bytes=size(self.memory, "--memory"),
            cpu_s=seconds(self.cpu, "--cpu"),
            processes=_count(self.processes, "--processes"),
            frame_bytes=_needed(self.frame_size, "--frame-size"),
            call_output_bytes=_needed(self.call_output, "--call-output"),
            stderr_bytes=_needed(self.stderr, "--stderr"),
            file_bytes=size(self.file_size, "--file-size"),
            scratch_bytes=size(self.scratch, "--scratch"),
            exit_s=_bounded(self.exit_time, "--exit-time"),
            isolation=isolation(self.isolation, self.readable),
            on_noise=self.on_noise,
            pause=self.pause,
            build_s=_bounded(self.build_time, "--build-time"),
            build_memory_bytes=size(self.build_memory, "--build-memory"),
            build_processes=_count(self.build_processes, "--build-processes"),
            build_network=not self.build_offline,
        )


def isolation(text: str, readable: Sequence[Path] = ()) -> Isolation:
    """What `--isolation` asks for. NotIsolated if it is required and this machine does not have it."""
    demanded = plan.isolation(text)
    for path in readable:
        if not path.exists():
            raise UsageError(f"--readable {path}: there is no such file or folder")
    if lines := plan.unmet(demanded):
        raise NotIsolated("\n".join([f"--isolation {text}: `referee doctor` tells what to do", *lines]))
    return msgspec.structs.replace(demanded, readable=tuple(str(path.absolute()) for path in readable))


def _bounded(text: str, option: str) -> float:
    found = seconds(text, option)
    if found is None:
        raise UsageError(f"{option} {text}: that needs a limit")
    return found


def _needed(text: str, option: str) -> int:
    found = size(text, option)
    if found is None:
        raise UsageError(f"{option} {text}: that needs a limit")
    return found


def _count(text: str, option: str) -> int | None:
    if text == "none":
        return None
    if not text.isascii() or not text.isdigit() or not 1 <= float(text) <= MOST_PROCESSES:
        raise UsageError(f"{option} {text}: wanted is a whole number from 1 to {MOST_PROCESSES}, or none")
    return int(text)


def find_game(name: str) -> Game:
    """The game of that name; UsageError lists those that there are, or names the one that may have been meant."""
    try:
        return registry.game(name)
    except KeyError as error:
        near = get_close_matches(name, registry.names(), 1)
        hint = f"unknown game {name!r}; did you mean {near[0]}?" if near else error.args[0]
        raise UsageError(hint) from error


def game_of(bots: Sequence[str], game: str | None) -> Game:
    """The game that was named, or else the one that a bot's bot.toml names. UsageError if there is neither."""
    if game is not None:
        return find_game(game)
    named = {name for name in map(_own_game, bots) if name is not None}
    if len(named) > 1:
        raise UsageError(f"the bots are for {' and '.join(sorted(named))}; --game says what is played")
    if not named:
        raise UsageError('needs --game GAME; `referee games` lists them (or game = "GAME" in a bot.toml)')
    return find_game(named.pop())


def path_of(spec: str) -> Path:
    """Where a bot should be that is named by its path, with a name of its own before it or without."""
    return Path(split_name(spec)[1])


def _own_game(spec: str) -> str | None:
    folder = path_of(spec).expanduser().resolve()
    return bot_file(folder, spec).game if (folder / "bot.toml").is_file() else None


def check_game_options(game: Game, game_options: Mapping[str, str]) -> None:
    """UnknownOption for an option that is none of ours and none of the game's: most often a slip."""
    known = option_names(game)
    for name in game_options:
        if name.replace("-", "_") not in known:
            raise UnknownOption(f"--{name}", known, f"options of {game.name}: {', '.join(known)}")


def drawn(seed: int | None) -> int:
    """The seed that was asked for, or one of our own: so large that no bot can find it by trying seeds in turn.
    UsageError for one beyond 64 bits."""
    return secrets.randbits(64) if seed is None else checked_seed(seed)


def _value(text: str, where: str) -> Any:
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        raise UsageError(f"{where}: wanted is a number up to {MAX_INTEGER}")
    return value
