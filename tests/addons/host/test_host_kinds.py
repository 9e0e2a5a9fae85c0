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
from contests import environment
from defects import bot
from git_server import GitServer, git_server
from hosted import Team, decided
from hosted import contest as new_contest
from hosting import Browser, hosted, wait_for
from submissions import IDENTITY, RUN, folder_of, repository, zipped

from referee.addons.host import versions
from referee.addons.host.store import Store
from referee.addons.host.submissions import log_text, report_text
from referee.addons.host.versions import Version
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.isolation.probe import probed
from referee.harness.programs.zip_archive import MAX_BYTES

pytestmark = pytest.mark.slow

SLOW = RUN + 'build = "echo building; sleep 5; echo built"\n'
GITCONFIG = """[url "{address}/stolen"]
    insteadOf = {address}/private
[credential]
    helper = "!f() {{ echo username=organiser; echo password=secret; }}; f"
"""


def drops(column: str) -> str:
    """Returns code of a bot for Connect Four that always plays this column, which is high enough."""
    return f'def choose():\n    return {{"action": "putToken", "column": "{column}"}}\n'


def by_git(team: Browser, address: str, commit: str = "") -> None:
    """Hands in a commit by the form of the team's page."""
    response = team.http.post("/team/versions", files={"repository": (None, address), "commit": (None, commit)})
    assert response.status_code == 200, response.text


def image(path: Path, *layers: bytes, command: tuple[str, ...] = ("python3", "/bot.py")) -> Path:
    """Writes an image with Python in its lowest layer."""
    return images.save(path, [images.python(), *layers], command, env=images.PYTHON_ENV)


def test_every_kind_is_handed_in_followed_and_played(tmp_path: Path) -> None:
    options = ("--game", "connectfour", "--set", "rows=100", "--jobs", "1", "--checks", "1")
    with (
        git_server(tmp_path / "git") as (git, certificate),
        mock.patch.dict(os.environ, {"GIT_SSL_CAINFO": str(certificate)}),
        hosted(tmp_path / "cup", *options, "--git-host", git.address) as contest,
    ):
        organiser = contest.organiser()
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


class Checks:
    """The queue of a contest on a machine whose organiser uses git, too.

    The account has a password for the same server, and a setting that leads to another address.
    """

    def __init__(self, folder: Path, git: GitServer) -> None:
        self.git, self.store = git, Store(new_contest(folder / "cup"))

    def hand_in(self, name: str, path: str) -> Version:
        """Puts a file in the contest's folder, or a repository, into the queue."""
        team = Team(self.store, name)
        return versions.hand_in(self.store, team.number, team.member, name, path)

    def write(self, name: str, write: Callable[[Path], Path]) -> Version:
        """Hands in a file."""
        folder = self.store.folder / "uploads" / name
        folder.mkdir(parents=True)
        return self.hand_in(name, str(write(folder / name).relative_to(self.store.folder)))

    def decide(self, *ones: Version) -> list[Version]:
        """Runs the queue until these versions are decided, and returns them."""
        return decided(self.store, *ones, jobs=2, git_hosts=(self.git.address,))

    def refused(self, one: Version, *reasons: str) -> None:
        """Asserts that the team reads why in a line, and nothing of the machine."""
        assert one.status == "refused" and one.reason and "\n" not in one.reason, one
        assert any(word in one.reason for each in reasons for word in each.split("|")), one.reason
        for text in (report_text(self.store, one), log_text(self.store, one)):
            assert "root:x:0" not in text and str(self.store.folder) not in text and "Traceback" not in text


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checks]:
    folder = tmp_path_factory.mktemp("kinds")
    with git_server(folder / "git") as (git, certificate):
        (folder / "home").mkdir()
        (folder / "home" / ".netrc").write_text("machine 127.0.0.1 login organiser password secret\n")
        (folder / "home" / ".gitconfig").write_text(GITCONFIG.format(address=git.address))
        variables = {"GIT_SSL_CAINFO": str(certificate), "HOME": str(folder / "home")}
        with mock.patch.dict(os.environ, environment(folder) | variables):
            yield Checks(folder, git)


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


def through_a_link(path: Path) -> Path:
    """Writes an image whose last layer writes through a link of the one before, out of the image."""
    leads = images.layer(images.link("out", "../../../../../../../../tmp"))
    return image(path, leads, images.layer(images.file("out/referee-owned", b"owned")), command=("/bin/nothing",))


def no_module(path: Path) -> Path:
    path.write_bytes(b"\0asm\1\0\0\0" + bytes(1000))
    return path


FILES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "bomb.zip": (bomb, "expected at most"),
    "lying.zip": (lying_bomb, "cannot be unpacked"),
    "many.zip": (lambda path: many_files(path, 100_000), "lists more than 2,000 files"),
    "link.zip": (link, "is a link"),
    "name.zip": (no_utf8, "cannot be unpacked|UTF-8"),
    "through.tar": (through_a_link, ""),
    "module.wasm": (no_module, ""),
}


def test_a_hostile_file_is_refused_in_a_line_and_nothing_of_it_stays(checks: Checks) -> None:
    handed_in = [checks.write(name, write) for name, (write, _) in FILES.items()]
    for one in checks.decide(*handed_in):
        can_play = probed().namespaces or not one.file.endswith(".tar")
        checks.refused(one, FILES[one.file][1] if can_play else "namespaces")
    assert not Path("/tmp/referee-owned").exists()


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


def test_a_hostile_commit_is_refused(checks: Checks) -> None:
    git, handed_in = checks.git, []
    for name, (make, _) in TREES.items():
        repository(git.folder / name, 1)
        handed_in.append(checks.hand_in(name, git.repository(name, make(git.folder / name))))
    for one in checks.decide(*handed_in):
        checks.refused(one, TREES[one.file][1])


def test_a_repository_leads_nowhere_else_and_gets_no_password(checks: Checks) -> None:
    """Not by redirection, nor by settings and passwords of the organiser's account."""
    git = checks.git
    repository(git.folder / "secret", 1)
    git.repository("secret")
    for name, address in {"file": f"file://{git.folder}/secret.git", "other": f"{git.address}/secret.git"}.items():
        git.leads_to = address
        one = checks.hand_in(f"to {name}", f"{git.address}/moved/x.git" if name == "file" else f"{git.address}/moved")
        checks.refused(*checks.decide(one), "redirects to another address")
    private = checks.hand_in("private", f"{git.address}/private/bot.git")
    elsewhere = checks.hand_in("elsewhere", "https://localhost/bot.git")  # no form takes it, but a restored contest may
    private, elsewhere = checks.decide(private, elsewhere)
    checks.refused(private, "cannot be cloned")
    checks.refused(elsewhere, "a repository may be at")
    assert git.passwords == []


def test_hooks_and_links_of_a_repository_are_not_followed_and_a_submodule_is_named(
    checks: Checks, tmp_path: Path
) -> None:
    git = checks.git
    home = git.folder / "tricks"
    repository(home, 1)  # with a link to /etc/passwd
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
    other = checks.hand_in("modules", git.repository("modules"))
    team = checks.hand_in("tricks", git.repository("tricks"))
    other, team = checks.decide(other, team)
    checks.refused(other, "x is a submodule without its files")
    assert team.status == "accepted"
    with zipfile.ZipFile(checks.store.folder / "bots" / f"{team.hash}.zip") as packed:
        held = {name.rpartition("/")[2]: packed.read(name) for name in packed.namelist()}
    assert held["passwords"] == b"/etc/passwd", "a link is a text file, not what it names"
    assert not (tmp_path / "owned").exists() and not any(b"root:x:0" in content for content in held.values())
