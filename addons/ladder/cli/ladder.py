"""`referee ladder`: a ladder in a git repository that proves itself."""

import shutil
import tempfile
import time
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import App, Parameter

from referee.addons.ladder import names, new, playing, proof
from referee.addons.ladder import replays as packs
from referee.addons.ladder.addresses import address_problem
from referee.addons.ladder.change import Accused, BotChange, Claimed, Errand, HandedIn, Refused, check_change
from referee.addons.ladder.commits import ORIGIN, advance, fetched, has_origin, newest, push_branch, write
from referee.addons.ladder.games import Played, play_games
from referee.addons.ladder.keys import own_key
from referee.addons.ladder.merging import merge_of
from referee.addons.ladder.reading import Ladder, seats_of
from referee.addons.ladder.records import SETTINGS, Settings, game_line
from referee.addons.ladder.workshop import add_fetched, fetch_all, unpacked
from referee.addons.tournament.cli.worker_options import WorkerOptions
from referee.addons.tournament.intake.objects import Repository
from referee.harness.check.findings import CheckReport
from referee.harness.cli.check import checked
from referee.harness.cli.exit_codes import AT_FAULT, INCONCLUSIVE, PLAYED
from referee.harness.cli.limit_options import LimitOptions
from referee.harness.cli.options import MORE, GameName, RuleOptions, Seats, SetupOptions, drawn
from referee.harness.cli.reports.check import check_report
from referee.harness.cli.reports.text import counted, printable
from referee.harness.cli.screen import err, out, progress
from referee.harness.cli.signals import run
from referee.harness.common.errors import RunError, UsageError, writing
from referee.harness.common.known_games import find_game, typed_game
from referee.harness.match.rule_options import with_seats
from referee.harness.programs.bot_file import read_bot_file
from referee.harness.programs.build import BOT_FILE

MERGES = 5
"""How often to try again when somebody else has merged meanwhile."""
POLL_S = 5.0
ladder_app = App(name="ladder", help="A ladder in a git repository that anybody can verify.")
ladder_app.command("referee.addons.ladder.cli.show:publish", name="publish")
ladder_app.command("referee.addons.ladder.cli.show:show", name="show")
ladder_app.command("referee.addons.ladder.cli.show:verify", name="verify")
Folder = Annotated[Path, MORE]
Base = Annotated[str | None, MORE]


@ladder_app.command(name="new")
def new_ladder(
    folder: Path,
    *,
    game: GameName,
    title: str | None = None,
    seats: Seats = None,
    games: int | None = None,
    witnesses: int | None = None,
    install: str | None = None,
) -> int:
    """Writes a git repository with an empty ladder: settings, workflows, and a page for teams.

    Args:
        folder: The repository, new or empty.
        title: The ladder's name. Default: the game's, with "ladder".
        games: The most games of a claim. Default: 200.
        witnesses: How many owners must have played a game of native programs before it counts. Default: 2.
        install: The referee that the workflows install with pip, such as git+https://… with a commit. Default: from
            where this one was installed, if that is an address.
    """
    played = with_seats(typed_game(game), seats)
    asked = ("seats", seats), ("games", games), ("witnesses", witnesses)
    settings = {name: value for name, value in asked if value is not None}
    title = f"{played.title} ladder" if title is None else title
    if problem := msgspec.structs.replace(Settings(played.name), **settings).problem():
        raise UsageError(problem)
    new.write_ladder(folder, played, title, settings, install)
    out.print(f"Created {folder}. Next: change {folder}/{SETTINGS} to your liking, and push the branch {new.BRANCH}.")
    return PLAYED


