"""`referee serve`: the servers of the original competitions."""

import os
import secrets
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal

import trio
from rich.text import Text

from referee.addons.web.cli.view import web_extra
from referee.addons.web.server.host_names import read_aliases
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import NO_REPLAY
from referee.harness.cli.screen import out, warn
from referee.harness.cli.signals import run
from referee.harness.cli.units import seconds
from referee.harness.common.errors import UsageError
from referee.harness.replay.writer import claim_folder

MAX_JOBS = 64
BIND = {"arena": "127.0.0.1:8080", "aibg": "127.0.0.1:8081"}


def serve(
    server: Literal["arena", "aibg"],
    *,
    bind: str | None = None,
    alias: Sequence[str] = (),
    compat: Literal["seed", "original"] | None = None,
    allow: Sequence[str] = (),
    coordinator: str | None = None,
    test: bool = False,
    replay: Path | None = None,
    access_log: Path | None = None,
    jobs: int = 1,
    users: Path | None = None,
    secret: Path | None = None,
    token_time: str = "12h",
) -> int:
    """Plays over HTTP with clients of an original contest.

    Args:
        server: arena: battles that a coordinator orders for a team's web service. aibg: games of AIBG for users who log
            in.
        bind: ADDRESS:PORT: where to listen. Default: 127.0.0.1:8080 for the Arena, 127.0.0.1:8081 for AIBG.
        alias: A host name under which clients call this server, or HOST:PORT for that port alone. Repeatable.
        compat: Arena: which rules apply where the competition's document and its server differ: seed (default) or
            original.
        allow: Arena: a host with teams or coordinators that may be called, or *. Repeatable. Default: this machine.
        coordinator: URL: Arena: the coordinator's address. Callbacks to it or below it get the environment variable
            AUTH_TOKEN as Authorization; no other address gets it.
        test: Arena: let requests set the time, for the original's own tests. Never use it in a contest.
        replay: The folder for the replays, one per match; none: write no replays. Default: a new folder in ./replays.
        access_log: The file that gets a line for each request: time, address, method, path, status, milliseconds.
        jobs: Arena: how many processes play battles. One plays hundreds; use more where its core is full.
        users: AIBG: the file of users, which `referee user` writes.
        secret: AIBG: a file of at least 64 bytes that signs tokens, so that they outlast this process. Default: random.
        token_time: AIBG: how long a token is valid.
    """
    foreign = (
        {"compat": compat, "allow": allow, "coordinator": coordinator, "test": test, "jobs": jobs != 1}
        if server == "aibg"
        else {"users": users, "secret": secret, "token-time": token_time != "12h"}
    )
    for name, value in foreign.items():
        if value:
            raise UsageError(f"--{name} is not an option of `referee serve {server}`; leave it out")
    if not 1 <= jobs <= MAX_JOBS:
        raise UsageError(f"--jobs {jobs}: expected 1 to {MAX_JOBS}")
    if test and jobs > 1:
        raise UsageError("--jobs cannot be combined with --test: requests set the time of one process")
    address, names = bind or BIND[server], tuple(read_aliases(alias))
    keeper = _keeper(users, secret, token_time) if server == "aibg" else None
    kept = None if replay == NO_REPLAY else replay
    with claim_folder(server) if replay is None else nullcontext(kept) as folder:
        if server == "arena":
            run(_arena, address, names, compat or "seed", frozenset(allow), coordinator, test, folder, access_log, jobs)
        else:
            run(_aibg, address, names, keeper, folder, access_log)
    return PLAYED


def user(
    name: str,
    *,
    users: Path,
    role: Literal["player", "admin", "viewer"] = "player",
    password_stdin: bool = False,
) -> int:
    """Adds a user for `referee serve aibg`.

    Prints the password.

    Args:
        name: The user's name. An existing user gets a new password.
        users: The file of users, created if missing. It contains hashes, not passwords.
        role: player: plays and trains. admin: creates games. viewer: has the password for viewers.
        password_stdin: Read the password from standard input and print nothing.
    """
    with web_extra("referee user"):
        from referee.addons.web.serving.users import add_user
    password = sys.stdin.readline().rstrip("\n") if password_stdin else secrets.token_urlsafe(15)
    add_user(users, name, role, password)
    if not password_stdin:
        out.print(password)
    return PLAYED


def _keeper(users: Path | None, secret: Path | None, token_time: str) -> Any:
    if users is None:
        raise UsageError("--users is required: the file of users who may log in; `referee user` writes it")
    with web_extra("referee serve"):
        from referee.addons.web.serving.users import Gatekeeper, read_secret, read_users
    token_s = seconds(token_time, "--token-time")
    if token_s is None:
        raise UsageError("--token-time none: expected a time such as 12h, since tokens must expire")
    return Gatekeeper(read_users(users), read_secret(secret), token_s)


async def _aibg(bind: str, names: tuple[str, ...], keeper: Any, folder: Path | None, log: Path | None) -> None:
    from referee.addons.aibg.aibg_routes import open_aibg

    async with open_aibg(bind, keeper, names, folder, access_log=log) as (address, _):
        _announce(address, "", folder)
        await trio.sleep_forever()


async def _arena(
    bind: str,
    names: tuple[str, ...],
    compat: Any,
    allow: frozenset[str],
    coordinator: str | None,
    test: bool,
    folder: Path | None,
    log: Path | None,
    jobs: int,
) -> None:
    with web_extra("referee serve"):
        from referee.addons.arena.arena_routes import open_arena
        from referee.addons.arena.callbacks import CallFailed, Coordinator
        from referee.addons.arena.runs import Settings
    token = os.environ.get("AUTH_TOKEN")
    if token is not None and coordinator is None:
        warn("AUTH_TOKEN is set, but goes to nobody; name the coordinator by --coordinator URL")
    try:
        known = None if coordinator is None else Coordinator(coordinator)
    except CallFailed as error:
        raise UsageError(f"--coordinator {coordinator}: {error}") from None
    settings = Settings(Settings().allow | allow, known, token, folder)
    async with open_arena(bind, settings, compat, names, test, log, jobs) as (address, arena):
        _announce(address, "".join(f" /{name}" for name in arena.games), folder)
        await trio.sleep_forever()


def _announce(address: str, paths: str, folder: Path | None) -> None:
    from referee.addons.web.guard import reachable

    host, _, port = address.rpartition(":")
    out.print(Text.assemble(("serving ", "bold"), f"http://{reachable(host.strip('[]'))}:{port}", (paths, "dim")))
    if folder is not None:
        out.print(f"replays  {folder}", style="dim")
