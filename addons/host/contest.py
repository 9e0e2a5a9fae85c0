"""Runs a contest: the web process, the play process, and the queue of checks. Each goes on if another one ends.

Everything that matters is in files at once: the database, the ledger, uploads and the tournament's plan. So ending the
process, or killing it, loses nothing.
"""

import socket
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from subprocess import DEVNULL, PIPE

import msgspec
import trio

from referee.addons.host import finals, mail, teams
from referee.addons.host.first_bots import obstacles
from referee.addons.host.mail import MailSettings
from referee.addons.host.play import PlaySettings
from referee.addons.host.settings import WebSettings
from referee.addons.host.store import FILE, Store
from referee.addons.host.submissions import OPTIONS, UPLOADS, Queue, remove_strays
from referee.addons.host.versions import Version
from referee.addons.tournament.intake.intake import Written
from referee.addons.tournament.plan import Plan, open_rules, read_plan, write_plan
from referee.addons.tournament.store.ledger import PLAN, claimed, make_tournament_folder
from referee.addons.tournament.store.reader import has_games
from referee.harness.common import threads
from referee.harness.common.errors import UsageError, writing
from referee.harness.common.known_games import find_game
from referee.harness.common.nurseries import ungrouped
from referee.harness.common.paths import cache_folder, close_to_others
from referee.harness.isolation.probe import probe

HOST_LOCK = ".host-lock"
AGAIN_S = (0.2, 1.0, 5.0, 30.0)
"""How long to wait before a process is started again, the more often it has ended at once."""
STEADY_S = 60.0
WEB_END_S = 3.0
PLAY_END_S = 15.0
"""How long the play process may take for its last games."""
PLAY = "referee.addons.host.play_process"
WEB = "referee.addons.host.web_process"

Note = Callable[[str], None]


def opened(folder: Path, plan: Plan | None, options: tuple[str, ...]) -> Store:
    """Opens the folder of a contest, or makes it for a plan without bots.

    `options`: of the check, as `referee check` takes them without `--game`. UsageError if there is no contest and no
    plan, if another plan is there already, or if a part of the contest is missing.
    """
    _check_whole(folder)
    known = (folder / PLAN).exists()
    if known and plan is not None and (folder / FILE).exists():
        raise UsageError(f"{folder} holds a contest already; `referee host {folder}` continues it, without options")
    if not known and plan is None:
        raise UsageError(f"{folder} holds no contest; name the game with --game to make one")
    if plan is not None:
        make_tournament_folder(folder, 0o700)
        with writing(folder), claimed(folder):
            folder.chmod(0o700)
            if known and (read_plan(folder / PLAN).bots or has_games(folder)):
                raise UsageError(f"{folder} holds a tournament already; name a new folder")
            write_plan(plan, folder / PLAN)
    before = read_plan(folder / PLAN)
    open_rules(before, folder, over_typed=True)
    if (game := find_game(before.game)).version != before.version:
        raise UsageError(
            f"{folder} is played by version {before.version} of {before.game}; version {game.version} is installed: "
            "install the earlier one again, or start another contest"
        )
    if (before.format, before.games) != ("ladder", 0):
        raise UsageError(f"{folder} holds a {before.formats}; expected a ladder without end, as --game makes it")
    with writing(folder):
        close_to_others(folder)
    if probe().namespaces is not None and cache_folder().is_dir():  # it has teams' files, too
        with writing(cache_folder()):
            cache_folder().chmod(0o700)  # a sandbox without namespaces would need the way through it
    store = Store(folder)
    if plan is not None:
        with store.writing() as database:
            value = msgspec.json.encode(options).decode()
            database.execute("INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)", (OPTIONS, value))
    return store


def _check_whole(folder: Path) -> None:
    """Raises UsageError for a contest without its plan or its database: a new database would have no teams."""
    trace = next((name for name in (FILE, finals.SECRET, UPLOADS) if (folder / name).exists()), None)
    missing = next((name for name in (PLAN, FILE) if not (folder / name).exists()), None)
    if trace and missing:
        raise UsageError(
            f"{folder} has {trace} of a contest and no {missing}; copy {missing} back into it, restore a backup with "
            "`referee host restore`, or name a new folder"
        )


def hosted(store: Store) -> AbstractContextManager[None]:
    """Keeps other hosts away from the contest. UsageError if one runs it already."""
    return claimed(store.folder, HOST_LOCK, "host")


def organisers_link(store: Store, settings: WebSettings) -> str:
    """Returns a new link for the organiser. One that was not opened ends."""
    return f"{settings.address}/join/{teams.new_link(store, None, 'invitation', 'the referee')}"


async def run(
    store: Store,
    listening: socket.socket,
    settings: WebSettings,
    games: PlaySettings,
    checks: int,
    write: Written,
    note: Note,
    mails: MailSettings | None = None,
) -> None:
    """Runs a contest, which is `hosted` here, until it is cancelled.

    `games`: where it plays. `checks`: at a time. `write`: writes a check for its author. `note` receives lines for the
    organiser. `mails`: how teams get mails; None = they get none.
    """

    def decided(one: Version) -> None:
        why = f": {one.reason}" if one.reason else ""
        name = teams.team(store, one.team)
        note(f"{name.name if name else one.team}, version {one.version}: {one.status}{why}")

    mail.set_on(store, mails is not None)
    finals.commitment(store)  # drawn before the first upload
    remove_strays(store)
    folder = str(store.folder)
    web = [WEB, folder, str(listening.fileno()), msgspec.json.encode(settings).decode()]
    queue = Queue(store, checks, write, decided, games.spare_cores, settings.git_hosts)
    with listening, ungrouped():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_keep, "web", web, [listening.fileno()], WEB_END_S, note)
            nursery.start_soon(keep_playing, store, games, note)
            nursery.start_soon(queue.run)
            if mails is not None:
                nursery.start_soon(mail.Sender(store, mails, note).run)
            plan = read_plan(store.folder / PLAN)
            for name, why in await threads.run(
                lambda: [*obstacles(plan.game, plan.limits.build_network)], abandon=True
            ):
                note(f"first bots in {name} will be refused: {why}")


async def keep_playing(store: Store, games: PlaySettings, note: Note) -> None:
    """Plays a contest until it is cancelled, and starts the play process again if it ends."""
    command = [PLAY, str(store.folder), msgspec.json.encode(games, enc_hook=str).decode()]
    with ungrouped():
        await _keep("play", command, [], PLAY_END_S, note)


async def _keep(name: str, command: list[str], fds: list[int], end_s: float, note: Note) -> None:
    """Keeps a process running, which ends when its standard input does."""
    quick = 0
    while True:
        began = trio.current_time()
        process = await trio.lowlevel.open_process(
            [sys.executable, "-m", *command], stdin=PIPE, stdout=DEVNULL, pass_fds=fds, start_new_session=True
        )
        try:
            code = await process.wait()
        finally:
            with trio.CancelScope(shield=True):
                assert process.stdin is not None
                await process.stdin.aclose()
                await _ended(process, end_s)
        quick = 0 if trio.current_time() - began > STEADY_S else min(quick + 1, len(AGAIN_S) - 1)
        note(f"the {name} process ended with exit code {code}, and is started again")
        await trio.sleep(AGAIN_S[quick])


async def _ended(process: trio.Process, within_s: float) -> None:
    """Waits for the end of a process, and kills it if that takes too long."""
    with trio.move_on_after(within_s):
        await process.wait()
        return
    process.kill()
    await process.wait()
