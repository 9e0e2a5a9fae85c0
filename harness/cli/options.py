"""The options that commands share, and what they mean.

A wrong option is a UsageError before anything is built or started.
"""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from cyclopts import Parameter

from referee.games import registry
from referee.games.game import Game, TimeControl
from referee.harness.cli.units import bank, count, seconds, size
from referee.harness.errors import NotIsolated, UsageError
from referee.harness.isolation import plan
from referee.harness.isolation.plan import Isolation
from referee.harness.match import maps, rule_options
from referee.harness.match.rule_options import checked_seed, option_names
from referee.harness.process.limits import Limits, OnNoise
from referee.harness.programs.bot_file import read_bot_file
from referee.harness.programs.spec import split_name

T = TypeVar("T")
GameName = Annotated[str, Parameter(help="The game's name.")]
GameOption = Annotated[str, Parameter(help="An option of the game's rules; `referee games` lists them.", group="Rules")]
Json = Annotated[bool, Parameter(help="Print only one JSON object on standard output.")]
Seed = Annotated[int | None, Parameter(help="The seed of all luck. Default: drawn and printed.")]
Strict = Annotated[bool, Parameter(help="Exit with 1 if a bot had a fault.")]
Verbose = Annotated[bool, Parameter(name=["--verbose", "-v"], help="Print every turn.")]

MAX_INTEGER = (1 << 31) - 1
"""The largest integer of a game's option: some bots have integers of 32 bits."""


class UnknownOption(UsageError):
    """An unknown option. `main` knows all options and suggests a similar one.

    `option` is what was typed, with its dashes; `rules` are the game's options, without dashes; `otherwise` is the
    advice if no option is similar.
    """

    def __init__(self, option: str, rules: Sequence[str], otherwise: str) -> None:
        super().__init__(f"there is no option {option}; {otherwise}")
        self.option, self.rules, self.otherwise = option, rules, otherwise


@Parameter(name="*", group="Rules")
@dataclass(frozen=True, kw_only=True)
class RuleOptions:
    """Options of the game's rules."""

    map: Annotated[str | None, Parameter(name=["--map", "-m"])] = None
    """A map file, or the name of an included map (`referee games` lists them), for games that have maps."""
    set: Sequence[str] = ()
    """KEY=VALUE, an option of the game's rules. May be repeated. --KEY VALUE does the same."""

    def options(self, game: Game, seats: int, game_options: Mapping[str, str]) -> Any:
        """Returns the game's options from `--set`, `--map` and `game_options`, such as `--rounds 300`.

        A value that is not JSON is text.
        """
        known = option_names(game)
        values: dict[str, Any] = {}
        for setting in self.set:
            key, equals, value = setting.partition("=")
            if not equals or key not in known:
                raise UsageError(f"--set {setting}: expected KEY=VALUE; options of {game.name}: {', '.join(known)}")
            values[key] = _value(value, f"--set {setting}")
        for name, value in game_options.items():
            values[name.replace("-", "_")] = _value(value, f"--{name} {value}")
        if self.map is not None:
            if "map" not in known:
                raise UsageError(f"--map {self.map}: {game.name} has no maps")
            values["map"] = maps.read(game.name, self.map)
        return rule_options.options(game, values, seats)


@Parameter(name="*", group="Time")
@dataclass(frozen=True, kw_only=True)
class TimeOptions:
    """Time limits."""

    call_time: str | None = None
    """The time limit of a call: 1s, 250ms, none. Default: the game's own."""
    opening_time: str | None = None
    """The time limit of a call in the opening, for games that allow more time there. none: as for later calls."""
    closing_time: str | None = None
    """The time limit of a call after the result, for games with such calls: 2s."""
    clock: str | None = None
    """A time bank for each bot and an increment for each answer in time, in seconds: 60+2, none. Default: the
    game's own."""

    def over(self, default: TimeControl) -> TimeControl:
        """Returns a time control, changed by these options."""
        changes: dict[str, float | None] = {}
        if self.clock is not None:
            changes["initial_s"], changes["increment_s"] = bank(self.clock, "--clock")
        for member, option, text in (
            ("per_call_s", "--call-time", self.call_time),
            ("opening_call_s", "--opening-time", self.opening_time),
            ("closing_call_s", "--closing-time", self.closing_time),
        ):
            if text is not None:
                changes[member] = seconds(text, option)
        if self.closing_time is not None and changes["closing_call_s"] is None:
            raise UsageError(f"--closing-time {self.closing_time}: a call after the result needs a limit")
        return msgspec.structs.replace(default, **changes)


