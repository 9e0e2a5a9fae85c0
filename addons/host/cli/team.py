"""`referee team`: a team's part in a hosted contest, without a browser."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from cyclopts import App, Parameter
from msgspec import Struct

from referee.addons.host.client import LOOK_S, Client, State
from referee.addons.host.remembered import contest_of
from referee.addons.host.team_answers import PracticeState, StandardError, TeamGame, TeamStatus, TeamVersion
from referee.harness.cli.exit_codes import AT_FAULT, PLAYED
from referee.harness.cli.options import NOT_NEGATIVE, POSITIVE, check_seed
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import out, progress
from referee.harness.common.errors import UsageError, writing
from referee.harness.common.paths import REPLAYS, make_folder, replace_file

MOST_BYTES = 300 << 20
"""Of a file that is fetched."""
PRACTICE = "practice-"
"""Begins the names of practice games."""

Version = Annotated[int, Parameter(validator=POSITIVE)]

team_app = App(name="team", help="Shows and changes your part in a contest: the team's page without a browser.")
team_app.command("referee.addons.host.cli.team_analyse:analyse", name="analyse")


@Parameter(name="*", group="Contest")
@dataclass(frozen=True, kw_only=True)
class Where:
    """Which contest, and which bot."""

    bot: Path = Path()
    """FOLDER: the bot's folder, for which `referee submit` remembers the contest. Default: this one."""
    to: str | None = None
    """URL: the contest's address, with the token in REFEREE_TOKEN. Default: the one of the bot's folder."""

    @property
    def client(self) -> Client:
        """Speaks to the contest."""
        found = contest_of(self.bot, self.to)
        return Client(found.address, found.token)


class _Asked(Struct, frozen=True):
    game: int


def _print(*parts: object) -> None:
    out.print(printable("  ".join(str(each) for each in parts if each != "")))


@team_app.command
def status(*, where: Where = Where()) -> int:
    """Prints which version plays, its place, what is to come."""
    found = where.client.got("/team/status", TeamStatus)
    _print(f"{found.team}:" if found.state == "active" else f"{found.team} ({found.state}):", found.text)
    _print("version", "none" if found.version is None else found.version)
    _print("uploads", found.uploads)
    for each in found.deadlines:
        _print(each)
    return PLAYED


@team_app.command
def versions(*, where: Where = Where()) -> int:
    """Prints your team's versions, newest first."""
    for each in where.client.got("/team/versions", list[TeamVersion]):
        _print(f"{each.version:3}", f"{each.state:9}", each.handed_in, each.reason, each.note)
    return PLAYED


@team_app.command
def games(*, lost: bool = False, day: str | None = None, where: Where = Where()) -> int:
    """Prints your last rated games with their names.

    Args:
        lost: Only those in which another bot finished ahead.
        day: DATE such as 2026-11-27: fetch the replays of all games that ended on that day (UTC) as one zip instead.
    """
    client = where.client
    if day is not None:
        if lost:
            raise UsageError("--day fetches all games of the day; leave --lost out")
        out.print(str(_saved(client, f"/team/days/{quote(day, safe='')}.zip", f"games-{_plain(day)}.zip")))
        return PLAYED
    for each in client.got("/team/games", list[TeamGame]):
        if each.is_lost or not lost:
            _print(each.ended, f"seat {each.seat}", f"against {each.rivals}:", each.result, each.name)
    return PLAYED


@team_app.command
def replay(game: str, *, where: Where = Where()) -> int:
    """Fetches a game's replay with your bot's standard error. `referee replay`, `repro` and `fork` take the file.

    Args:
        game: The name that `referee team games` prints, or practice-N.
    """
    out.print(str(fetched_replay(where.client, game)))
    return PLAYED


def fetched_replay(client: Client, game: str) -> Path:
    """Writes the replay of a game into the folder of replays, and returns its path."""
    number = game.removeprefix(PRACTICE)
    is_practice = game.startswith(PRACTICE) and number.isdecimal()
    path = f"/team/practice/{number}/replay" if is_practice else f"/team/games/{quote(game, safe='')}.jsonl.gz"
    return _saved(client, path, f"{_plain(game)}.jsonl.gz")


@team_app.command
def stderr(version: Version, *, where: Where = Where()) -> int:
    """Prints a version's faults and its standard error. Only your team sees it."""
    found = where.client.got(f"/team/versions/{version}/stderr", list[StandardError])
    for each in found:
        _print(each.fault, each.name)
        for line in each.lines:
            out.print(printable(line), style="dim")
    if not found:
        _print(f"version {version} has no faults")
    return PLAYED


@team_app.command
def use(version: Version, *, where: Where = Where()) -> int:
    """Lets another accepted version play."""
    state = where.client.posted(f"/team/versions/{version}/play", State)
    _print(f"version {state.version} plays")
    return PLAYED


@team_app.command
def practice(
    rival: str,
    *,
    seat: Annotated[int, Parameter(validator=NOT_NEGATIVE)] = 0,
    seed: Annotated[int | None, Parameter(validator=check_seed)] = None,
    version: Annotated[int | None, Parameter(validator=POSITIVE)] = None,
    map_: Annotated[str, Parameter(name="--map")] = "",
    set_: Annotated[Sequence[str], Parameter(name="--set")] = (),
    no_wait: bool = False,
    where: Where = Where(),
) -> int:
    """Plays a practice game and fetches its replay. It counts for nobody.

    Exit codes: 0 played, 1 it could not be played.

    Args:
        rival: A bot of the contest, or a built-in one such as @random.
        seat: Your bot's seat.
        seed: Default: drawn.
        version: Your version. Default: the one that plays.
        map_: NAME: a map of the game. Default: the contest's.
        set_: NAME=VALUE: an option of the rules. Repeatable. Default: the contest's.
        no_wait: Do not wait for the game.
    """
    client = where.client
    fields = {"rival": rival, "seat": str(seat), "seed": "" if seed is None else str(seed), "map": map_}
    fields |= {"version": "" if version is None else str(version), "options": "\n".join(set_)}
    number = client.posted("/team/practice", _Asked, **fields).game
    name = f"{PRACTICE}{number}"
    if no_wait:
        _print(f"{name} is asked for; `referee team replay {name}` fetches it")
        return PLAYED
    with progress() as show:
        while (state := client.got(f"/team/practice/{number}/state", PracticeState)).status in ("waiting", "playing"):
            show(f"{name}: {printable(state.status)}")
            time.sleep(LOOK_S)
    _print(f"{name}:", state.result)
    if not state.has_replay:
        return AT_FAULT if state.status != "played" else PLAYED
    out.print(str(fetched_replay(client, name)))
    return PLAYED


def _plain(name: str) -> str:
    """Returns a name that can be a file's. UsageError for another."""
    if not all(letter.isalnum() or letter in "-_~." for letter in name) or not name.strip("."):
        raise UsageError(f"{name[:60]!r}: expected a name that `referee team games` prints")
    return name


def _saved(client: Client, path: str, file: str) -> Path:
    """Writes a file of the contest into the folder of replays, and returns its path."""
    content = client.fetched(path, MOST_BYTES)
    with writing(REPLAYS):
        make_folder(REPLAYS)
        replace_file(REPLAYS / file, content)
    return REPLAYS / file
