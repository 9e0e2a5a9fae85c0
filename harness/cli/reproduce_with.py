"""The command line that reproduces a match: the options that were typed and differ from their defaults."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from enum import Enum
from typing import Any

from referee.games.game import Game
from referee.harness.cli.options import LimitOptions, RuleOptions, TimeOptions
from referee.protocol.messages import Encoding


def match_command(
    game: Game,
    groups: tuple[RuleOptions, TimeOptions, LimitOptions],
    game_options: Mapping[str, str],
    encoding: Encoding | None,
    chaos: bool,
) -> tuple[str, ...]:
    """Returns the command for one match, without its seed and bots."""
    options = [(field.name, getattr(group, field.name), field.default) for group in groups for field in fields(group)]
    options += [(name, value, None) for name, value in game_options.items()]
    options += [("encoding", encoding, None), ("chaos", chaos, False)]
    return ("referee", "--game", game.name, *(word for option in options for word in _option(*option)))


def _option(name: str, value: Any, default: Any) -> Iterator[str]:
    if value == default:
        return
    flag = f"--{name.replace('_', '-')}"
    if value is True:
        yield flag
        return
    for each in value if isinstance(value, list | tuple) else (value,):
        yield from (flag, each.value if isinstance(each, Enum) else str(each))