@ladder_app.command(name="enter")
def enter(bot: Path, *, owner: str, name: str | None = None, folder: Folder = Path()) -> int:
    """Checks a bot and commits it to a clone of a ladder.

    A new version is entered the same way.

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
        copy = new.staged(bot, Path(scratch), own, owner)
        try:
            whole = _whole(copy, Path(scratch, "whole", own), ladder.settings)
        except Refused as refused:
            err.print(printable(f"refused: {refused}"))
            return AT_FAULT
        report = _checked(str(whole), ladder.settings)
        if not report.passed:
            out.print(check_report(report))
            return INCONCLUSIVE if report.undecided else AT_FAULT
        new.commit_bot(repository, copy)
    out.print(f"{own} is committed. Next: push it, and make a pull request.")
    return PLAYED


def _whole(bot: Path, folder: Path, settings: Settings) -> Path:
    """Returns a bot with all its files, also those of another repository that its bot.toml names."""
    about = read_bot_file(bot, bot.name)
    if about.git is None and about.commit is None:
        return bot
    if why := address_problem(about.git, about.commit, settings.hosts):
        raise UsageError(f"{bot.name}/{BOT_FILE}: {why}")
    assert about.git is not None and about.commit is not None
    with writing(folder):
        add_fetched(folder, bot.name, about.git, about.commit, settings.bot_bytes)
        shutil.copy(bot / BOT_FILE, folder / BOT_FILE)
    return folder


@ladder_app.command(name="play")
def play(
    *,
    runner: str,
    games: int = 200,
    owner: str | None = None,
    merge: str | None = None,
    push: Annotated[str, MORE] = ORIGIN,
    wait: Annotated[float, MORE] = 0.0,
    replays: Path | None = None,
    base: Base = None,
    folder: Folder = Path(),
    workers: WorkerOptions = WorkerOptions(),
) -> int:
    """Claims games, plays them, and signs the results.

    Without a remote repository, the commits are on the branch that is checked out. With one, each is pushed as a branch
    of its own, for a pull request: first the claim; when that is merged, the same command plays the games.

    Args:
        runner: Your runner's name. Its key is made at its first use.
        games: How many new games to claim. The chain decides whether it draws new games or others.
        owner: Your login: only write the file of a new runner to runners/, which a maintainer has to commit.
        merge: BRANCH: merge claims and games into this branch of `origin`, after the checks of `check-change`. For
            those who may write to it.
        push: The remote repository to push to, such as your fork.
        wait: MINUTES: how long to wait until the claim is merged.
        replays: Keep the replays of the games in this folder.
        base: The ladder's newest commit. Default: the main branch of `origin`, or HEAD without it.
        folder: The clone of the ladder, if it is not the current folder.
    """
    names.check("--runner", runner)
    names.check("--owner", runner if owner is None else owner)
    key = own_key(runner, make=True)
    if owner is not None:
        ((path, content),) = playing.runner_file(runner, key, owner).items()
        with Repository(folder) as repository:
            out.print(f"Wrote {write(repository, path, content)}. Next: have a maintainer commit it.")
        return PLAYED
    with Repository(folder) as repository:
        ladder = Ladder(repository, newest(repository, base))
        playing.check_runner(ladder, runner, key)
        hash = playing.open_claim(ladder, runner)
        if hash is None:
            fetch_all(ladder)
            step = playing.claim(ladder, runner, key, games)
            _hand_in(repository, step, merge, push, base, b"", workers)
            ladder, hash = _merged(repository, runner, base, wait)
        if hash is None:
            out.print("When that is merged, the same command plays the games.")
            return PLAYED
        played = _played(ladder, hash, workers)
        lines, pack = [game_line(played[place].line) for place in sorted(played)], packs.packed(played)
        if replays is not None:
            out.print(f"replays  {packs.keep(replays, hash, played)}")
        ladder = Ladder(repository, newest(repository, base))
        step = playing.batch(ladder, hash, key, lines)
        if merge is None and has_origin(repository):
            branch = packs.branch_of(ladder.chain.claims[hash])
            push_branch(repository, packs.commit_of(repository, hash, pack), branch, push)
        _hand_in(repository, step, merge, push, base, pack, workers)
    return PLAYED


def _played(ladder: Ladder, hash: str, workers: WorkerOptions) -> dict[int, Played]:
    """Plays the games of a claim."""
    claimed = ladder.chain.claims[hash]
    count = len(ladder.games_of(claimed)[2])
    with progress() as show:

        def on_game(done: int) -> None:
            show(f"game {done} of {count}")

        return run(play_games, ladder, claimed, hash, workers.opened, None, on_game, show)


def _hand_in(
    repository: Repository,
    step: playing.Step,
    merge: str | None,
    push: str,
    base: str | None,
    replays: bytes,
    workers: WorkerOptions,
) -> None:
    """Pushes a step, or checks and merges it where that is possible. `replays`: those of its games."""
    has_remote = has_origin(repository)
    if merge is not None and has_remote:
        for number in range(MERGES):
            ladder, errand = check_change(repository, newest(repository, base), step.commit, "")
            if number == 0:
                _is_right(repository, ladder, errand, replays, workers)
            if advance(repository, merge_of(ladder, errand, step.commit), merge):
                out.print(f"{step.words}: merged into {merge}")
                return
        raise RunError(f"{merge} moved {MERGES} times meanwhile; repeat the command")
    if has_remote:
        push_branch(repository, step.commit, step.branch, push)
        out.print(f"{step.words}: pushed as {step.branch}. Next: make a pull request of it.")
        return
    advance(repository, step.commit, None)
    out.print(f"{step.words}: committed")


def _merged(repository: Repository, runner: str, base: str | None, wait_min: float) -> tuple[Ladder, str | None]:
    """Returns the ladder and the runner's open claim, when it is merged; None if it is not."""
    until = time.monotonic() + 60 * wait_min
    while True:
        ladder = Ladder(repository, newest(repository, base))
        hash = playing.open_claim(ladder, runner)
        if hash is not None or time.monotonic() >= until:
            return ladder, hash
        time.sleep(POLL_S)


