"""What strangers hand in to break a checker: links, bombs, lies about names, and code that wants to run outside."""

import gzip
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ladders import START, Cup, bot_files

from referee.addons.ladder import pages
from referee.addons.ladder import replays as packs
from referee.addons.ladder.change import BotChange, Refused
from referee.addons.ladder.commits import commit_files
from referee.addons.ladder.records import are_lines, claim_path, read_game, signed_file
from referee.addons.ladder.table import table_of
from referee.harness.cli.main import main
from referee.harness.common.errors import UsageError
from referee.harness.replay.reader import HEADER

pytestmark = pytest.mark.slow

TOML = b'owner = ["eve"]\nrun = ["bot.wasm"]\n'


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cup]:
    with Cup(tmp_path_factory.mktemp("strangers") / "cup") as cup:
        cup.add_bots("ada bob")
        cup.add_runner("laptop", "ann")
        yield cup


@pytest.fixture
def cup(shared: Cup) -> Iterator[Cup]:
    with shared.back() as cup:
        yield cup


def imported(cup: Cup, *lines: bytes) -> str:
    """Returns a commit with changes that no usual command makes."""
    text = b"commit refs/heads/strange\ncommitter e <e@e> %d +0000\ndata 1\ne\nfrom %s\n" % (START, cup.head.encode())
    command = ["git", "-C", str(cup.repository.folder), "fast-import", "--quiet", "--force"]
    subprocess.run(command, input=text + b"\n".join([*lines, b"", b""]), check=True, capture_output=True)
    return cup.repository.commit("strange")


def inline(path: bytes, content: bytes, mode: bytes = b"100644") -> bytes:
    return b"M %s inline %s\ndata %d\n%s" % (mode, path, len(content), content)


def message(cup: Cup, head: str, author: str = "eve") -> str:
    with pytest.raises(Refused) as refused:
        cup.check(head, author)
    text = str(refused.value)
    assert "\n" not in text and len(text) < 1000
    return text


def test_a_bot_has_plain_files_alone(cup: Cup) -> None:
    entry = inline(b"bots/new/bot.toml", TOML)
    for more, words in (
        (inline(b"bots/new/key", b"/etc/passwd", b"120000"), "bots/new/key is a link; a bot has plain files alone"),
        (b"M 160000 %s bots/new/sub" % (b"1" * 40), "bots/new/sub is a submodule or something else"),
        (inline(b'"bots/new/a\\nb"', b""), "has a control character or one of"),
        (inline(b'"bots/new/c:evil"', b""), "has a control character or one of"),
        (inline("bots/new/\u202eexe.txt".encode(), b""), "has a control character or one of"),
        (inline(b"bots/new/aux.c", b""), "Windows can have no file of this name"),
        (inline(b"bots/new/lib./a", b""), "Windows can have no file of this name"),
        (inline(b"bots/new/" + b"x" * 256, b""), "it is too long"),
        (inline(b'"bots/new/\\377"', b""), "a file name is no UTF-8"),
        (inline(b"bots/new/" + b"d/" * 300 + b"x", b""), "no bot may have such a path"),
        (inline(b"bots/new/big", b"0" * (4 << 20)), "4,194,304 bytes are allowed"),
    ):
        assert words in message(cup, imported(cup, entry, more)), words
    for place in (b"bots/new", b"bots", b"bots/ada"):  # nor is its folder, or a rival's, something else
        for other in (inline(place, b"../runners", b"120000"), b"M 160000 %s %s" % (b"1" * 40, place)):
            assert "a maintainer changes everything else" in message(cup, imported(cup, other)), place


Entries = list[tuple[bytes, bytes, str]]


def folder(cup: Cup, entries: Entries) -> str:
    """Writes a folder with these modes, names and ids, which no usual command writes. Returns its id."""
    content = b"".join(b"%s %s\0%s" % (mode, name, bytes.fromhex(id)) for mode, name, id in entries)
    return written(cup, content, "tree")


def written(cup: Cup, content: bytes, kind: str = "blob") -> str:
    words = ("hash-object", "-w", "--literally", "-t", kind, "--stdin")
    return cup.repository.run(*words, given=content).decode().strip()


