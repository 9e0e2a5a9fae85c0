"""Games of native programs are handed in with their replays, which must obey the rules and give the results."""

import base64
import gzip
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest
import trio
from ladders import Cup
from scripted import PREAMBLE

from referee.addons.ladder import playing
from referee.addons.ladder import replays as packs
from referee.addons.ladder.commits import commit_files, push_branch
from referee.addons.ladder.games import Played, play_games
from referee.addons.ladder.keys import VARIABLE
from referee.addons.ladder.records import game_line
from referee.addons.ladder.verifying import problems
from referee.addons.tournament.execution.local import open_local
from referee.addons.tournament.intake.objects import Repository
from referee.harness.cli.main import main

pytestmark = pytest.mark.slow
opened = partial(open_local, workers=1, pin=False)
TOML = 'run = ["python3", "-I", "-S", "-B", "bot.py"]\nowner = ["{}"]\ndeterministic = true\n'


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cup, dict[int, Played]]]:
    """A ladder of two native programs on a forge, with games that Ann and Ben have sealed."""
    top = tmp_path_factory.mktemp("ladder")
    with Cup(top / "cup", games=4) as cup:
        cup.now = 1_790_500_000
        for name, column in (("ada", "C"), ("bob", "D")):
            answer = json.dumps({"action": "putToken", "column": column})
            program = f"{PREAMBLE}greet()\nwhile True:\n    throw({answer})\n".encode()
            cup.maintain({f"bots/{name}/bot.toml": TOML.format(name).encode(), f"bots/{name}/bot.py": program})
        cup.add_runner("laptop", "ann")
        cup.add_runner("tower", "ben")
        Repository.made(top / "forge.git").__exit__()
        cup.repository.run("remote", "add", "origin", str(top / "forge.git"))
        cup.repository.run("push", "--quiet", "origin", "main")
        hash = cup.claim("laptop")
        games = played(cup, hash)
        cup.merge(cup.hand_in("laptop", hash, lines=texts(games)))
        cup.merge(cup.hand_in("tower", hash, lines=texts(games)))  # the copy of a friend
        cup.now += 60
        yield cup, games


@pytest.fixture
def cup(shared: tuple[Cup, dict[int, Played]], monkeypatch: pytest.MonkeyPatch) -> Iterator[Cup]:
    monkeypatch.setattr("referee.addons.ladder.change.time.time", lambda: shared[0].now)
    with shared[0].back() as cup:
        yield cup


@pytest.fixture
def hash(cup: Cup) -> str:
    (hash,) = cup.ladder().chain.claims
    return hash


def played(cup: Cup, hash: str) -> dict[int, Played]:
    return trio.run(partial(play_games, cup.at_play(), hash, opened, range(4), now=cup.now))


def texts(games: Mapping[int, Played]) -> list[bytes]:
    return [game_line(games[place].line) for place in sorted(games)]


def resealed(cup: Cup, hash: str, lines: list[bytes]) -> str:
    """Returns a commit that opens a seal, of a runner that has sealed these lines."""
    claim = cup.repository.text("log", "--first-parent", "--format=%H", "-1", "--", "claims")
    cup.set(claim)
    cup.merge(cup.hand_in("laptop", hash, lines=lines))
    cup.merge(cup.hand_in("tower", hash, lines=[line + b" 0crash" for line in lines]))
    cup.now += 60
    return cup.hand_in("laptop", hash, lines=lines)


def push(cup: Cup, hash: str, pack: bytes, name: str = "") -> None:
    """Pushes the branch of a claim's replays."""
    commit = commit_files(cup.repository, None, {name or packs.pack_name(hash): pack}, "Replays")
    push_branch(cup.repository, commit, packs.branch_of(cup.ladder().chain.claims[hash], "laptop"), "origin")


