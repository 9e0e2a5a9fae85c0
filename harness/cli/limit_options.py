"""The limits of a bot and of its build: options for those that people use, `--limit` and `--build` for the others."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from cyclopts import Parameter
from msgspec import Struct

from referee.games.game import TimeControl
from referee.harness.cli.screen import warn
from referee.harness.cli.units import bank, count, fuel, seconds, size
from referee.harness.common.errors import NotIsolated, UsageError
from referee.harness.isolation import plan
from referee.harness.isolation.plan import Isolation
from referee.harness.process.limits import Limits, OnNoise

T = TypeVar("T")
Parse = Callable[[str, str], Any]
"""Parses a text; the second argument is the option, for the message of a UsageError."""


class Named(Struct, frozen=True):
    """A limit that `--limit NAME=VALUE` or `--build NAME=VALUE` sets."""

    name: str
    default: str
    """As it is typed; empty if the game decides or if there is none."""
    text: str
    """The explanation in the help."""
    parse: Parse
    member: str
    """The member of `Limits` or of `TimeControl` that it sets."""


def _needed(parse: Callable[[str, str], T | None]) -> Callable[[str, str], T]:
    """Returns a parser that refuses `none`."""

    def parsed(text: str, option: str) -> T:
        value = parse(text, option)
        if value is None:
            raise UsageError(f"{option} {text}: expected a value, since this limit cannot be switched off")
        return value

    return parsed


def _switch(text: str, option: str, *, inverted: bool = False) -> bool:
    if text not in ("true", "false"):
        raise UsageError(f"{option} {text}: expected true or false")
    return (text == "true") is not inverted


def _on_or_off(text: str, option: str) -> bool:
    if text not in ("on", "off"):
        raise UsageError(f"{option} {text}: expected on or off")
    return text == "on"


def _on_noise(text: str, option: str) -> OnNoise:
    try:
        return OnNoise(text)
    except ValueError:
        raise UsageError(f"{option} {text}: expected {', '.join(OnNoise)}") from None


def _path(text: str, option: str) -> Path:
    if not Path(text).exists():
        raise UsageError(f"{option} {text}: there is no such file or folder")
    return Path(text)


TIMES = (
    Named("opening_time", "", "The time limit of a call in the opening, for games that allow more time there.", seconds,
          "opening_call_s"),
    Named("closing_time", "", "The time limit of a call after the result, for games with such calls.",
          _needed(seconds), "closing_call_s"),
)  # fmt: skip
READABLE = Named("readable", "", "Another file or folder that bots may read. May be repeated.", _path, "readable")
LIMITS = (
    Named("startup", "10s", "The time limit from the start of the process to its handshake.", _needed(seconds),
          "startup_s"),
    Named("exit_time", "1s", "How long a bot may take to exit after its last match.", _needed(seconds), "exit_s"),
    Named("fuel", "none", "How much fuel a metered bot may use in one call: 50M, 2G. Its limits of time hold too.",
          fuel, "fuel"),
    Named("processes", "256", "How many processes a bot may have at a time.", count, "processes"),
    Named("file_size", "64MiB", "The largest file that a bot may write.", size, "file_bytes"),
    Named("scratch", "64MiB", "The size of all files in a bot's scratch folder, its HOME. The folder may hold 16,384 "
          "files and folders in any case.", size, "scratch_bytes"),
    Named("frame_size", "1MiB", "The largest frame that a bot may send.", _needed(size), "frame_bytes"),
    Named("call_output", "4MiB", "How much a bot may write to standard output in one call.", _needed(size),
          "call_output_bytes"),
    Named("stderr", "1MiB", "How much of a bot's standard error is kept in a match.", _needed(size), "stderr_bytes"),
    Named("on_noise", "charge", "How to treat a time-out caused by CPU contention, when the machine had no core for "
          "the bot: charge it, forgive the time without a core, or replay the match.", _on_noise, "on_noise"),
    Named("model_clock", "off", "on: charge the time that the service of a language model takes.", _on_or_off,
          "model_clock"),
    Named("pause", "false", "true: stop a bot's processes while no call to it is open.", _switch, "pause"),
)  # fmt: skip
BUILDS = (
    Named("time", "10m", "The time limit of a build.", _needed(seconds), "build_s"),
    Named("memory", "4GiB", "The memory limit of a build.", size, "build_memory_bytes"),
    Named("processes", "1024", "How many processes a build may have at a time.", count, "build_processes"),
    Named("disk", "8GiB", "How much space on the disk a build may take, also for what it keeps in caches.", size,
          "build_disk_bytes"),
    Named("offline", "false", "true: build without network access.", partial(_switch, inverted=True), "build_network"),
)  # fmt: skip
NAMES = {"--limit": (*TIMES, READABLE, *LIMITS), "--build": BUILDS}
"""What each option takes, by its flag."""
OPTIONS: dict[str, Parse] = {
    "call_time": seconds,
    "clock": bank,
    "memory": size,
    "cpu": seconds,
    "isolation": plan.isolation,
}
"""The limits with an option of their own, as a file names them."""


@Parameter(name="*", group="Limits")
@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """Limits of a bot's time and resources, and of its build."""

    call_time: str | None = None
    """TIME: the limit of a call: 1s, 250ms, none. Default: the game's own."""
    clock: str | None = None
    """BANK: a time bank for each bot and an increment for each answer in time, in seconds: 60+2, none. 40/60 gives 60 s
    for every 40 answers, and 40/60:30 then 30 s for the rest. A bank replaces the game's limit of a call. Default: the
    game's own."""
    memory: str = "256MiB"
    """SIZE: the memory limit of a bot and its child processes: 256MiB, none."""
    cpu: str = "none"
    """TIME: the limit of CPU time in a game: 10s, none."""
    isolation: str = "auto"
    """How bots are isolated: off, auto (with every layer of this machine; see `referee doctor`), required (exit with 5
    if a layer is missing), required:NAME,NAME."""
    limit: Sequence[str] = ()
    """NAME=VALUE: another limit, such as startup=20s. May be repeated."""
    build: Sequence[str] = ()
    """NAME=VALUE: a limit of the build, such as time=2m. May be repeated."""

    def limits(self) -> Limits:
        """Returns the limits in seconds and bytes. NotIsolated if this machine lacks a required layer."""
        given = _given(self.limit, "--limit")
        members: dict[str, Any] = {each.member: _parsed(each, given, "--limit") for each in LIMITS}
        built = _given(self.build, "--build")
        members |= {each.member: _parsed(each, built, "--build") for each in BUILDS}
        readable = [_named(READABLE, text, "--limit") for text in given.get(READABLE.name, ())]
        return Limits(
            memory_bytes=size(self.memory, "--memory"),
            cpu_s=seconds(self.cpu, "--cpu"),
            isolation=isolation(self.isolation, readable),
            **members,
        )

    def time(self, default: TimeControl) -> TimeControl:
        """Returns a time control, changed by these options."""
        changes: dict[str, Any] = {}
        if self.clock is not None:
            changes |= bank(self.clock, "--clock")
            if changes["initial_s"] is not None:  # a bank replaces the game's own limits of a call
                changes |= {"per_call_s": None, "opening_call_s": None}
        if self.call_time is not None:
            changes["per_call_s"] = seconds(self.call_time, "--call-time")
        given = _given(self.limit, "--limit")
        changes |= {each.member: _parsed(each, given, "--limit") for each in TIMES if each.name in given}
        return msgspec.structs.replace(default, **changes)