@Parameter(name="*", group="Limits of a bot")
@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """Limits of a bot and of its build."""

    startup: str = "10s"
    """The time limit from the start of the process to its handshake."""
    memory: str = "256MiB"
    """The memory limit of a bot and its child processes: 256MiB, none."""
    cpu: str = "none"
    """The limit of CPU time in a game: 10s, none."""
    exit_time: str = "1s"
    """How long a bot may take to exit after its last match."""
    isolation: str = "auto"
    """How bots are isolated: off, auto (with every layer of this machine; see `referee doctor`), required (exit with 5
    if a layer is missing), required:NAME,NAME."""
    readable: Sequence[Path] = ()
    """Another file or folder that bots may read. May be repeated."""
    processes: str = "256"
    """How many processes a bot may have at a time: 256, none."""
    file_size: str = "64MiB"
    """The largest file that a bot may write: 64MiB, none."""
    scratch: str = "64MiB"
    """The size of all files in a bot's scratch folder, its HOME: 64MiB, none. It may hold 16,384 files and folders in
    any case."""
    frame_size: str = "1MiB"
    """The largest frame that a bot may send."""
    call_output: str = "4MiB"
    """How much a bot may write to standard output in one call."""
    stderr: str = "1MiB"
    """How much of a bot's standard error is kept in a match."""
    on_noise: OnNoise = OnNoise.CHARGE
    """How to treat a time-out caused by CPU contention, when the machine had no core for the bot: charge it, forgive
    the time without a core, or replay the match."""
    pause: bool = False
    """Stop a bot's processes while no call to it is open."""
    build_time: str = "10m"
    """The time limit of a build."""
    build_memory: str = "4GiB"
    """The memory limit of a build: 4GiB, none."""
    build_processes: str = "1024"
    """How many processes a build may have at a time: 1024, none."""
    build_offline: bool = False
    """Build without network access."""

    def limits(self) -> Limits:
        """Returns the limits in seconds and bytes."""
        return Limits(
            startup_s=_needed(seconds, self.startup, "--startup"),
            memory_bytes=size(self.memory, "--memory"),
            cpu_s=seconds(self.cpu, "--cpu"),
            processes=count(self.processes, "--processes"),
            frame_bytes=_needed(size, self.frame_size, "--frame-size"),
            call_output_bytes=_needed(size, self.call_output, "--call-output"),
            stderr_bytes=_needed(size, self.stderr, "--stderr"),
            file_bytes=size(self.file_size, "--file-size"),
            scratch_bytes=size(self.scratch, "--scratch"),
            exit_s=_needed(seconds, self.exit_time, "--exit-time"),
            isolation=isolation(self.isolation, self.readable),
            on_noise=self.on_noise,
            pause=self.pause,
            build_s=_needed(seconds, self.build_time, "--build-time"),
            build_memory_bytes=size(self.build_memory, "--build-memory"),
            build_processes=count(self.build_processes, "--build-processes"),
            build_network=not self.build_offline,
        )


def isolation(text: str, readable: Sequence[Path] = ()) -> Isolation:
    """Returns what `--isolation` asks for; NotIsolated if this machine lacks a required layer."""
    demanded = plan.isolation(text)
    for path in readable:
        if not path.exists():
            raise UsageError(f"--readable {path}: there is no such file or folder")
    if lines := plan.unmet(demanded):
        raise NotIsolated("\n".join([f"--isolation {text}: see `referee doctor` for what to do", *lines]))
    return msgspec.structs.replace(demanded, readable=tuple(str(path.absolute()) for path in readable))


