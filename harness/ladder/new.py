"""Writes a new ladder, and copies a bot into one."""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from referee.games.game import Game
from referee.harness.errors import RunError, UsageError, writing
from referee.harness.installed import installed
from referee.harness.ladder.commits import identity
from referee.harness.ladder.objects import Repository
from referee.harness.ladder.records import BOTS, NAME, SETTINGS
from referee.harness.new.write import requirement
from referee.harness.programs.bot_file import read_bot_file
from referee.harness.programs.build import BOT_FILE

TEMPLATES = Path(__file__).parent / "templates"
BRANCH, ROLES = "main", ("AUTHOR", "COMMITTER")
PLACES = {
    "README.md": "README.md",
    "gitlab-ci.yml": ".gitlab-ci.yml",
    **{f"{name}.yml": f".github/workflows/{name}.yml" for name in ("submit", "play", "verify", "publish")},
}
"""Where the templates go in a ladder."""


def write_ladder(folder: Path, game: Game, title: str, settings: Mapping[str, object], install: str | None) -> None:
    """Makes a git repository with an empty ladder and commits it. UsageError if the folder holds something."""
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty; name a new folder")
    lines = [f"game = {json.dumps(game.name)}", f"title = {json.dumps(title, ensure_ascii=False)}"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    words = {"TITLE": title, "GAME": game.title, "BRANCH": BRANCH, "INSTALL": install or installation()}
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / SETTINGS).write_text("\n".join([*lines, ""]), "utf-8")
        for name, place in PLACES.items():
            text = re.sub("@([A-Z]+)@", lambda found: words[found[1]], (TEMPLATES / name).read_text("utf-8"))
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_text(text, "utf-8")
    done = subprocess.run(["git", "init", "--quiet", f"--initial-branch={BRANCH}", str(folder)], capture_output=True)
    if done.returncode != 0:
        raise RunError(f"{folder}: git init: {done.stderr.decode(errors='replace').strip()}")
    repository = Repository(folder)
    commit_all(repository, ["."], f"A ladder of {game.title}")


def commit_all(repository: Repository, paths: list[str], message: str) -> None:
    """Commits these paths of the work tree. UsageError if nothing has changed."""
    repository.run("add", "--all", "--force", "--", *paths)
    if not repository.text("status", "--porcelain", "--untracked-files=no", "--", *paths):
        raise UsageError(f"{repository.folder}: {', '.join(paths)} has not changed")
    name, _, email = identity(repository).removesuffix(">").partition(" <")
    who = {f"GIT_{role}_{part}": text for role in ROLES for part, text in (("NAME", name), ("EMAIL", email))}
    repository.run("commit", "--quiet", "--no-verify", "-m", message, "--", *paths, more=who)


def installation() -> str:
    """Returns what pip installs for the workflows: this source of the referee, with what a ladder needs."""
    found = requirement(installed()) or "referee"
    return f"referee[cluster,wasm]{found.removeprefix('referee')}"


def staged(bot: Path, folder: Path, name: str, owner: str) -> Path:
    """Copies a bot's folder, or its single file, to `folder/NAME`. UsageError for what cannot be a bot of a ladder."""
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name of a bot; choose one of letters, digits, dots and dashes with --name")
    to, settings = folder / name, None
    if bot.is_dir():
        settings = read_bot_file(bot, str(bot))
        if settings.bundle != ".":
            raise UsageError(f"{bot}/{BOT_FILE}: `bundle` reaches out of the folder; put all files into it")
        files = {each.path: bot / each.path for each in settings.files(bot.resolve(), str(bot)).files}
        text = (bot / BOT_FILE).read_text("utf-8-sig")
    elif bot.is_file() and bot.suffix in (".wasm", ".py"):
        files = {bot.name: bot}
        text = f"run = {json.dumps([bot.name] if bot.suffix == '.wasm' else ['python3', bot.name])}\n"
    else:
        raise UsageError(f"{bot}: expected a folder with a {BOT_FILE}, a .wasm or a .py file")
    if settings is None or not settings.owner:
        text = f"owner = {json.dumps([owner])}\n{text}"
    with writing(to):
        for path, file in files.items():
            (to / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, to / path)
            shutil.copymode(file, to / path)
        (to / BOT_FILE).write_text(text, "utf-8")
    return to


def commit_bot(repository: Repository, bot: Path) -> None:
    """Puts a staged bot into `bots/NAME` of the work tree and commits it. UsageError if nothing has changed."""
    to = Path(repository.text("rev-parse", "--show-toplevel")) / BOTS / bot.name
    with writing(to):
        if to.exists():
            shutil.rmtree(to)
        shutil.copytree(bot, to)
    commit_all(repository, [str(to)], f"Bot {bot.name}")
