"""What strangers hand in to break a checker: links, bombs, lies about names, and code that wants to run outside."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from ladders import START, Cup, bot_files

from referee.harness.cli.main import main
from referee.harness.errors import UsageError
from referee.harness.ladder.change import Refused
from referee.harness.ladder.commits import commit_files
from referee.harness.ladder.records import batch_path, claim_path, signed_file

TOML = b'owner = ["eve"]\nrun = ["bot.wasm"]\n'


@pytest.fixture
def cup(tmp_path: Path) -> Iterator[Cup]:
    with Cup(tmp_path / "cup") as cup:
        cup.add_bots("ada bob")
        cup.add_runner("laptop", "ann")
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
        (inline(b'"bots/new/a\\nb"', b""), "has a control character, colon or backslash"),
        (inline(b'"bots/new/c:evil"', b""), "has a control character, colon or backslash"),
        (inline(b'"bots/new/\\377"', b""), "a file name is no UTF-8"),
        (inline(b"bots/new/" + b"d/" * 300 + b"x", b""), "no bot may have such a path"),
        (inline(b"bots/new/big", b"0" * (4 << 20)), "4,194,304 bytes are allowed"),
    ):
        assert words in message(cup, imported(cup, entry, more)), words


@pytest.mark.parametrize("name", [".GIT", "..", ".git"])
def test_a_path_that_leads_into_git_or_out_of_the_folder_is_refused(cup: Cup, name: str) -> None:
    """`git fast-import` refuses such names; a tree that is written by hand does not."""
    repository = cup.repository
    blob = repository.run("hash-object", "-w", "--stdin", given=b"#!/bin/sh\n").decode().strip()
    toml = repository.run("hash-object", "-w", "--stdin", given=TOML).decode().strip()
    inner = repository.run("mktree", given=f"100755 blob {blob}\tx\n".encode()).decode().strip()
    both = f"100644 blob {toml}\tbot.toml\n040000 tree {inner}\t{name}\n"
    tree = repository.run("mktree", given=both.encode()).decode().strip()
    bots = "".join(f"040000 tree {repository.id_of(cup.head, f'bots/{bot}')}\t{bot}\n" for bot in ("ada", "bob"))
    bots = repository.run("mktree", given=f"{bots}040000 tree {tree}\tnew\n".encode()).decode().strip()
    top = repository.run("ls-tree", cup.head).decode().splitlines(keepends=True)
    lines = [line for line in top if not line.endswith("\tbots\n")] + [f"040000 tree {bots}\tbots\n"]
    root = repository.run("mktree", given="".join(lines).encode()).decode().strip()
    who = {f"GIT_{role}_{part}": "e" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    head = repository.run("commit-tree", root, "-p", cup.head, "-m", "e", more=who).decode().strip()
    assert "no bot may have such a path" in message(cup, head)


@pytest.mark.parametrize(
    "toml",
    [
        b"",
        b"\xff",
        b"run = [",
        b"a." * 9000 + b"b = 1",
        b"x = " + b"[" * 50_000,
        b"run = 1",
        b'owner = "eve"',
        b"n = " + b"1" * 6000,
    ],
)
def test_a_wrong_bot_file_is_named(cup: Cup, toml: bytes) -> None:
    text = message(cup, cup.commit({"bots/new/bot.toml": toml}))
    assert text.startswith("bots/new/bot.toml")


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


@pytest.mark.parametrize("path", [claim_path("laptop", 1), batch_path("laptop", 1), "strikes/x.json"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"\xff\xfe\n\n",
        b"[" * 60_000 + b"\n\n",
        b'{"claim":1e999}\n\n',
        b"null\n\n",
        b"\0" * 100,
        b"1" * 9000,
    ],
)
def test_a_file_that_is_no_record_is_named(cup: Cup, path: str, content: bytes) -> None:
    for text in (content, signed_file(content, cup.keys["laptop"].sign(content))):
        assert message(cup, cup.commit({path: text})).startswith(path)


def test_a_huge_or_linked_record_is_refused(cup: Cup) -> None:
    path = claim_path("laptop", 1)
    assert "more than 1,048,576 bytes" in message(cup, cup.commit({path: b"0" * (2 << 20)}))
    assert "expected a plain file" in message(cup, imported(cup, inline(path.encode(), b"x", b"120000")))
    for name in ("claims/x", "claims/laptop/1.json", "claims/laptop/000001.json/x"):
        assert message(cup, cup.commit({name: b"{}\n\n"})).startswith(name)


@pytest.mark.parametrize(
    "settings", [b"", b"\xff", b'game = "chess boxing"', b'game = "connectfour"\ngames = 0', b"games = 1"]
)
def test_a_ladder_with_wrong_settings_says_so(cup: Cup, settings: bytes) -> None:
    cup.maintain({"ladder.toml": settings})
    with pytest.raises(UsageError):
        cup.ladder()


@pytest.mark.slow
def test_nothing_of_a_pull_request_runs_outside_of_the_sandbox(
    cup: Cup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its build, its bot, and what git would run in a checkout all try to write to a file and to read a key."""
    canary, secret = tmp_path / "canary", tmp_path / "secret.key"
    secret.write_text("TOP-SECRET-FILE")
    monkeypatch.setenv("REFEREE_RUNNER_KEY", "TOP-SECRET-VARIABLE")
    evil = f"echo pwned >> {canary}; cat {secret}; env"
    toml = f'owner = ["eve"]\nrun = ["sh", "bot.sh"]\nbuild = {json.dumps(evil + "; exit 0")}\n'
    script = f"{evil} >&2\n".encode()
    files = {
        "bots/eve/bot.toml": toml.encode(),
        "bots/eve/bot.sh": script,
        "bots/eve/.gitattributes": b"* filter=evil diff=evil merge=evil\n",
        "bots/eve/sitecustomize.py": f"open({str(canary)!r}, 'w')".encode(),
        "bots/eve/conftest.py": f"open({str(canary)!r}, 'w')".encode(),
    }
    folder = cup.repository.folder
    for name, command in (("filter.evil.smudge", evil), ("diff.evil.command", evil), ("diff.evil.textconv", evil)):
        subprocess.run(["git", "-C", str(folder), "config", name, command], check=True)
    for hook in ("post-merge", "post-checkout", "pre-commit", "reference-transaction", "pre-push"):
        path = folder / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\necho pwned >> {canary}\n")
        path.chmod(0o755)
    head = commit_files(cup.repository, cup.head, files, "a bot")
    assert not canary.exists()
    assert main(["ladder", "check-change", "main", head, "--author", "eve", "--folder", str(folder)]) == 1
    printed = capfd.readouterr()
    assert "refused: eve does not pass" in printed.err
    assert "TOP-SECRET" not in printed.out + printed.err
    assert not canary.exists()
