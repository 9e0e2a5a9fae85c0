"""Bots whose files are in another repository: fetched over HTTPS from listed hosts, and never trusted."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from git_server import MOVED, PRIVATE, GitServer, git_server
from ladders import HOUR, Cup
from modules import bot

from referee.addons.ladder import workshop
from referee.addons.ladder.change import BotChange, Refused
from referee.addons.ladder.commits import commit_files
from referee.addons.ladder.draw import BotVersion
from referee.addons.ladder.table import table_of
from referee.addons.ladder.verifying import problems
from referee.addons.ladder.workshop import fetch_all, unpacked
from referee.addons.tournament.intake.fetching import Unavailable, fetched
from referee.harness.cli.main import main
from referee.harness.common.errors import RunError

pytestmark = pytest.mark.slow

MODULE = bot(json.dumps({"action": "putToken", "column": "C"}))


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 5\n"


@pytest.fixture
def forge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GitServer]:
    with git_server(tmp_path / "forge") as (forge, certificate):
        monkeypatch.setenv("GIT_SSL_CAINFO", str(certificate))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        yield forge


@pytest.fixture
def cup(tmp_path: Path, forge: GitServer) -> Iterator[Cup]:
    """A ladder that fetches from the forge, with two bots of its own."""
    with Cup(tmp_path / "cup", games=4, whole=4, hosts=[forge.host]) as cup:
        cup.add_bots("ada bob")
        cup.add_runner("laptop", "ann")
        yield cup


def named(git: str | None, commit: str | None, run: str = "bot.wasm") -> dict[str, bytes]:
    """Returns the folder of a bot that names another repository."""
    lines = ['owner = ["eve"]', f"run = {json.dumps([run])}"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in (("git", git), ("commit", commit)) if value is not None]
    return {"bots/eve/bot.toml": "\n".join(lines).encode()}


def entered(cup: Cup, git: str, commit: str) -> BotVersion:
    """Enters a bot. Returns its version."""
    cup.merge(cup.commit(named(git, commit)), "eve")
    return next(each for each in cup.ladder().bots if each.name == "eve")


def get(cup: Cup, version: BotVersion) -> Path:
    return unpacked(cup.repository, version, cup.ladder().settings.bot_bytes)


def test_the_files_are_those_of_the_commit_and_the_bot_toml_that_of_the_ladder(cup: Cup, forge: GitServer) -> None:
    git, commit = forge.add("eve", {"bot.wasm": MODULE, "bot.toml": b"run = ['other']", "src/bot.c": b"int main;"})
    version = entered(cup, git, commit)
    assert (version.is_module, version.git, version.commit) == (True, git, commit)
    files = {path.name: path for path in get(cup, version).rglob("*") if path.is_file()}
    assert files.keys() == {"bot.wasm", "bot.toml", "bot.c"} and files["bot.wasm"].read_bytes() == MODULE
    assert b"owner" in files["bot.toml"].read_bytes()


@pytest.mark.slow
def test_a_team_enters_a_bot_by_address_and_it_is_checked(
    cup: Cup, forge: GitServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kit, mine, folder = tmp_path / "kit", tmp_path / "eve", str(cup.repository.folder)
    assert main(["new", "connectfour", "--lang", "python", str(kit)]) == 0
    files = {str(path.relative_to(kit)): path.read_bytes() for path in kit.rglob("*") if path.is_file()}
    git, commit = forge.add("eve", files)
    mine.mkdir()
    (mine / "bot.toml").write_bytes(files["bot.toml"] + f'\ngit = "{git}"\ncommit = "{commit}"\n'.encode())
    cup.repository.run("checkout", "--quiet", "-b", "eve")
    assert main(["ladder", "enter", str(mine), "--owner", "eve", "--folder", folder]) == 0
    assert cup.repository.text("ls-tree", "-r", "--name-only", "eve", "bots/eve") == "bots/eve/bot.toml"
    forge.asked.clear()
    assert main(["ladder", "check-change", "main", "eve", "--author", "eve", "--folder", folder]) == 0
    assert "accepted: bot eve" in capsys.readouterr().out and forge.asked


def test_a_team_is_told_of_a_strange_file_before_it_commits(
    cup: Cup, forge: GitServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git, commit = forge.add("eve", {"bot.wasm": MODULE}, b"M 120000 inline key\ndata 11\n/etc/passwd\n")
    (tmp_path / "eve").mkdir()
    (tmp_path / "eve" / "bot.toml").write_text(f'run = ["bot.wasm"]\ngit = "{git}"\ncommit = "{commit}"\n')
    words = ["--owner", "eve", "--folder", str(cup.repository.folder)]
    assert main(["ladder", "enter", str(tmp_path / "eve"), *words]) == 1
    assert capsys.readouterr().err == "refused: key is a link; a bot has plain files alone: include the file itself\n"


COMMIT = "a" * 40
ADDRESSES: list[tuple[str | None, str | None, str]] = [
    ("https://elsewhere.org/eve", COMMIT, "names the host elsewhere.org; `hosts` in ladder.toml lists"),
    *(
        (git, COMMIT, "expected an address")
        for git in (
            *("https://HOST@elsewhere.org/eve", "https://user:pw@HOST/eve", "http://HOST/eve", "file:///etc", "/etc"),
            *("ssh://HOST/eve", "git@HOST:eve/bot", "ext::sh -c touch% x", "--upload-pack=touch x"),
            *("https://HOST/--upload-pack=x", "https://HOST/../eve", "https://HOST/eve?service=x"),
            *("https://HOST/eve\n", "https://HOST/" + "e" * 300),
        )
    ),
    *(("https://HOST/eve", commit, "expected all 40 digits") for commit in ("main", "a" * 39, "--upload-pack=touch x")),
    ("https://HOST/eve", None, "`git` and `commit` belong together"),
    (None, COMMIT, "`git` and `commit` belong together"),
]


def test_only_an_address_of_a_listed_host_with_a_whole_commit_is_taken(cup: Cup, forge: GitServer) -> None:
    for git, commit, words in ADDRESSES:
        address = None if git is None else git.replace("HOST", forge.host)
        with pytest.raises(Refused, match=words) as refused:
            cup.check(cup.commit(named(address, commit)), "eve")
        assert "\n" not in str(refused.value) and forge.asked == []


def test_files_beside_an_address_are_refused(cup: Cup, forge: GitServer) -> None:
    files = named(*forge.add("eve", {"bot.wasm": MODULE})) | {"bots/eve/bot.wasm": MODULE}
    with pytest.raises(Refused, match=r"names another repository, which has the files; leave bot\.toml alone"):
        cup.check(cup.commit(files), "eve")


def test_the_rules_alone_fetch_nothing(cup: Cup, forge: GitServer) -> None:
    errand = cup.check(cup.commit(named(*forge.add("eve", {"bot.wasm": MODULE}))), "eve")
    assert isinstance(errand, BotChange) and errand.git and forge.asked == []


def test_strange_files_of_another_repository_are_refused(cup: Cup, forge: GitServer) -> None:
    for number, (lines, words) in enumerate(
        (
            (b"M 160000 %s sub\n" % (b"1" * 40), "sub is a submodule or something else"),
            (b"M 120000 inline key\ndata 11\n/etc/passwd\n", "key is a link; a bot has plain files alone"),
            (b"M 100644 inline big\ndata %d\n%s\n" % (5 << 20, bytes(5 << 20)), "4,194,304 bytes are allowed"),
            (b"M 100644 inline bot.wasm\ndata %d\n%s\n" % (len(POINTER), POINTER), "bot.wasm is a pointer of git LFS"),
        )
    ):
        version = entered(cup, *forge.add(f"eve{number}", {"bot.wasm": MODULE}, lines))
        with pytest.raises(Refused, match=words):
            get(cup, version)
        assert not list((Path(os.environ["XDG_CACHE_HOME"])).rglob("bot.wasm"))


def test_a_commit_of_many_bytes_is_not_fetched_whole(cup: Cup, forge: GitServer) -> None:
    version = entered(cup, *forge.add("eve", {"bot.wasm": os.urandom(6 << 20)}))
    with pytest.raises(RunError, match=r"the commit \w+ has more than 4,194,304 bytes"):
        get(cup, version)


def test_a_server_that_never_answers_is_left(cup: Cup, forge: GitServer, monkeypatch: pytest.MonkeyPatch) -> None:
    version = entered(cup, *forge.add("eve", {"bot.wasm": MODULE}))
    monkeypatch.setattr(workshop, "FETCH_S", 1.0)
    forge.stalls = True
    with pytest.raises(Unavailable, match="it took longer than 1 s"):
        get(cup, version)


def test_a_redirect_leads_to_no_other_host(cup: Cup, forge: GitServer) -> None:
    address, commit = forge.add("eve", {"bot.wasm": MODULE})
    version = entered(cup, address.replace("/eve", f"{MOVED}eve"), commit)
    forge.leads_to = forge.address.replace("127.0.0.1", "localhost")
    with pytest.raises(Unavailable, match="does not give the commit"):
        get(cup, version)
    assert len(forge.asked) == 1


def test_a_commit_that_vanished_is_named_and_its_games_stay(cup: Cup, forge: GitServer, tmp_path: Path) -> None:
    version = entered(cup, *forge.add("eve", {"bot.wasm": MODULE}))
    cup.merge(cup.claimed("laptop"))
    lost = cup.open("laptop")
    assert any(bot.name == "eve" for bot in cup.ladder().bots)
    get(cup, version)
    forge.remove("eve")
    get(cup, version)  # who has it plays on
    shutil.rmtree(tmp_path / "cache")
    with pytest.raises(RunError, match=r"eve: https://\S+ does not give the commit .*removes bots/eve. Its games stay"):
        fetch_all(cup.ladder())
    cup.now += 7 * HOUR  # nobody else can play its games
    cup.add_runner("tower", "ben")
    cup.maintain({f"bots/{name}/bot.toml": b"owner = ['x']\nrun = ['bot.wasm']\n" for name in ("cyd", "dan")})
    cup.set(commit_files(cup.repository, cup.head, {}, "eve has vanished", folder=("bots/eve", "")))
    cup.play("tower")
    ladder = cup.ladder()
    bots, _, games = ladder.games_of(ladder.chain.claims[lost])
    plays = any(bots[place].name == "eve" for game in games for place in game.bots)
    cup.merge(cup.claimed("tower"))
    assert (cup.ladder().chain.claims[cup.open("tower")].of == "") == plays
    assert list(problems(cup.ladder())) == []


def test_games_of_a_bot_that_vanished_stay_in_the_table_of_their_commit(cup: Cup, forge: GitServer) -> None:
    entered(cup, *forge.add("eve", {"bot.wasm": MODULE}))
    for _ in range(3):
        cup.play("laptop")
    before, commit = table_of(cup.ladder(), use_cache=False), cup.head
    assert next(row.games for row in before.rows if row.name == "eve") > 0
    forge.remove("eve")
    cup.set(commit_files(cup.repository, cup.head, {}, "eve has vanished", folder=("bots/eve", "")))
    table = table_of(cup.ladder(), use_cache=False)
    assert table.games == before.games == 12 and "eve" not in {row.name for row in table.rows}
    assert table_of(cup.ladder(commit), use_cache=False) == before


def test_verify_names_a_bot_that_vanished_and_goes_on(
    forge: GitServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Cup(tmp_path / "duel", games=4, whole=4, hosts=[forge.host]) as cup:
        cup.add_bots("zed")
        cup.add_runner("laptop", "ann")
        entered(cup, *forge.add("eve", {"bot.wasm": MODULE}))
        cup.play("laptop")
        forge.remove("eve")
        words = ["verify", "main", "--play", "all", "--folder", str(cup.repository.folder), "--jobs", "1"]
        assert main(["ladder", *words]) == 0
    printed = capsys.readouterr()
    text = " ".join(printed.err.split())
    assert "eve: https://" in text and "Its games stay; they were not played again" in text
    assert "0 games played again; verified" in " ".join(printed.out.split())


def test_no_password_of_this_account_reaches_a_listed_host(
    forge: GitServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither one of a file, nor one that a workflow has in its environment."""
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login maintainer password secret\n")
    settings = {"COUNT": "1", "KEY_0": "http.extraHeader", "VALUE_0": "Authorization: Basic c2VjcmV0"}
    for name, value in {
        "HOME": str(tmp_path),
        **{f"GIT_CONFIG_{name}": value for name, value in settings.items()},
    }.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(Unavailable), fetched(f"{forge.address}{PRIVATE}bot.git", "0" * 40, 1 << 20, 30.0):
        pass
    assert forge.asked and forge.passwords == []


def test_a_hook_of_another_repository_may_fetch_bots(
    cup: Cup, forge: GitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git tells its hooks their repository by variables, which are not meant for this one."""
    git, commit = forge.add("eve", {"bot.wasm": MODULE})
    before = cup.repository.text("for-each-ref")
    with monkeypatch.context() as hook:
        hook.setenv("GIT_DIR", str(cup.repository.folder / ".git"))
        with fetched(git, commit, 1 << 20, 30.0) as other:
            assert [file.path for file in other.entries(commit)] == ["bot.wasm"]
    assert cup.repository.text("for-each-ref") == before