def _needed(parse: Callable[[str, str], T | None], text: str, option: str) -> T:
    value = parse(text, option)
    if value is None:
        raise UsageError(f"{option} {text}: this limit cannot be switched off")
    return value


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SetupOptions:
    """The options that say how a match is played."""

    rules: RuleOptions = RuleOptions()
    times: TimeOptions = TimeOptions()
    limits: LimitOptions = LimitOptions()

    def resolved(self, game: Game, seats: int, game_options: Mapping[str, str]) -> tuple[Limits, TimeControl, Any]:
        """Returns the limits of a bot, the time control and the options of the rules."""
        check_game_options(game, game_options)
        return self.limits.limits(), self.times.over(game.time), self.rules.options(game, seats, game_options)

    def command(self, game: Game, game_options: Mapping[str, str], **more: Enum | bool | None) -> tuple[str, ...]:
        """Returns the command that plays one match with these options and `more`, without its seed and bots."""
        groups: tuple[Any, ...] = self.rules, self.times, self.limits
        options = [(each.name, value) for group in groups for each, value in given(group)]
        options += [*game_options.items(), *((name, value) for name, value in more.items() if value)]
        return ("referee", "--game", game.name, *(word for option in options for word in _typed(*option)))


def given(options: Any) -> Iterator[tuple[Any, Any]]:
    """Yields each field of a group of options that is not at its default, with its value."""
    for each in fields(options):
        if (value := getattr(options, each.name)) != each.default:
            yield each, value


def _typed(name: str, value: Any) -> Iterator[str]:
    """Yields the words of an option on a command line."""
    flag = f"--{name.replace('_', '-')}"
    if value is True:
        yield flag
        return
    for each in value if isinstance(value, list | tuple) else (value,):
        yield from (flag, each.value if isinstance(each, Enum) else str(each))


def find_game(name: str) -> Game:
    """Returns the game with this name; the UsageError for an unknown one suggests a name or lists all."""
    try:
        return registry.game(name)
    except KeyError as error:
        near = get_close_matches(name, registry.names(), 1)
        hint = f"unknown game {name!r}; did you mean {near[0]}?" if near else error.args[0]
        raise UsageError(hint) from error


def game_of(bots: Sequence[str], game: str | None) -> Game:
    """Returns the game of `--game`, or else of a bot's bot.toml; UsageError if there is neither."""
    if game is not None:
        return find_game(game)
    names = {name for name in map(_bot_game, bots) if name is not None}
    if len(names) > 1:
        raise UsageError(f"the bots are for {' and '.join(sorted(names))}; choose one with --game")
    if not names:
        raise UsageError(
            'no game is named: use --game GAME (`referee games` lists them), or game = "GAME" in a bot.toml'
        )
    return find_game(names.pop())


def path_of(spec: str) -> Path:
    """Returns the path of a bot spec, without the name before it."""
    return Path(split_name(spec)[1])


def _bot_game(spec: str) -> str | None:
    folder = path_of(spec).expanduser().resolve()
    return read_bot_file(folder, spec).game if (folder / "bot.toml").is_file() else None


def check_game_options(game: Game, game_options: Mapping[str, str]) -> None:
    """Raises UnknownOption for an option that the game does not have."""
    known = option_names(game)
    for name in game_options:
        if name.replace("-", "_") not in known:
            raise UnknownOption(f"--{name}", known, f"options of {game.name}: {', '.join(known)}")


def drawn(seed: int | None) -> int:
    """Returns the seed, or draws one of 64 bits, which no bot can guess. UsageError for a larger one."""
    return secrets.randbits(64) if seed is None else checked_seed(seed)


def _value(text: str, where: str) -> Any:
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        raise UsageError(f"{where}: expected a number up to {MAX_INTEGER}")
    return value