def isolation(text: str, readable: Iterable[Path] = ()) -> Isolation:
    """Returns what `--isolation` asks for; NotIsolated if this machine lacks a required layer.

    Warns if no layer keeps bots apart because the sandbox launcher is missing.
    """
    demanded = plan.isolation(text)
    if lines := plan.unmet(demanded):
        raise NotIsolated("\n".join([f"--isolation {text}: see `referee doctor` for what to do", *lines]))
    if warning := plan.warning(demanded):
        warn(warning)
    return msgspec.structs.replace(demanded, readable=tuple(str(path.absolute()) for path in readable))


def check_in_file(name: str, text: str, option: str, place: str) -> None:
    """Raises UsageError for an unknown name or a wrong value in a file. `place` is `FILE: [limits]`."""
    known = {each.name: each.parse for each in NAMES[option]} | (OPTIONS if option == "--limit" else {})
    if name not in known:
        near = get_close_matches(name.replace("-", "_"), known, 1)
        advice = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(known)}"
        raise UsageError(f"{place} {name}: there is no limit {name!r}; {advice}")
    _named_as(known[name], name, text, place)


def _given(texts: Sequence[str], option: str) -> dict[str, list[str]]:
    """Returns the values of `NAME=VALUE` by name. UsageError for an unknown name."""
    values: dict[str, list[str]] = {}
    names = [each.name for each in NAMES[option]]
    for text in texts:
        name, equals, value = text.partition("=")
        if name not in names:
            near = get_close_matches(name.replace("-", "_"), names, 1)
            advice = f"did you mean {near[0]}?" if near else f"expected NAME=VALUE with one of {', '.join(names)}"
            if option == "--limit" and name in ("call_time", "clock", "memory", "cpu", "isolation"):
                advice = f"use --{name.replace('_', '-')}"
            raise UsageError(f"{option} {text}: there is no limit {name!r}; {advice}")
        if not equals:
            raise UsageError(f"{option} {text}: expected {name}=VALUE")
        values.setdefault(name, []).append(value)
    return values


def _parsed(limit: Named, given: dict[str, list[str]], option: str) -> Any:
    """Returns the last value given for a limit, or its default."""
    return _named(limit, given.get(limit.name, [limit.default])[-1], option)


def _named(limit: Named, text: str, option: str) -> Any:
    return _named_as(limit.parse, limit.name, text, option)


def _named_as(parse: Parse, name: str, text: str, option: str) -> Any:
    """Parses a value whose message has to show it as `NAME=VALUE`."""
    try:
        return parse(text, option)
    except UsageError as error:
        raise UsageError(str(error).replace(f"{option} ", f"{option} {name}=", 1)) from error
