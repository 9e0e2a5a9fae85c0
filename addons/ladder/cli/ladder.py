"""`referee ladder`: a ladder in a git repository that proves itself."""

import tempfile
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import App

from referee.addons.ladder import names, new
from referee.addons.ladder.beacon import MERGE
from referee.addons.ladder.checkpoints import checkpoint_file
from referee.addons.ladder.cli.bots import check_bot
from referee.addons.ladder.commits import newest, write
from referee.addons.ladder.games import played_by
from referee.addons.ladder.keys import key_in
from referee.addons.ladder.reading import Ladder, can_repeat
from referee.addons.ladder.records import FORMAT, SETTINGS, WITNESSES, Settings, read_settings
from referee.addons.tournament.intake.objects import Repository
from referee.harness.cli.exit_codes import AT_FAULT, INCONCLUSIVE, PLAYED
from referee.harness.cli.options import MORE, GameName, Seats
from referee.harness.cli.screen import out
from referee.harness.common.errors import UsageError, reason
from referee.harness.common.known_games import typed_game
from referee.harness.common.paths import read_limited
from referee.harness.match.rule_options import with_seats
from referee.harness.programs.bot_file import read_bot_file
from referee.harness.programs.build import BOT_FILE
from referee.harness.programs.private_files import left_out_line

ladder_app = App(name="ladder", help="A ladder in a git repository that anybody can verify.")
ladder_app.command("referee.addons.ladder.cli.beacon:beacon", name="beacon")
ladder_app.command("referee.addons.ladder.cli.play:check_a_change", name="check-change")
ladder_app.command("referee.addons.ladder.cli.play:play", name="play")
ladder_app.command("referee.addons.ladder.cli.show:publish", name="publish")
ladder_app.command("referee.addons.ladder.cli.show:show", name="show")
ladder_app.command("referee.addons.ladder.cli.show:verify", name="verify")
Folder = Annotated[Path, MORE]


@ladder_app.command(name="new")
def new_ladder(
    folder: Path,
    *,
    game: GameName,
    title: str | None = None,
    seats: Seats = None,
    games: int | None = None,
    witnesses: int | None = None,
    beacon: str | None = None,
    ahead: int | None = None,
    install: str | None = None,
) -> int:
    """Writes a git repository with an empty ladder: settings, workflows, and a page for teams.

    Args:
        folder: The repository, new or empty.
        title: The ladder's name. Default: the game's, with "ladder".
        games: The most games of a claim. Default: 200.
        witnesses: How many owners must have played a game of native programs before it counts. Default: 2.
        beacon: Where the randomness of draws comes from: `merge` for random bytes in merge commits, or the file that
            `referee ladder beacon` has written. Default: drand's quicknet.
        ahead: SECONDS from a claim to the round of the beacon that draws its games, at least. Default: 300.
        install: The referee that the workflows install with pip, such as git+https://… with a commit. Default: from
            where this one was installed, if that is an address.
    """
    played = with_seats(typed_game(game), seats)
    asked = ("seats", seats), ("games", games), ("witnesses", witnesses), ("ahead", ahead)
    settings = {name: value for name, value in asked if value is not None}
    title = f"{played.title} ladder" if title is None else title
    if problem := msgspec.structs.replace(Settings(FORMAT, played.name, played_by()), **settings).problem():
        raise UsageError(problem)
    lines = _beacon(beacon)
    if private := new.write_ladder(folder, played, title, settings, install, lines):
        out.print(left_out_line(private))
    out.print(f"Created {folder}. Next: change {folder}/{SETTINGS} to your liking, and push the branch {new.BRANCH}.")
    return PLAYED


def _beacon(beacon: str | None) -> str:
    """Returns the lines of `ladder.toml` for a beacon. UsageError if they are wrong."""
    if beacon is None:
        return ""
    try:
        text = f'beacon = "{MERGE}"\n' if beacon == MERGE else read_limited(Path(beacon), 10_000).decode()
    except (OSError, UnicodeDecodeError) as error:
        why = reason(error) if isinstance(error, OSError) else "it is no UTF-8"
        raise UsageError(f"--beacon {beacon}: {why}; expected {MERGE}, or the file of a beacon") from error
    read_settings(f'ladder = {FORMAT}\ngame = ""\nversions = ""\n{text}'.encode())
    return text


@ladder_app.command(name="enter")
def enter(bot: Path, *, owner: str, name: str | None = None, folder: Folder = Path()) -> int:
    """Checks a bot and commits it to a clone of a ladder.

    A new version is entered the same way. Files of secrets and caches are left out, and named.

    Exit codes: 0 committed, 1 the bot is refused.

    Args:
        bot: A folder with a bot.toml, a module (.wasm), or a Python file.
        owner: Your login at the forge, unless the bot.toml names owners.
        name: The bot's name in the ladder. Default: that of its folder or file.
        folder: The clone of the ladder, if it is not the current folder.
    """
    own = bot.resolve().name.removesuffix(bot.suffix) if name is None else name
    with Repository(folder) as repository, tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        ladder = Ladder(repository, repository.commit("HEAD"))
        ladder.check_rules()
        new.check_kind(bot, ladder.settings.game)
        copy, private = new.staged(bot, Path(scratch), own, owner)
        if private:
            out.print(left_out_line(private))
        bot_toml, about = copy / BOT_FILE, read_bot_file(copy, own)
        if not can_repeat(about):
            bot_toml.write_text(f"deterministic = true\n{bot_toml.read_text('utf-8-sig')}", "utf-8")
        report = check_bot(copy, ladder.settings, bot)
        if not report.passed:
            return INCONCLUSIVE if report.undecided else AT_FAULT
        new.commit_bot(repository, copy)
    if not can_repeat(about):
        out.print(
            f"Added `deterministic = true` to its {BOT_FILE}: it played the same match alike on a busy machine too."
        )
    out.print(f"{own} is committed. Next: push it, and make a pull request.")
    return PLAYED


@ladder_app.command(name="witness")
def witness(
    commit: str | None = None,
    *,
    key: Path,
    name: str,
    base: Annotated[str | None, MORE] = None,
    folder: Folder = Path(),
) -> int:
    """Signs which entries a commit of the ladder has.

    Nobody can rewrite them then without you. Writes a file to checkpoints/, to hand in by pull request. A maintainer
    adds your public key to witnesses.toml.

    Args:
        commit: The commit that you have seen. Default: the newest one.
        key: The file with your secret key, which is made at its first use.
        name: Your name in witnesses.toml.
        base: The ladder's newest commit. Default: the main branch of `origin`, or HEAD without it.
        folder: The clone of the ladder, if it is not the current folder.
    """
    names.check("--name", name)
    secret = key_in(key, make=True)
    with Repository(folder) as repository:
        id = newest(repository, base) if commit is None else repository.commit(commit)
        path, content = checkpoint_file(Ladder(repository, id), name, secret)
        written = write(repository, path, content)
    out.print(
        f'Wrote {written}. Next: commit it for a pull request. Your line of {WITNESSES}: {name} = "{secret.public}"'
    )
    return PLAYED