def with_bot(cup: Cup, *entries: Entries | str, name: bytes = b"new") -> str:
    """Returns a commit with folders of bots, also several of a name. An entry that is a string is a folder's id."""
    new = [(b"40000", name, each if isinstance(each, str) else folder(cup, each)) for each in entries]
    old = [(b"40000", bot.encode(), cup.repository.id_of(cup.head, f"bots/{bot}")) for bot in ("ada", "bob")]
    root = cup.repository.entries(cup.head, deep=False)
    bots = {"bots": folder(cup, sorted([*old, *new], key=lambda each: each[1]))}
    top = folder(
        cup, [(each.mode.lstrip("0").encode(), each.path.encode(), bots.get(each.path, each.id)) for each in root]
    )
    return written(cup, b"tree %s\nparent %s\nauthor e <e> 1 +0000\ncommitter e <e> 1 +0000\n\ne\n" % (
        top.encode(), cup.head.encode(),
    ), "commit")  # fmt: skip


def test_a_path_that_leads_into_git_or_out_of_the_folder_is_refused(cup: Cup) -> None:
    """Such a file once merged, nobody could check out a clone of the ladder any more."""
    blob, toml = written(cup, b"#!/bin/sh\n"), written(cup, TOML)
    inner = folder(cup, [(b"100755", b"x", blob)])
    for name in (".GIT", "..", ".git", "git~1", "GIT~1", ".git .", ".gi\u200ct"):
        entries = sorted([(b"100644", b"bot.toml", toml), (b"40000", name.encode(), inner)], key=lambda each: each[1])
        text = message(cup, with_bot(cup, entries))
        assert "no bot may have such a path" in text or "a file name has a control character" in text


def test_a_folder_that_git_does_not_write_is_refused(cup: Cup) -> None:
    """Commands of git read it differently, so that one would be checked and another one played."""
    toml, other, plain = written(cup, TOML), written(cup, b"x"), b"100644"
    good = [(plain, b"bot.toml", toml)]
    inner = folder(cup, [(plain, b"x", other)])
    for entries in (
        [*good, (plain, b"bot.toml", other)],
        [(plain, b"a", other), *good, (b"40000", b"a", inner)],
        [*good, (plain, b"a", other)],
        [*good, (plain, b"x/y", other)],
        [*good, (plain, b"x/../../ada/bot.toml", other)],
        [*good, (plain, b"", other)],
        [*good, (b"", b"x", other)],
        [*good, (b"\xff\xfe", b"x", other)],
        [*good, (b"1z0644", b"x", other)],
    ):
        assert "is none that git writes" in message(cup, with_bot(cup, entries)), entries
    for content in (b"garbage", b"100644 x", b"100644 x\0abc"):
        assert "is none that git writes" in message(cup, with_bot(cup, written(cup, content, "tree"))), content
    assert "is none that git writes" in message(cup, with_bot(cup, good, [*good, (plain, b"x", other)]))
    assert "is missing" in message(cup, with_bot(cup, other))
    assert "cannot be read" in message(cup, with_bot(cup, [*good, (plain, b"x", "1" * 40)]))


def test_files_that_are_one_file_on_some_systems_are_refused(cup: Cup) -> None:
    pairs = [("Bot.py", "bot.py"), ("\u00e9.py", "e\u0301.py"), ("Lib/a.py", "lib/b.py"), ("LIB", "lib/b.py")]
    for one, other in [*pairs, ("\u212a", "k")]:
        files = bot_files("new", owner="eve") | {f"bots/new/{name}": b"" for name in (one, other)}
        assert "some systems take it for" in message(cup, cup.commit(files)), one


def test_the_name_of_a_bot_is_a_file_name_everywhere(cup: Cup) -> None:
    for name in ("con", "NUL", "Com1", "aux.v2", "x."):
        files = {path.replace("/new/", f"/{name}/"): text for path, text in bot_files("new", owner="eve").items()}
        assert "Windows can have no file of this name" in message(cup, cup.commit(files)), name


