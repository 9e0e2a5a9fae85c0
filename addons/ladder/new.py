"""Writes a new ladder, and copies a bot into one."""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from referee.addons.ladder import names
from referee.addons.ladder.commits import check_no_link, commit_files, unix_lines
from referee.addons.ladder.games import played_by
from referee.addons.ladder.records import BOTS, FORMAT, SETTINGS
from referee.addons.tournament.intake.objects import Repository
from referee.games.game import Game
from referee.harness.common.errors import UsageError, writing
from referee.harness.common.installed import NAME as REFEREE
from referee.harness.common.installed import installed
from referee.harness.common.kept_rules import kept_rules
from referee.harness.new.write import named_requirement, requirement
from referee.harness.programs.archive import check_no_pointer
from referee.harness.programs.bot_file import read_bot_file
from referee.harness.programs.build import BOT_FILE
from referee.harness.programs.kinds import PATH, kind_of, recognised
from referee.harness.programs.submitted import check_complete
from referee.harness.programs.zip_archive import is_zip

TEMPLATES = Path(__file__).parent / "templates"
BRANCH, EXTRAS = "main", "ladder,tournament,wasm"
PLACES = {
    "README.md": "README.md",
    "gitlab-ci.yml": ".gitlab-ci.yml",
    **{f"{name}.yml": f".github/workflows/{name}.yml" for name in ("submit", "play", "verify", "publish")},
}
"""Where the templates go in a ladder."""


