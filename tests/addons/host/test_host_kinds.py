"""Submissions of every kind, from the form to a game: zips, sources, images, modules and commits, and hostile ones."""

import os
import shutil
import struct
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import images
import modules
import pytest
from defects import bot
from git_server import GitServer, git_server
from hosting import Browser, Hosted, hosted, wait_for
from submissions import IDENTITY, RUN, folder_of, repository, zipped

from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.isolation.probe import probed
from referee.harness.programs.zip_archive import MAX_BYTES

pytestmark = pytest.mark.slow

SLOW = RUN + 'build = "echo building; sleep 8; echo built"\n'
GITCONFIG = """[url "{address}/stolen"]
    insteadOf = {address}/private
[credential]
    helper = "!f() {{ echo username=organiser; echo password=secret; }}; f"
"""


def drops(column: str) -> str:
    """Returns code of a bot for Connect Four that always plays this column, which is high enough."""
    return f'def choose():\n    return {{"action": "putToken", "column": "{column}"}}\n'


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Hosted, GitServer, Browser]]:
    """A contest on a machine whose organiser uses git, too: with a password for the same server, and a setting."""
    folder = tmp_path_factory.mktemp("kinds")
    with git_server(folder / "git") as (git, certificate):
        (folder / "home").mkdir()
        (folder / "home" / ".netrc").write_text("machine 127.0.0.1 login organiser password secret\n")
        (folder / "home" / ".gitconfig").write_text(GITCONFIG.format(address=git.address))
        variables = {"GIT_SSL_CAINFO": str(certificate), "HOME": str(folder / "home")}
        options = (
            "--game",
            "connectfour",
            "--set",
            "rows=100",
            "--git-host",
            git.address,
            "--jobs",
            "1",
            "--checks",
            "1",
        )
        with mock.patch.dict(os.environ, variables), hosted(folder / "cup", *options) as contest:
            yield contest, git, contest.organiser()


def by_git(team: Browser, address: str, commit: str = "", status: int = 200) -> None:
    """Hands in a commit by the form of the team's page."""
    form = {"repository": (None, address), "commit": (None, commit)}
    response = team.http.post("/team/versions", files=form)
    assert response.status_code == status, response.text


def image(path: Path, *layers: bytes, command: tuple[str, ...] = ("python3", "/bot.py")) -> Path:
    """Writes an image with Python in its lowest layer."""
    return images.save(path, [images.python(), *layers], command, env=images.PYTHON_ENV)


def test_every_kind_is_handed_in_followed_and_played(served: tuple[Hosted, GitServer, Browser], tmp_path: Path) -> None:
    contest, git, organiser = served
    names = ("zip", "source", "image", "module", "commit")
    teams = {name: contest.team(organiser, name) for name in names}

    def state(name: str) -> dict[str, object]:
        found: dict[str, object] = teams[name].http.get("/team/versions/1/state").json()
        return found

    folder = folder_of(tmp_path / "source", 2, more=drops("B"))
    module = modules.saved(tmp_path, "bot", modules.bot('{"action":"putToken","column":"D"}'))
    repository(git.folder / "commit", 5, drops("E"))
    head = ["git", "-C", git.folder / "commit", "rev-parse", "HEAD"]
    first = subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()
    (git.folder / "commit" / "bot.py").write_text("nonsense")
    subprocess.run(["git", "-C", git.folder / "commit", *IDENTITY, "commit", "--quiet", "-am", "worse"], check=True)
    address = git.repository("commit")
    teams["zip"].hand_in(zipped(tmp_path / "files" / "bot.zip", 1, SLOW, drops("A")), note="the whole folder")
    wait_for(lambda: "building" in str(state("zip")["log"]))

    # Others wait meanwhile, and see how many are before them.
    teams["source"].hand_in(folder / "bot.py")
    teams["module"].hand_in(module)
    by_git(teams["commit"], address, first)
    waiting = [(state(name)["status"], state(name)["before"]) for name in ("source", "module", "commit")]
    assert waiting == [("waiting", 1), ("waiting", 2), ("waiting", 3)] and state("zip")["status"] == "checking"
    assert "waiting: 3 before it" in teams["commit"].get("/team/versions/1")
    if probed().namespaces:
        script = images.layer(images.file("bot.py", bot(drops("C")).encode()))
        teams["image"].hand_in(image(tmp_path / "bot.tar", script))
    else:
        del teams["image"]

    for name, team in teams.items():
        decided = team.decided(1)
        assert decided["status"] == "accepted", (name, decided)
        page = team.get("/team/versions/1")
        assert "accepted" in page and "Report of the check" in page and str(contest.folder) not in page, name
    assert "built" in str(state("zip")["log"]) and first in teams["commit"].get("/team/versions/1")

    def played() -> bool:
        idents = {entry.name: entry.ident for entry in read_plan(contest.folder / PLAN).bots}
        return idents.keys() >= teams.keys() and {*idents.values()} <= reader.idents_of(
            reader.read(contest.folder).line_ups
        )

    wait_for(played, 120.0)

    def all_shown() -> bool:  # a moment after the game is in the ledger
        table = teams["zip"].get("/")
        return all(f">{name}<" in table for name in teams)

    wait_for(all_shown)