def test_a_change_does_not_fill_the_ladder_with_what_it_removes_again(tmp_path: Path) -> None:
    """A merge keeps every commit of a pull request."""
    with Cup(tmp_path / "cup", bot_bytes=200_000) as cup:
        big = cup.commit(bot_files("new", owner="eve") | {"bots/new/big": os.urandom(2 << 20)})
        small = commit_files(cup.repository, big, {}, "smaller", folder=("bots/new/big", ""))
        assert "squash them into one commit" in message(cup, small)
        versions = cup.head
        for _ in range(4):
            versions = cup.commit(bot_files("new", owner="eve") | {"bots/new/weights": os.urandom(150_000)}, versions)
        assert isinstance(cup.check(versions, "eve"), BotChange)


def test_a_file_of_replays_that_is_too_large_is_left_out_of_the_pages(cup: Cup, tmp_path: Path) -> None:
    hash, folder = cup.claim("laptop"), tmp_path / "replays"
    cup.do("laptop", hash)
    ladder = cup.ladder()
    batch = ladder.chain.results[hash]["ann"].hash
    packs.keep(folder, batch, gzip.compress(HEADER))
    os.truncate(folder / batch / "0001.jsonl.gz", 65 << 20)
    assert len(pages.write(ladder, table_of(ladder, use_cache=False), tmp_path / "site", folder).written) == 5


def test_the_bot_file_of_a_bot_is_no_longer_than_everybody_reads(cup: Cup) -> None:
    """Otherwise nobody could read the list of bots any more."""
    long = bot_files("new", owner="eve")
    long["bots/new/bot.toml"] += b"#" * (64 << 10)
    assert "bots/new/bot.toml has more than 65,536 bytes" in message(cup, cup.commit(long))


def test_a_wrong_bot_file_is_named(cup: Cup) -> None:
    for toml in (
        *(b"", b"\xff", b"run = [", b"a." * 9000 + b"b = 1", b"x = " + b"[" * 50_000),
        *(b"run = 1", b'owner = "eve"', b"n = " + b"1" * 6000),
    ):
        assert message(cup, cup.commit({"bots/new/bot.toml": toml})).startswith("bots/new/bot.toml"), toml[:20]


def test_too_many_files_are_refused_at_once(cup: Cup) -> None:
    many = {f"bots/new/{number}": b"" for number in range(2100)}
    assert "touches more than 2,000 files" in message(cup, cup.commit(bot_files("new", owner="eve") | many))


@pytest.mark.parametrize(("content", "words"), [(TOML, "touches more than 2,000 files"), (None, "too many folders")])
def test_a_few_objects_that_stand_for_ten_thousand_million_are_refused(cup: Cup, content: bytes, words: str) -> None:
    tree, kind, mode = cup.repository.run("mktree").decode().strip(), "tree", "040000"
    if content:
        tree = cup.repository.run("hash-object", "-w", "--stdin", given=content).decode().strip()
        kind, mode = "blob", "100644"
    for _ in range(10):
        entries = "".join(f"{mode} {kind} {tree}\t{number}\n" for number in range(10))
        tree, kind, mode = cup.repository.run("mktree", given=entries.encode()).decode().strip(), "tree", "040000"
    head = imported(cup, b"M 040000 %s bots/new" % tree.encode())
    assert words in message(cup, head)


def test_a_change_without_common_history_is_refused(cup: Cup) -> None:
    text = b"commit refs/heads/alien\ncommitter e <e@e> 1 +0000\ndata 1\ne\n" + inline(b"bots/new/bot.toml", TOML)
    command = ["git", "-C", str(cup.repository.folder), "fast-import", "--quiet", "--force"]
    subprocess.run(command, input=text + b"\n\n", check=True, capture_output=True)
    assert "shares no history with the ladder" in message(cup, cup.repository.commit("alien"))
    assert "changes nothing" in message(cup, cup.head)


BATCH, SEAL = "games/laptop/000001/laptop.txt", "seals/laptop/000001/laptop.json"
CHECKPOINT = f"checkpoints/{'0' * 40}/x.json"