def write_ladder(
    folder: Path,
    game: Game,
    title: str,
    settings: Mapping[str, object],
    install: str | None,
    beacon: str = "",
    at: float | None = None,
) -> list[str]:
    """Makes a git repository with an empty ladder and commits it. UsageError if the folder holds something.

    Returns what the copy of the rules leaves out, since it may be secret.
    `beacon`: lines of TOML; empty = drand's quicknet. `at`: the time of the commit; None = now.
    """
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty; name a new folder")
    package = installation(install)
    lines = [
        f"ladder = {FORMAT}",
        f"game = {json.dumps(game.name)}",
        f"version = {game.version}",
        f"versions = {json.dumps(played_by())}",
        f"install = {json.dumps(package)}",
        f"title = {json.dumps(title, ensure_ascii=False)}",
    ]
    lines += [f"rules = {json.dumps(game.sha256)}"] if game.sha256 else []
    lines += [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    words = {"TITLE": title, "GAME": game.title, "BRANCH": BRANCH, "INSTALL": package}
    files = {SETTINGS: "\n".join([*lines, beacon]).encode()}
    for name, place in PLACES.items():
        text = re.sub("@([A-Z]+)@", lambda found: words[found[1]], (TEMPLATES / name).read_text("utf-8"))
        files[place] = text.encode()
    private = kept_rules().left_out(game.name, game.sha256) if game.sha256 else []
    if game.sha256:
        with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
            kept_rules().keep(game.name, game.version, game.sha256, Path(scratch))
            copy = kept_rules().copy_path(Path(scratch), game.sha256)
            files[copy.relative_to(scratch).as_posix()] = copy.read_bytes()
    with Repository.made(folder, branch=BRANCH) as repository:
        repository.run("update-ref", "HEAD", commit_files(repository, None, files, f"A ladder of {game.title}", at=at))
        repository.run("reset", "--quiet", "--hard")
    return private


def installation(install: str | None) -> str:
    """Returns what pip installs for the workflows. UsageError if neither the user nor the installation says it."""
    if install is not None:
        return named_requirement("--install", install, EXTRAS)
    found = requirement(installed())
    if not found:
        raise UsageError(
            "it is unknown where this referee was installed from, so the workflows cannot install it; name it with "
            "--install, such as --install git+https://…/referee@COMMIT"
        )
    return f"{REFEREE}[{EXTRAS}]{found.removeprefix(REFEREE)}"


TAKEN = f"expected a folder with a {BOT_FILE}, a .wasm or a .py file"


def check_kind(bot: Path, game: str) -> None:
    """UsageError for a player that is no program with files of its own, such as a built-in bot or a Kaggle agent."""
    kind = kind_of(str(bot))
    if not kind.has_process and kind.absent:
        raise UsageError(f"{bot}: {TAKEN}")
    if kind is not PATH:
        raise UsageError(f"{bot}: {kind.plural} cannot enter a ladder; {TAKEN}")
    if not os.path.exists(bot):
        raise UsageError(f"{bot}: there is no such file or folder; {TAKEN}")
    if is_zip(bot):
        raise UsageError(f"{bot} is a zip file, which cannot enter a ladder; unpack it, and enter the folder")
    is_agent = (bot.suffix == ".py" or bot.is_dir()) and not (bot / BOT_FILE).is_file()
    if is_agent and recognised(bot, game) is not None:
        raise UsageError(f"{bot} is an agent that needs our adapter, which no ladder has; enter a program")


def staged(bot: Path, folder: Path, name: str, owner: str) -> tuple[Path, list[str]]:
    """Copies a bot's folder, or its single file, to `folder/NAME`. Returns the copy, and the paths that it leaves out.

    These may be secrets, which a push would publish. UsageError for what cannot be a bot of a ladder.
    """
    names.check("--name", name)
    names.check("--owner", owner)
    to, settings, private = folder / name, None, list[str]()
    if bot.is_dir():
        settings = read_bot_file(bot, str(bot))
        if settings.bundle != ".":
            raise UsageError(f"{bot}/{BOT_FILE}: `bundle` reaches out of the folder; put all files into it")
        content = settings.files(bot.resolve(), str(bot), private=private)
        try:
            check_complete(content.folder, content.files)
        except UsageError as error:
            raise UsageError(f"{bot}: {error}") from error
        files = {each.path: bot / each.path for each in content.files}
        text = (bot / BOT_FILE).read_text("utf-8-sig")
    elif bot.is_file() and bot.suffix in (".wasm", ".py"):
        check_no_pointer(bot, str(bot))
        files = {bot.name: bot}
        text = f"run = {json.dumps([bot.name] if bot.suffix == '.wasm' else ['python3', bot.name])}\n"
    else:
        raise UsageError(f"{bot}: {TAKEN}")
    if settings is None or not settings.owner:
        text = f"owner = {json.dumps([owner])}\n{text}"
    with writing(to):
        for path, file in files.items():
            (to / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, to / path)
            shutil.copymode(file, to / path)
        (to / BOT_FILE).write_text(text, "utf-8")
    return to, private


def commit_bot(repository: Repository, bot: Path) -> None:
    """Commits a staged bot as `bots/NAME`, with the bytes that were checked. UsageError if nothing has changed."""
    head, home = repository.commit("HEAD"), f"{BOTS}/{bot.name}"
    paths = {f"{home}/{file.relative_to(bot).as_posix()}": file for file in bot.rglob("*") if file.is_file()}
    programs = {path for path, file in paths.items() if file.stat().st_mode & 0o100}
    files = {path: file.read_bytes() for path, file in paths.items()}
    if repository.top is not None:
        _refuse_uncommitted(repository, head, home)
    commit = commit_files(repository, head, files, f"Bot {bot.name}", folder=(home, ""), programs=programs)
    if repository.id_of(commit, home) == repository.id_of(head, home):
        raise UsageError(f"{repository.folder}: {home} has not changed")
    repository.run("update-ref", "HEAD", commit, head)
    if repository.top is None:
        return
    gone = [each.path for each in repository.entries(head, f"{home}/")]
    with writing(repository.top / home):
        for path in gone:
            (repository.top / path).unlink(missing_ok=True)
        shutil.copytree(bot, repository.top / home, dirs_exist_ok=True)
    # The index, without the filters that `git add` would run.
    lines = [f"0 {'0' * len(head)}\t{path}\0".encode() for path in gone]
    lines.append(repository.run("ls-tree", "-r", "-z", commit, "--", f"{home}/"))
    repository.run("update-index", "-z", "--index-info", given=b"".join(lines))


def _refuse_uncommitted(repository: Repository, head: str, home: str) -> None:
    """UsageError for a bot's folder that is reached by a link, or with files that the commit has not.

    `git status` would run the filters of this clone.
    """
    assert repository.top is not None
    check_no_link(repository.top, home)
    bot = repository.top / home
    entries = {each.path: each.id for each in repository.entries(head, f"{home}/")}
    committed = dict(zip(entries, repository.read(entries.values()), strict=True))
    there = {file.relative_to(repository.top).as_posix(): file for file in bot.rglob("*") if _is_file(file)}
    for path in sorted(there.keys() | committed.keys()):
        file, content = there.get(path), committed.get(path)
        is_plain = file is not None and file.is_file() and not file.is_symlink()
        if file is None or content is None or not is_plain or unix_lines(file.read_bytes()) != unix_lines(content):
            raise UsageError(f"{bot} holds what is not committed; commit it or move it away: {path}")


def _is_file(path: Path) -> bool:
    """Whether it is no folder. A link to a folder is none, since it may lead out of the clone."""
    return path.is_symlink() or not path.is_dir()
