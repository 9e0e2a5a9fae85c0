"""`referee serve aibg` and `referee serve user`: AIBG's server, and its users."""

import secrets
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal

import trio

from referee.addons.web.cli.view import web_extra
from referee.addons.web.server.host_names import read_aliases
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import NO_REPLAY
from referee.harness.cli.screen import out
from referee.harness.cli.signals import run
from referee.harness.cli.units import seconds
from referee.harness.common.errors import UsageError
from referee.harness.replay.writer import claim_folder


def serve_aibg(
    *,
    users: Path,
    bind: str = "127.0.0.1:8081",
    alias: Sequence[str] = (),
    replay: Path | None = None,
    access_log: Path | None = None,
    secret: Path | None = None,
    token_time: str = "12h",
) -> int:
    """Plays games of AIBG for users who log in.

    Args:
        users: The file of users, which `referee serve user` writes.
        bind: ADDRESS:PORT: where to listen.
        alias: A host name under which clients call this server, or HOST:PORT for that port alone. Repeatable.
        replay: The folder for the replays, one per match; none: write no replays. Default: a new folder in ./replays.
        access_log: The file that gets a line for each request: time, address, method, path, status, milliseconds.
        secret: A file of at least 64 bytes that signs tokens, so that they outlast this process. Default: random.
        token_time: How long a token is valid.
    """
    keeper, kept = _keeper(users, secret, token_time), None if replay == NO_REPLAY else replay
    with claim_folder("aibg") if replay is None else nullcontext(kept) as folder:
        run(_aibg, bind, tuple(read_aliases(alias)), keeper, folder, access_log)
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
    with web_extra("referee serve user"):
        from referee.addons.aibg.users import add_user
    password = sys.stdin.readline().rstrip("\n") if password_stdin else secrets.token_urlsafe(15)
    add_user(users, name, role, password)
    if not password_stdin:
        out.print(password)
    return PLAYED


def _keeper(users: Path, secret: Path | None, token_time: str) -> Any:
    with web_extra("referee serve"):
        from referee.addons.aibg.users import Gatekeeper, read_secret, read_users
    token_s = seconds(token_time, "--token-time")
    if token_s is None:
        raise UsageError("--token-time none: expected a time such as 12h, since tokens must expire")
    return Gatekeeper(read_users(users), read_secret(secret), token_s)


async def _aibg(bind: str, names: tuple[str, ...], keeper: Any, folder: Path | None, log: Path | None) -> None:
    from referee.addons.aibg.aibg_routes import open_aibg
    from referee.addons.web.cli.serving import announce

    async with open_aibg(bind, keeper, names, folder, access_log=log) as (address, _):
        announce(address, "", folder)
        await trio.sleep_forever()