@ladder_app.command(name="check-change")
def check_a_change(
    base: str,
    head: str,
    *,
    author: str,
    source: Annotated[str, Parameter(name="--from")] = ORIGIN,
    rules_only: bool = False,
    merge: str | None = None,
    folder: Folder = Path(),
    workers: WorkerOptions = WorkerOptions(),
) -> int:
    """Decides whether a pull request may be merged. Nothing of it is run outside of the sandbox.

    It may change its author's own bot, or add one claim, one batch of games or one strike. A bot is checked, games of
    modules are played again, and the replays of games of native programs must obey the rules and give the results.

    Exit codes: 0 it may be merged, 1 refused, 4 not decided: the machine was busy.

    Args:
        base: The commit that it would be merged into.
        head: Its newest commit.
        author: The login of who made it.
        source: The repository that it comes from, whose branch has the replays of its games.
        rules_only: Decide from the files alone: fetch and play nothing.
        merge: BRANCH: then merge it into this branch of `origin`.
        folder: A clone of the ladder that has both commits.
    """
    try:
        with Repository(folder) as repository:
            head = repository.commit(head)  # a fetch may change what the name means
            for _ in range(MERGES):
                ladder, errand = check_change(repository, base, head, author)
                if not rules_only and not _is_right(repository, ladder, errand, source, workers):
                    return INCONCLUSIVE
                if merge is None or advance(repository, merge_of(ladder, errand, head), merge):
                    out.print(printable(f"accepted: {_words(errand)}"))
                    return PLAYED
                if fetched(repository, merge) != repository.commit(base):  # somebody else has merged meanwhile
                    raise UsageError(f"{merge} has moved at {ORIGIN}, and {base} has not; name {ORIGIN}/{merge}")
    except Refused as refused:
        err.print(printable(f"refused: {refused}"))
        return AT_FAULT
    raise RunError(f"{merge} moved {MERGES} times meanwhile; run the workflow again")


def _is_right(
    repository: Repository, ladder: Ladder, errand: Errand, source: str | bytes, workers: WorkerOptions
) -> bool:
    """Checks a bot, or games and their replays, which `source` has. Refused if they are wrong.

    Returns False if the machine was too busy to tell.
    """
    with progress() as show:
        if isinstance(errand, HandedIn):
            packs.check_handed_in(ladder, errand, source)
            run(proof.prove, ladder, errand, workers.opened, show)
        elif isinstance(errand, Accused):
            run(proof.convict, ladder, errand, workers.opened, show)
    if not isinstance(errand, BotChange) or not errand.tree:
        return True
    report = _checked(str(unpacked(repository, errand.version, ladder.settings.bot_bytes)), ladder.settings)
    if not report.passed and not report.undecided:
        out.print(check_report(report))
        raise Refused(f"{errand.name} does not pass; `referee check` on your machine shows the same")
    return not report.undecided


def _checked(bot: str, settings: Settings) -> CheckReport:
    """Checks a bot in the sandbox, with the rules and limits of the ladder."""
    game = find_game(settings.game)
    rules = RuleOptions(
        set=[f"{name}={msgspec.json.encode(value).decode()}" for name, value in settings.options.items()]
    )
    limits = LimitOptions(memory=f"{settings.memory_mib}MiB", isolation="required:files")
    return checked(bot, game, drawn(None), SetupOptions(rules=rules, limits=limits), seats=seats_of(settings))


def _words(errand: Errand) -> str:
    match errand:
        case BotChange():
            return f"bot {errand.name}" if errand.tree else f"bot {errand.name} leaves"
        case Claimed(claim):
            return f"claim {claim.number} of {claim.runner}"
        case HandedIn(claim=claim):
            again = counted(len(errand.places), "game")
            return (
                f"{counted(errand.games, 'game')} of {claim.runner}, claim {claim.number}; {again} of modules to prove"
            )
        case Accused(claim=claim):
            return f"strike against {claim.runner}"
