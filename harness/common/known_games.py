"""Games and families of games by name, for every name that a user or a file may have wrong."""

import os
from collections.abc import Callable

from referee.games import registry
from referee.games.game import Family, Game
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.installed import extra_command


def typed_game(text: str, start: str = "") -> Game:
    """Returns the game that the user typed: by its name, or by the path of a folder, which has a `/` or is `.`.

    A relative path starts at the folder `start`.
    """
    is_path = os.sep in text or text in (".", "..") or text.startswith("~")
    return registry.in_folder(os.path.join(start, os.path.expanduser(text))) if is_path else find_game(text)


def typed_environment(text: str) -> Game:
    """As `typed_game`, also for a game for one player, which only environments for training play."""
    return find_game(text, registry.environment) if ":" in text else typed_game(text)


def find_game(name: str, find: Callable[[str], Game] = registry.game) -> Game:
    """Returns the game with this name, which a file may have wrong.

    RunError without its family's package, and for a broken game. The UsageError for an unknown name suggests one or
    lists all.
    """
    try:
        return find(name)
    except KeyError as error:
        near = _near(name)
        if near:
            raise UsageError(f"unknown game {name!r}; did you mean {near}?") from error
        raise UsageError(f"{error.args[0]}; `referee games install FOLDER` adds another") from error
    except registry.NotInstalled as error:
        raise _not_installed(error) from error
    except registry.BrokenGame as error:
        raise RunError(str(error)) from error


def not_here(name: str, version: int, rules: str, advice: str) -> UsageError:
    """Returns the refusal of what was made from a game whose rules, with this hash, are a program that is not here."""
    return UsageError(
        f"the game {name} (version {version}, rules {rules[:10]}…) is not on this machine; {advice}: `referee games "
        "install FOLDER` takes the game's folder, or the zip file in `rules/` of a tournament's folder"
    )


def _near(name: str) -> str | None:
    """Returns a name like this one; None for a game of a family, which suggests names itself."""
    from difflib import get_close_matches  # takes a moment, which only a mistake need spend

    prefix, colon, rest = name.partition(":")
    known = registry.families() if colon else [*registry.names(), *registry.families()]
    near = get_close_matches(prefix, known, 1)
    return None if prefix in known or not near else near[0] + colon + rest


def find_family(name: str) -> Family:
    """Returns the family of games with this name. KeyError if there is none, RunError without its package."""
    try:
        return registry.family(name)
    except registry.NotInstalled as error:
        raise _not_installed(error) from error


def _not_installed(error: registry.NotInstalled) -> RunError:
    return RunError(f"{error.name} needs {error.family.package}; to install it: {extra_command(error.family.extra)}")