def many_files(path: Path, count: int) -> Path:
    """Writes a zip with so many empty files, by hand: `zipfile` takes seconds for it."""
    heads, entries, at = [], [], 0
    for number in range(count):
        name = b"%06d" % number
        heads.append(struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 0, 0, 0, 0, 0, 0, len(name), 0) + name)
        fields = (b"PK\x01\x02", 20, 20, 0, 0, 0, 0, 0, 0, 0, len(name), 0, 0, 0, 0, 0, at)
        entries.append(struct.pack("<4s6H3L5H2L", *fields) + name)
        at += len(heads[-1])
    size, shown = sum(map(len, entries)), min(count, 0xFFFF)
    last64 = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size, at)
    where = struct.pack("<4sLQL", b"PK\x06\x07", 0, at + size, 1)
    last = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, shown, shown, size, 0xFFFFFFFF, 0)
    path.write_bytes(b"".join([*heads, *entries, last64, where, last]))
    return path


def bomb(path: Path) -> Path:
    """Writes a small zip that says and holds more than a submission may."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("bot.toml", RUN)
        packed.writestr("zeros", bytes(MAX_BYTES + 1))
    return path


def lying_bomb(path: Path) -> Path:
    """Writes a zip whose list of contents says that a large file has ten bytes."""
    content = bomb(path).read_bytes()
    size = struct.pack("<L", MAX_BYTES + 1)
    assert content.count(size) == 2
    path.write_bytes(content.replace(size, struct.pack("<L", 10)))
    return path


def link(path: Path) -> Path:
    """Writes a zip with a link to a file of the machine."""
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("bot.toml", RUN)
        entry = zipfile.ZipInfo("bot.py")
        entry.create_system, entry.external_attr = 3, 0o120777 << 16
        packed.writestr(entry, "/etc/passwd")
    return path


def no_utf8(path: Path) -> Path:
    """Writes a zip with a name that says it is UTF-8 and is not."""
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("bot.toml", RUN)
        packed.writestr("bät.py", "")
    path.write_bytes(path.read_bytes().replace("bät".encode(), b"b\xff\xfet"))
    return path


def wrong_digest(path: Path) -> Path:
    """Writes an image one of whose layers is not the one that its configuration names."""
    content = image(path, images.layer(images.file("bot.py", b"print(1234567)"))).read_bytes()
    path.write_bytes(content.replace(b"print(1234567)", b"print(7654321)"))
    return path


def through_a_link(path: Path) -> Path:
    """Writes an image whose last layer writes through a link of the one before, out of the image."""
    leads = images.layer(images.link("out", "../../../../../../../../tmp"))
    return image(path, leads, images.layer(images.file("out/referee-owned", b"owned")), command=("/bin/nothing",))


def takes_from_outside(path: Path) -> Path:
    """Writes an image with a second name for a file of the machine."""
    return image(path, images.layer(images.link("bot.py", "../../../../../../etc/passwd", hard=True)))


def no_module(path: Path) -> Path:
    path.write_bytes(b"\0asm\1\0\0\0" + bytes(1000))
    return path


FILES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "bomb.zip": (bomb, "expected at most"),
    "lying.zip": (lying_bomb, "cannot be unpacked"),
    "many.zip": (lambda path: many_files(path, 100_000), "lists more than 2,000 files"),
    "link.zip": (link, "is a link"),
    "name.zip": (no_utf8, "cannot be unpacked|UTF-8"),
    "digest.tar": (wrong_digest, "is damaged"),
    "through.tar": (through_a_link, ""),
    "outside.tar": (takes_from_outside, ""),
    "module.wasm": (no_module, ""),
}


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_refused_in_a_line_and_nothing_of_it_stays(
    name: str, served: tuple[Hosted, GitServer, Browser], tmp_path: Path
) -> None:
    contest, _, organiser = served
    write, why = FILES[name]
    team = contest.team(organiser, f"hostile {name}")
    team.hand_in(write(tmp_path / name))
    can_play = probed().namespaces or not name.endswith(".tar")
    check_refused(contest, team, why if can_play else "namespaces")
    assert not Path("/tmp/referee-owned").exists()


def check_refused(contest: Hosted, team: Browser, *reasons: str) -> None:
    """The team reads why in a line, the machine's files are not in its pages, and the contest goes on."""
    state = team.decided(1)
    reason = str(state["reason"])
    assert state["status"] == "refused" and reason and "\n" not in reason, state
    assert any(word in reason for each in reasons for word in each.split("|")), reason
    page = team.get("/team/versions/1")
    assert "root:x:0" not in page and str(contest.folder) not in page and "Traceback" not in page
    assert team.get("/health") == "ok\n" and "No version plays yet" in team.get("/team")