@pytest.mark.parametrize("path", [claim_path("laptop", 1), SEAL, BATCH, CHECKPOINT, "strikes/x.json"])
def test_a_file_that_is_no_record_is_named(cup: Cup, path: str) -> None:
    for content in (
        *(b"", b"\n\n", b"\xff\xfe\n\n", b"[" * 60_000 + b"\n\n", b'{"claim":1e999}\n\n', b"null\n\n"),
        *(b"\0" * 100, b"1" * 9000),
    ):
        for text in (content, signed_file(content, cup.keys["laptop"].sign(content))):
            assert message(cup, cup.commit({path: text})).startswith(path)


def test_a_huge_or_linked_record_is_refused(cup: Cup) -> None:
    path = claim_path("laptop", 1)
    for each in (path, "strikes/x.json"):  # whitespace around a true strike would do
        assert "more than 65,536 bytes" in message(cup, cup.commit({each: b" " * (64 << 10) + b"{}"}))
    assert "more than 1,048,576 bytes" in message(cup, cup.commit({BATCH: b"0" * (2 << 20)}))
    assert "expected a plain file" in message(cup, imported(cup, inline(path.encode(), b"x", b"120000")))
    for name in ("claims/x", "claims/laptop/1.json", "claims/laptop/000001.json/x", "seals/x", "games/x.txt"):
        assert message(cup, cup.commit({name: b"{}\n\n"})).startswith(name)


def test_a_ladder_with_wrong_settings_says_so(cup: Cup) -> None:
    for settings in (
        *(b"", b"\xff", b'game = "chess boxing"', b"game = 1", b"games = 0", b"ladder = 1", b"ladder = 3"),
        *(b"seats = %d" % seats for seats in (-1, 0, 3, 1_000_000_000)),
        *(
            b'beacon = "moon"',
            b"beacon = 1",
            b"[beacon]\nscheme = 'x'",
            b"[beacon]\nkey = '00'",
            b"[beacon]\nperiod = 0",
        ),
        b"[beacon]\naddresses = ['file:///etc']",
    ):
        right = {b"ladder": b"2", b"game": b'"connectfour"', b"versions": b'"x"'}
        lines = [b"%s = %s" % each for each in right.items() if each[0] != settings.split(b" =")[0]]
        cup.maintain({"ladder.toml": b"\n".join([*lines, settings]) if settings else b""})
        with pytest.raises(UsageError, match=r"ladder\.toml|unknown game"):
            cup.ladder()


def test_a_ladder_of_the_first_edition_is_refused_with_a_sentence(cup: Cup) -> None:
    cup.maintain({"ladder.toml": b'game = "connectfour"\nversion = 1\n'})
    with pytest.raises(UsageError, match="this ladder is of the first edition, which nobody can prove; make a new one"):
        cup.ladder()


parts = st.tuples(
    st.sampled_from([*(5 * ["12", "21", "11"]), "22", "13", "1", "123", "132", "111", "10", "x", ""]),
    st.sampled_from([*(5 * ["9", "1234567"]), "0", "12345678", "-1", "x"]),
    st.sampled_from(
        [*(5 * ["a" * 32, "a" * 32 + ":" + "b" * 8]), "0" * 24, "a" * 31, "A" * 32, "a" * 33, "a" * 32 + ":" + "b" * 7]
    ),
    st.sampled_from([*(9 * ["1,2"]), "1", "1,2,3", "999999999999999,0", "1234567890123456,1", ",", ""]),
    st.sampled_from(
        [*(5 * ["", " 0timeout"]), " 1timeout~", " 01crash", " 2crash", " 00x 1y", " 011x", " timeout", "  ", "\n"]
    ),
)


@given(st.lists(parts, min_size=1, max_size=3), st.integers(2, 3))
def test_lines_are_judged_together_as_they_are_one_by_one(texts: list[tuple[str, ...]], seats: int) -> None:
    lines = ["".join([*(f"{word} " for word in words[:3]), *words[3:]]).encode() for words in texts]

    def is_right(line: bytes) -> bool:
        try:
            game = read_game(line, "a line")
        except UsageError:
            return False
        ranks = all(rank == 1 + sum(other < rank for other in game.ranks) for rank in game.ranks)
        return ranks and len(game.ranks) == len(game.costs) == seats and all(each.seat < seats for each in game.faults)

    assert are_lines(lines, seats) == all(map(is_right, lines))