def checked(cup: Cup, head: str, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
    """Returns the exit code of check-change and what it prints."""
    words = ["--author", "x", "--folder", str(cup.repository.folder), "--jobs", "1", "--no-pin", *more]
    code = main(["ladder", "check-change", cup.head, head, *words])
    printed = capsys.readouterr()
    return code, " ".join((printed.out + printed.err).split())


def test_a_batch_of_native_programs_is_refused_without_its_replays(
    shared: tuple[Cup, dict[int, Played]], cup: Cup, hash: str, capsys: pytest.CaptureFixture[str]
) -> None:
    games = shared[1]
    head = cup.hand_in("laptop", hash, lines=texts(games))
    cup.repository.run("push", "--quiet", "origin", ":refs/heads/ladder/laptop-000001-replays")
    code, text = checked(cup, head, capsys)
    assert code == 1 and text == (
        "refused: the batch of laptop, claim 1 of laptop: native programs play in it, so its replays are needed; push "
        "the branch ladder/laptop-000001-replays to the same repository, as `referee ladder play` does"
    )
    push(cup, hash, packs.packed(games))
    assert checked(cup, head, capsys) == (
        0,
        "accepted: 4 games of laptop, claim 1 of laptop; 0 games of modules to prove",
    )
    assert checked(cup, head, capsys, "--from", str(cup.repository.folder / ".." / "nobody"))[0] == 1
    cup.repository.run("push", "--quiet", "--force", "origin", f"{head}:refs/pull/7/head")
    cup.repository.run("fetch", "--quiet", "origin", "refs/pull/7/head")
    forge = str(cup.repository.folder / ".." / "forge.git")
    for more in ([], ["--merge", "main"]):  # fetching the replays leaves alone what the user has fetched
        assert checked(cup, "FETCH_HEAD", capsys, "--from", forge, *more)[0] == 0
    assert cup.repository.commit("FETCH_HEAD") == head
    cup.repository.run("push", "--quiet", "--force", "origin", f"{cup.head}:refs/heads/main")
    assert checked(cup, head, capsys, "--rules-only")[0] == 0  # the step that merges, after the one that has checked


@pytest.fixture
def replays(shared: tuple[Cup, dict[int, Played]]) -> list[bytes]:
    return [gzip.decompress(shared[1][place].replay) for place in sorted(shared[1])]


def pack(replays: Sequence[bytes]) -> bytes:
    return b"".join(gzip.compress(each, mtime=0) for each in replays)


def swapped(old: bytes, new: bytes) -> Callable[[list[bytes]], bytes]:
    """Returns a forger that changes the first replay."""

    def forge(replays: list[bytes]) -> bytes:
        assert old in replays[0]
        return pack([replays[0].replace(old, new), *replays[1:]])

    return forge


@pytest.mark.parametrize(
    ("forge", "words"),
    [
        pytest.param(swapped(b'"column":"C"', b'"column":"E"'), "its replay is wrong: line", id="answer"),
        pytest.param(swapped(b'"seed":', b'"seed":1'), "its replay has the seed 1", id="seed"),
        pytest.param(swapped(b'"ada@', b'"eve@'), " eve@", id="bot"),
        pytest.param(swapped(b'"ada@', b'"ada@0'), " ada@0", id="version"),
        pytest.param(swapped(b'{"opening":', b'{"faults":5,"opening":'), "its replay is wrong", id="more fields"),
        pytest.param(swapped(b'{"opening":', b'{"turn":"x","opening":'), "its replay is wrong", id="no number"),
        pytest.param(swapped(b'"wall_s":', b'"wall_s":1e308,"x":'), "its replay is wrong", id="endless call"),
        pytest.param(swapped(b'"seats":[', b'"seats":[],"x":['), "its replay has no summary", id="no summary"),
        pytest.param(lambda all: pack([all[1], *all[1:]]), "game 1 (", id="another game"),
        pytest.param(lambda all: pack(all[:3]), "it has 3 replays; expected 4", id="a game left out"),
        pytest.param(lambda all: pack([*all, all[0]]), "it has 5 replays; expected 4", id="a game too many"),
        pytest.param(lambda all: b"no gzip", "its replays cannot be read", id="no gzip"),
        pytest.param(lambda all: pack(all)[:-9], "its replays cannot be read", id="cut off"),
        pytest.param(lambda all: b"", "it has 0 replays; expected 4", id="empty"),
        pytest.param(lambda all: gzip.compress(bytes(300 << 20), 1), "it has more than 256 MiB", id="bomb"),
        pytest.param(lambda all: pack([b'{"replay":' + b"[" * 100_000 + b"\n"] * 4), "its replay is wrong", id="deep"),
        pytest.param(lambda all: pack([b'{"replay":1}\n'] * 4), "its replay is wrong", id="no replay"),
        pytest.param(lambda all: pack([b'{"replay":\xff\n'] * 4), "its replay is wrong", id="no UTF-8"),
    ],
)
def test_replays_that_do_not_give_the_results_are_refused(
    cup: Cup,
    hash: str,
    replays: list[bytes],
    shared: tuple[Cup, dict[int, Played]],
    capsys: pytest.CaptureFixture[str],
    forge: Callable[[list[bytes]], bytes],
    words: str,
) -> None:
    push(cup, hash, forge(replays))
    code, text = checked(cup, cup.hand_in("laptop", hash, lines=texts(shared[1])), capsys)
    assert code == 1 and text.startswith("refused: the batch of laptop, claim 1 of laptop: ") and words in text, text


def test_an_altered_result_is_not_that_of_its_replay(
    cup: Cup, hash: str, shared: tuple[Cup, dict[int, Played]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Also if it was sealed as it is handed in."""
    lines, first = texts(shared[1]), shared[1][0].line
    push(cup, hash, packs.packed(shared[1]))
    turns, fault = first.turns, lines[0] + b" 0timeout"
    for forged, words in (
        (fault, f"its replay gives the line {lines[0].decode()}; the batch says {fault.decode()}"),
        (fault + b"~", "its replay gives the line"),
        (lines[0].replace(b" %d " % turns, b" %d " % (turns + 1), 1), "its replay gives the line"),
        (lines[0].replace(b"%d," % first.costs[0], b"99999,"), "its replay gives the line"),
        (lines[0].replace(first.times.encode(), b"01234567"), "its replay gives the line"),
        ({b"12": b"21", b"21": b"12"}[lines[0][:2]] + lines[0][2:], "its replay ends with the ranks"),
    ):
        code, text = checked(cup, resealed(cup, hash, [forged, *lines[1:]]), capsys)
        assert code == 1 and words in text, text


def test_a_file_of_another_name_or_size_is_refused(
    cup: Cup,
    hash: str,
    shared: tuple[Cup, dict[int, Played]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    head = cup.hand_in("laptop", hash, lines=texts(shared[1]))
    push(cup, hash, packs.packed(shared[1]), "other.gz")
    code, text = checked(cup, head, capsys)
    assert code == 1 and "the branch ladder/laptop-000001-replays has no file" in text
    with Repository.made(tmp_path / "other.git") as other:
        commit = commit_files(other, None, {packs.pack_name(hash): os.urandom(200_000)}, "Replays")
        forge = cup.repository.text("remote", "get-url", "origin")
        push_branch(other, commit, "ladder/laptop-000001-replays", forge)
    monkeypatch.setattr(packs, "MOST_PACKED", 60_000)
    code, text = checked(cup, head, capsys)
    assert code == 1 and "the branch ladder/laptop-000001-replays has more than 60,000 bytes" in text, text


def test_a_pack_with_the_times_of_another_owners_is_refused(
    cup: Cup, hash: str, shared: tuple[Cup, dict[int, Played]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Ann has given Ben her pack before they sealed. No two machines play a game in the same microseconds."""
    lines = texts(shared[1])
    cup.merge(cup.hand_in("laptop", hash, lines=lines))
    cup.now += 60
    claim = cup.ladder().chain.claims[hash]
    commit = commit_files(cup.repository, None, {packs.pack_name(hash): packs.packed(shared[1])}, "Replays")
    push_branch(cup.repository, commit, packs.branch_of(claim, "tower"), "origin")
    code, text = checked(cup, cup.hand_in("tower", hash, lines=lines), capsys)
    assert code == 1 and "took as long as in the batch of ann, to the microsecond: one machine has played both" in text


def test_of_two_equal_packs_that_are_handed_in_at_once_the_second_is_not_merged(
    cup: Cup, hash: str, shared: tuple[Cup, dict[int, Played]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Both are checked on a ladder without the other. The steps that merge fetch no replays."""
    claim, lines = cup.ladder().chain.claims[hash], texts(shared[1])
    commit = packs.commit_of(cup.repository, hash, packs.packed(shared[1]))
    for runner in ("laptop", "tower"):
        push_branch(cup.repository, commit, packs.branch_of(claim, runner), "origin")
    cup.repository.run("push", "--quiet", "--force", "origin", "main")
    heads = [cup.hand_in(runner, hash, lines=lines) for runner in ("laptop", "tower")]
    assert [checked(cup, head, capsys)[0] for head in heads] == [0, 0]
    merge = ("--rules-only", "--merge", "main")
    assert checked(cup, heads[0], capsys, *merge)[0] == 0
    cup.set(cup.repository.commit("origin/main"))
    cup.now += 60
    code, text = checked(cup, heads[1], capsys, *merge)
    assert code == 1 and "refused: games/laptop/000001/tower.txt: all calls of game 1 took as long as" in text, text
    assert cup.repository.text("ls-remote", "origin", "main").split()[0] == cup.head
    assert not list(problems(cup.ladder()))


def test_a_runner_that_may_merge_merges_nothing_that_others_would_see_refused(
    cup: Cup, hash: str, shared: tuple[Cup, dict[int, Played]], capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """A bit of a result flips in its machine's memory."""
    folder, lines = str(cup.repository.folder), texts(shared[1])
    swap = {b"12": b"21", b"21": b"12"}
    resealed(cup, hash, [swap[lines[0][:2]] + lines[0][2:], *lines[1:]])
    task = cup.task("laptop", hash)
    made = cup.signed_by("laptop", task, [swap[lines[0][:2]] + lines[0][2:], *lines[1:]])
    home = playing.home(cup.repository, hash, "laptop")
    home.mkdir(parents=True)
    for name, content in (("batch", made.batch), ("seal", made.seal), ("pack", packs.packed(shared[1]))):
        (home / name).write_bytes(content)
    cup.repository.run("push", "--quiet", "--force", "origin", "main")
    monkeypatch.setenv(VARIABLE, base64.b64encode(sha256(b"laptop").digest()).decode())
    words = ["ladder", "play", "--runner", "laptop", "--merge", "main", "--jobs", "1", "--no-pin", "--folder", folder]
    assert main(words) == 3
    text = " ".join(capsys.readouterr().err.split())
    assert "the batch of laptop, claim 1 of laptop: game 1 (" in text and "its replay ends with the ranks" in text
    assert cup.repository.text("ls-remote", "origin", "main").split()[0] == cup.head
