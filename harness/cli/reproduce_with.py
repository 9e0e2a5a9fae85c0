"""The command line that plays a match again: options as they were given, without those that say the default."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from enum import Enum
from typing import Any

from referee.games.contract import Game
from referee.harness.cli.options import LimitOptions, RuleOptions, TimeOptions
from referee.protocol.messages import Encoding


def words(
    game: Game,
    groups: tuple[RuleOptions, TimeOptions, LimitOptions],
    game_options: Mapping[str, str],
    encoding: Encoding | None,
    chaos: bool,
) -> tuple[str, ...]:
    """The command for one match, without its seed and its bots."""
    found = ["referee", "--game", game.name]
    for group in groups:
        found += [
            word for field in fields(group) for word in _option(field.name, getattr(group, field.name), field.default)
        ]
    for name, value in game_options.items():
        found += [f"--{name}", value]
    found += [] if encoding is None else ["--encoding", encoding.value]
    return tuple(found + (["--chaos"] if chaos else []))


def _option(name: str, value: Any, default: Any) -> Iterator[str]:
    if value == default:
        return
    flag = f"--{name.replace('_', '-')}"
    if value is True:
        yield flag
        return
    for each in value if isinstance(value, list | tuple) else (value,):
        yield from (flag, each.value if isinstance(each, Enum) else str(each))