SHELL = 'owner = ["eve"]\nrun = ["sh", "bot.sh"]\ndeterministic = true\n'


class Trap:
    """A file that nobody may write, a key that nobody may read, and a git that would run a stranger's commands."""

    HOOKS = (
        *("applypatch-msg", "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-merge-commit"),
        *("post-checkout", "post-merge", "pre-push", "post-rewrite", "post-index-change", "reference-transaction"),
        *("pre-receive", "update", "post-receive", "post-update", "push-to-checkout", "fsmonitor-watchman"),
    )

    def __init__(self, folder: Path) -> None:
        self.canary, self.key, self.hook = folder / "canary", folder / "secret.key", folder / "hook"
        self.key.write_text("TOP-SECRET-FILE")
        self.evil = f"echo pwned >> {self.canary}; cat {self.key}; env"
        self.hook.write_text(f"#!/bin/sh\necho pwned >> {self.canary}\ncat\n")
        self.hook.chmod(0o755)

    def set(self, clone: Path) -> None:
        """Sets up a clone as somebody might who trusts everything: with filters, drivers and hooks."""
        settings = {
            **{f"filter.{name}.{kind}": str(self.hook) for name in ("evil", "lfs") for kind in ("clean", "smudge")},
            **{f"filter.{name}.process": str(self.hook) for name in ("evil", "lfs")},
            **{f"diff.evil.{kind}": str(self.hook) for kind in ("command", "textconv")},
            "merge.evil.driver": str(self.hook),
            "core.fsmonitor": str(self.hook),
            "core.pager": str(self.hook),
            "core.editor": str(self.hook),
            "core.sshCommand": str(self.hook),
            "gpg.program": str(self.hook),
            "submodule.recurse": "true",
        }
        for name, value in settings.items():
            subprocess.run(["git", "-C", str(clone), "config", name, value], check=True)
        for hook in self.HOOKS:
            path = clone / ".git" / "hooks" / hook
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(self.hook.read_bytes())
            path.chmod(0o755)

    def files(self) -> dict[str, bytes]:
        """Returns a bot full of what build tools, Python and git would run."""
        build = f"make; python3 setup.py install; sh ./configure; {self.evil}; exit 0"
        python = f"open({str(self.canary)!r}, 'w').write(open({str(self.key)!r}).read())".encode()
        pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 9\n" % (b"a" * 64)
        shell = f"#!/bin/sh\n{self.evil} >&2\n".encode()
        files = {
            "bot.toml": f"{SHELL}build = {json.dumps(build)}\n".encode(),
            "bot.sh": shell,
            "configure": shell,
            "Makefile": f"all:\n\t{self.evil}\n".encode(),
            "setup.py": python,
            "conftest.py": python,
            "sitecustomize.py": python,
            "pyproject.toml": b'[build-system]\nrequires = []\nbuild-backend = "setup"\nbackend-path = ["."]\n',
            ".gitattributes": b"* filter=evil diff=evil merge=evil export-subst ident\n*.bin filter=lfs\n",
            ".lfsconfig": b"[lfs]\n\turl = https://evil.example\n\tfetchexclude = x\n",
            ".gitmodules": f'[submodule "x"]\n\tpath = x\n\turl = ext::{self.hook}\n\tupdate = !{self.hook}\n'.encode(),
            "weights.bin": pointer,
            f"--upload-pack={str(self.hook).replace('/', '_')}": shell,
            "-c": shell,
            "--help": shell,
            "$(touch canary)": shell,
            "`touch canary`;touch canary": shell,
            "hooks/post-checkout": shell,
            ".husky/post-merge": shell,
            ".envrc": shell,
        }
        return {f"bots/eve/{name}": content for name, content in files.items()}


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Cup]:
    with Cup(tmp_path / "cup") as cup:
        cup.add_bots("ada bob")
        yield cup


