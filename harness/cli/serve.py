"""`referee serve`: the fronts of the original competitions."""

import os
import secrets
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any, Literal

import trio
from cyclopts import Parameter
from rich.text import Text

from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import Flag
from referee.harness.cli.screen import err, out
from referee.harness.cli.signals import run
from referee.harness.cli.units import seconds
from referee.harness.cli.view import lacking
from referee.harness.errors import UsageError
from referee.harness.match.play import Match
from referee.harness.replay.writer import claimed_folder
from referee.harness.seats.roster import Inside, in_processes
from referee.harness.servers.host_names import read_aliases

BIND = {"arena": "127.0.0.1:8080", "aibg": "127.0.0.1:8081"}


def serve(
    front: Literal["arena", "aibg"],
    *,
    bind: str | None = None,
    alias: Annotated[Sequence[str], Parameter(negative=())] = (),
    compat: Literal["seed", "original"] | None = None,
    allow: Annotated[Sequence[str], Parameter(negative=())] = (),
    test: Flag = False,
    workers: int = 1,
    replay: Path | None = None,
    no_replay: Flag = False,
    users: Path | None = None,
    secret: Path | None = None,
    token_time: str = "12h",
) -> int:
    """Plays matches with clients that were written for an original competition, over HTTP.

    Parameters
    ----------
    front
        arena: battles that a coordinator orders for a team's web service. aibg: games of AIBG for clients that log in.
    bind
        ADDRESS:PORT to listen on. Default: 127.0.0.1:8080 for the Arena, 127.0.0.1:8081 for AIBG.
    alias
        A host name by which clients call this server, or HOST:PORT for that port alone; may be given more than once.
    compat
        Of the Arena, where the competition's document and its server differ: seed (default) or original.
    allow
        Of the Arena, a host with teams or coordinators that may be called, or *; may be given more than once.
        Default: this machine.
    test
        Of the Arena, for tests of the original's own: the time is what requests say. Never in a contest.
    workers
        Of the Arena, how many processes share the battles, one a core at most. Each may have 2,000 battles and 2,000
        connections.
    replay
        The folder for the records, one a match. Default: a new one in ./replays.
    no_replay
        Keep no record.
    users
        Of AIBG, the file of users; `referee user` writes it.
    secret
        Of AIBG, a file of 64 bytes or more that tokens are signed with, so that they outlast this process.
        Default: drawn.
    token_time
        Of AIBG, how long a token is good for: 12h.
    """
    if no_replay and replay is not None:
        raise UsageError("--no-replay --replay: one of the two")
    others = (
        {"compat": compat, "allow": allow, "test": test, "workers": workers != 1}
        if front == "aibg"
        else {"users": users, "secret": secret, "token-time": token_time != "12h"}
    )
    for name, given in others.items():
        if given:
            raise UsageError(f"--{name} is an option of the other front")
    if test and workers != 1:
        raise UsageError("--test --workers: one of the two, as a test sets the time of one process")
    address, names = bind or BIND[front], tuple(read_aliases(alias))
    if front == "arena":
        with _folder(front, replay, no_replay) as folder:
            _arena(address, names, compat or "seed", tuple(allow), test, folder, workers)
        return PLAYED
    if users is None:
        raise UsageError("--users is needed: the file of those who may log in; `referee user` writes it")
    keeper = _keeper(users, secret, token_time)
    with _folder(front, replay, no_replay) as folder:
        run(_aibg, address, names, keeper, folder)
    return PLAYED


def user(
    name: str,
    *,
    users: Path,
    role: Literal["player", "admin", "viewer"] = "player",
    password_stdin: Flag = False,
) -> int:
    """Writes somebody who may log in to `referee serve aibg` into a file of users, and prints the password.

    Parameters
    ----------
    name
        The user's name. One of that name gets another password.
    users
        The file, which is made if it is not there. It holds no password, only what they are recognised by.
    role
        player: plays and trains. admin: makes games. viewer: has the password that viewers look with.
    password_stdin
        Take the password from standard input, and print none.
    """
    try:
        from referee.harness.servers.users import add_user
    except ImportError as error:
        raise lacking("referee user", error) from error
    password = sys.stdin.readline().rstrip("\n") if password_stdin else secrets.token_urlsafe(15)
    add_user(users, name, role, password)
    if not password_stdin:
        out.print(Text(password))
    return PLAYED


def _keeper(users: Path, secret: Path | None, token_time: str) -> Any:
    try:
        from referee.harness.servers.users import Gatekeeper, read_secret, read_users
    except ImportError as error:
        raise lacking("referee serve", error) from error
    token_s = seconds(token_time, "--token-time")
    if token_s is None:
        raise UsageError("--token-time none: tokens end")
    return Gatekeeper(read_users(users), read_secret(secret), token_s)


async def _aibg(bind: str, names: tuple[str, ...], keeper: Any, folder: Path | None) -> None:
    from referee.harness.servers.hosting import open_aibg

    async with open_aibg(bind, keeper, names, folder) as (address, _):
        _tell(address, "", folder)
        await trio.sleep_forever()


def _folder(front: str, replay: Path | None, no_replay: bool) -> AbstractContextManager[Path | None]:
    return nullcontext(replay) if replay is not None or no_replay else claimed_folder(front)


def _arena(
    bind: str,
    names: tuple[str, ...],
    compat: Any,
    allow: tuple[str, ...],
    test: bool,
    folder: Path | None,
    workers: int,
) -> None:
    try:
        from referee.harness.servers.arena.runs import Settings
        from referee.harness.servers.arena.workers import MOST, Crew, hired
        from referee.harness.servers.hosting import open_arena
        from referee.harness.servers.http import listening_at
    except ImportError as error:
        raise lacking("referee serve", error) from error
    if not 1 <= workers <= MOST:
        raise UsageError(f"--workers {workers}: wanted is 1 to {MOST}")
    settings = Settings(callback_token=os.environ.get("AUTH_TOKEN"), replays=folder)
    if allow:
        settings = Settings(frozenset(allow) | settings.allow, settings.callback_token, folder)
    listening = listening_at(bind)

    async def work(crew: Crew) -> None:
        async with open_arena(listening, settings, compat, names, test, crew) as (address, arena):
            if crew.number == 0:
                _tell(address, "".join(f" /{name}" for name in arena.games), folder)
            await trio.sleep_forever()

    with hired(workers, work) as crew:
        run(work, crew)


@asynccontextmanager
async def remote_seats(match: Match, bind: str) -> AsyncIterator[Inside]:
    """What makes the seats of web services, which find their battles at `bind`; without any, nothing listens."""
    if not any(entrant.remote for entrant in match.entrants):
        yield in_processes
        return
    try:
        from referee.harness.servers.arena.team import open_team_front
    except ImportError as error:
        raise lacking("a web service at a seat", error) from error
    async with open_team_front(bind, match.game) as (address, inside):
        err.print(Text(f"battles are at http://{address}", style="dim"))
        yield inside


def _tell(address: str, what: str, folder: Path | None) -> None:
    out.print(Text.assemble(("serving ", "bold"), f"http://{address}", (what, "dim")))
    if folder is not None:
        out.print(Text(f"replays  {folder}", style="dim"))