def tree(git: Path, *lines: str) -> str:
    """Makes a tree object of lines as `git ls-tree` prints them. Returns its name."""
    entered = "".join(f"{line}\n" for line in lines)
    made = subprocess.run(["git", "mktree", "--missing"], cwd=git, input=entered, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def blob(git: Path, content: bytes) -> str:
    """Adds a file to a repository. Returns its name."""
    command = ["git", "hash-object", "-w", "--stdin"]
    return subprocess.run(command, cwd=git, input=content, capture_output=True, check=True).stdout.decode().strip()


def huge(git: Path) -> str:
    """Returns a tree of 64 names for one file of 2 MiB: small as a pack, and too large as files."""
    zeros = blob(git, bytes(2 << 20))
    return tree(git, *(f"100644 blob {zeros}\tzeros{number}" for number in range(64)))


def crowded(git: Path) -> str:
    """Returns a tree of 100,000 files, which are five small objects."""
    inner = tree(git, *(f"100644 blob {blob(git, b'')}\tleaf{number}" for number in range(10)))
    for _ in range(4):
        inner = tree(git, *(f"040000 tree {inner}\t{number}" for number in range(10)))
    return inner


def strange_name(git: Path) -> str:
    """Returns a tree with a file whose name is no UTF-8."""
    line = f"100644 blob {blob(git, RUN.encode())}\tbot.toml\n100644 blob {blob(git, b'')}\t".encode() + b"b\xff\n"
    made = subprocess.run(["git", "mktree"], cwd=git, input=line, capture_output=True, check=True)
    return made.stdout.decode().strip()


TREES: dict[str, tuple[Callable[[Path], str], str]] = {
    "huge": (huge, "bytes, which are allowed"),
    "crowded": (crowded, "files, which are allowed"),
    "strange": (strange_name, "no UTF-8"),
}


@pytest.mark.parametrize("name", TREES)
def test_a_hostile_commit_is_refused(name: str, served: tuple[Hosted, GitServer, Browser]) -> None:
    contest, git, organiser = served
    make, why = TREES[name]
    repository(git.folder / name, 1)
    team = contest.team(organiser, f"commit {name}")
    by_git(team, git.repository(name, make(git.folder / name)))
    check_refused(contest, team, why)


def test_a_repository_leads_nowhere_else_and_gets_no_password(served: tuple[Hosted, GitServer, Browser]) -> None:
    """Not by redirection, nor by settings and passwords of the organiser's account."""
    contest, git, organiser = served
    repository(git.folder / "secret", 1, drops("F"))
    git.repository("secret")
    for name, address in {"file": f"file://{git.folder}/secret.git", "other": f"{git.address}/secret.git"}.items():
        git.leads_to = address
        team = contest.team(organiser, f"leads to {name}")
        by_git(team, f"{git.address}/moved/x.git" if name == "file" else f"{git.address}/moved")
        check_refused(contest, team, "redirects to another address")
    team = contest.team(organiser, "private")
    by_git(team, f"{git.address}/private/bot.git")
    check_refused(contest, team, "cannot be cloned")
    assert git.passwords == []
    by_git(team, "https://localhost/bot.git", status=400)


def test_hooks_and_links_of_a_repository_are_not_followed_and_a_submodule_is_named(
    served: tuple[Hosted, GitServer, Browser], tmp_path: Path
) -> None:
    contest, git, organiser = served
    home = git.folder / "tricks"
    repository(home, 1, drops("G"))  # with a link to /etc/passwd
    for name in ("post-checkout", "post-merge"):
        (home / ".git" / "hooks" / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/owned\n")
        (home / ".git" / "hooks" / name).chmod(0o755)
    (home / ".gitattributes").write_text("* filter=owned\n")
    hash = ["git", "-C", home, "rev-parse", "HEAD"]
    inside = subprocess.run(hash, capture_output=True, text=True, check=True).stdout.strip()
    for words in (["add", "."], ["update-index", "--add", "--cacheinfo", f"160000,{inside},x"]):
        subprocess.run(["git", "-C", home, *words], check=True)
    subprocess.run(["git", "-C", home, *IDENTITY, "commit", "--quiet", "-m", "tricks"], check=True)
    shutil.copytree(home, deep := git.folder / "modules", symlinks=True)
    (deep / ".gitmodules").write_text('[submodule "x"]\n\tpath = x\n\turl = file:///etc\n\tupdate = !touch owned\n')
    subprocess.run(["git", "-C", deep, "add", ".gitmodules"], check=True)
    subprocess.run(["git", "-C", deep, *IDENTITY, "commit", "--quiet", "-m", "modules"], check=True)
    other = contest.team(organiser, "modules")
    by_git(other, git.repository("modules"))
    check_refused(contest, other, "x is a submodule without its files")
    team = contest.team(organiser, "tricks")
    by_git(team, git.repository("tricks"))
    assert team.decided(1)["status"] == "accepted"
    bots = wait_for(lambda: [each for each in read_plan(contest.folder / PLAN).bots if each.name == "tricks"])
    with zipfile.ZipFile(contest.folder / "bots" / f"{bots[0].hash}.zip") as packed:
        held = {name.rpartition("/")[2]: packed.read(name) for name in packed.namelist()}
    assert held["passwords"] == b"/etc/passwd", "a link is a text file, not what it names"
    assert not (tmp_path / "owned").exists() and not any(b"root:x:0" in content for content in held.values())