@pytest.fixture
def trap(own: Cup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trap:
    """A ladder on a forge, whose maintainer's clone is set up to run everything."""
    trap = Trap(tmp_path)
    monkeypatch.setenv("REFEREE_RUNNER_KEY", "TOP-SECRET-VARIABLE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = own.repository.folder
    subprocess.run(["git", "clone", "--quiet", "--bare", str(folder), str(tmp_path / "forge.git")], check=True)
    subprocess.run(["git", "-C", str(folder), "remote", "add", "origin", str(tmp_path / "forge.git")], check=True)
    subprocess.run(["git", "-C", str(folder), "fetch", "--quiet", "origin"], check=True)
    trap.set(folder)
    return trap


@pytest.mark.slow
def test_nothing_of_a_pull_request_runs_outside_of_the_sandbox(
    own: Cup, trap: Trap, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its build, its bot, and what git would run in a checkout all try to write to a file and to read a key."""
    folder, files = str(own.repository.folder), trap.files()
    del files["bots/eve/weights.bin"]
    head = commit_files(own.repository, own.head, files, "a bot")
    assert main(["ladder", "check-change", "main", head, "--author", "eve", "--folder", folder]) == 1
    printed = capfd.readouterr()
    assert "refused: eve does not pass" in printed.err
    assert "builds" in printed.out and "No such file or directory" in printed.out  # it did try
    assert "TOP-SECRET" not in printed.out + printed.err
    assert not trap.canary.exists()


def test_a_change_is_merged_pushed_and_shown_without_running_anything_of_it(
    own: Cup, trap: Trap, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    head = commit_files(own.repository, own.head, trap.files(), "a bot")
    folder = ["--folder", str(own.repository.folder)]
    words = ["--author", "eve", "--rules-only", "--merge", "main"]
    assert main(["ladder", "check-change", "origin/main", head, *words, *folder]) == 0
    forge = tmp_path / "forge.git"
    listed = subprocess.run(
        ["git", "-C", str(forge), "ls-tree", "-r", "main", "bots/eve/"], capture_output=True, check=True
    )
    assert len(listed.stdout.splitlines()) == len(trap.files())
    own.repository.run("update-ref", "refs/heads/main", "refs/remotes/origin/main")
    assert main(["ladder", "show", "origin/main", "--no-cache", *folder]) == 0
    assert main(["ladder", "verify", "origin/main", *folder]) == 0
    assert main(["ladder", "publish", str(tmp_path / "site"), "--commit", "origin/main", *folder]) == 0
    printed = capfd.readouterr()
    assert "TOP-SECRET" not in printed.out + printed.err and not trap.canary.exists()


def test_a_pointer_of_git_lfs_is_named_and_nothing_fetches_what_it_stands_for(
    own: Cup, trap: Trap, capfd: pytest.CaptureFixture[str]
) -> None:
    head = commit_files(own.repository, own.head, trap.files(), "a bot")
    words = ["--author", "eve", "--folder", str(own.repository.folder)]
    assert main(["ladder", "check-change", "main", head, *words]) == 1
    assert "weights.bin is a pointer of git LFS; include the file itself" in " ".join(capfd.readouterr().err.split())
    assert not trap.canary.exists()


def test_links_and_submodules_beside_a_trap_are_refused(own: Cup, trap: Trap) -> None:
    files = [inline(b'"%s"' % path.encode(), content) for path, content in trap.files().items()]
    for entry, words in (
        (b"M 120000 inline bots/eve/key\ndata 11\n/etc/passwd", "bots/eve/key is a link"),
        (b"M 120000 inline bots/eve/up\ndata 13\n../../runners", "bots/eve/up is a link"),
        (b"M 160000 %s bots/eve/x" % (b"1" * 40), "bots/eve/x is a submodule"),
    ):
        head = imported(own, *files, entry)  # the test itself runs hooks here
        trap.canary.unlink()
        assert words in message(own, head)
        assert not trap.canary.exists()
