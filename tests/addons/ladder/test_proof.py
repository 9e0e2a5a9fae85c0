"""Games of modules are played again: a lie about one is refused, or strikes the runner when it shows later."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
import trio
from ladders import Cup
from modules import bot
from needs import skip_without

from referee.addons.ladder import replays as packs
from referee.addons.ladder.games import Played, play_games
from referee.addons.ladder.records import GameLine, game_line
from referee.addons.ladder.table import table_of
from referee.addons.tournament.execution.local import open_local
from referee.addons.web import page as viewer
from referee.harness.cli.main import main

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[3]
opened = partial(open_local, workers=1, pin=False)


@pytest.fixture
def cup(tmp_path: Path) -> Iterator[Cup]:
    """A ladder of two modules, with two runners. All games of a batch are played again."""
    with Cup(tmp_path / "cup", games=4, whole=4) as cup:
        cup.now = 1_790_500_000
        for name, column in (("ada", "C"), ("bob", "D")):
            answer = json.dumps({"action": "putToken", "column": column})
            toml = f'run = ["bot.wasm"]\nowner = ["{name}"]\n'.encode()
            cup.maintain({f"bots/{name}/bot.toml": toml, f"bots/{name}/bot.wasm": bot(answer)})
        cup.add_runner("laptop", "ann")
        cup.add_runner("tower", "ben")
        yield cup


@pytest.fixture
def clock(cup: Cup, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line sees the ladder's time."""
    monkeypatch.setattr("referee.addons.ladder.change.time.time", lambda: cup.now)


def played(cup: Cup, hash: str, places: Sequence[int] = range(4)) -> dict[int, Played]:
    """Plays games of a claim."""
    return trio.run(partial(play_games, cup.at_play(), hash, opened, places, now=cup.now))


def texts(games: dict[int, Played]) -> list[bytes]:
    return [game_line(games[place].line) for place in sorted(games)]


def checked(cup: Cup, head: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Returns the exit code of check-change and what it prints."""
    words = ["--author", "x", "--folder", str(cup.repository.folder), "--jobs", "1", "--no-pin"]
    code = main(["ladder", "check-change", cup.head, head, *words])
    printed = capsys.readouterr()
    return code, " ".join((printed.out + printed.err).split())


@pytest.mark.usefixtures("clock")
def test_a_lie_about_a_game_of_modules_is_refused_with_what_they_really_play(
    cup: Cup, capsys: pytest.CaptureFixture[str]
) -> None:
    hash = cup.claim("laptop")
    games = played(cup, hash)
    lines = texts(games)
    code, text = checked(cup, cup.hand_in("laptop", hash, lines=lines), capsys)
    assert (code, text) == (0, "accepted: 4 games of laptop, claim 1 of laptop; 4 games of modules to prove")
    first: GameLine = games[0].line
    ranks = {b"12": b"21", b"21": b"12"}[lines[0][:2]]
    forged = {
        "ranks": ranks + lines[0][2:],
        "turns": lines[0].replace(b" %d " % first.turns, b" %d " % (first.turns + 1), 1),
        "answers": lines[0].replace(first.course.encode(), b"01234567" * 4),
        "fuel": lines[0].replace(b"%d," % first.costs[0], b"%d," % (first.costs[0] + 1)),
        "faults": lines[0] + b" 0timeout",
    }
    for what in ("ranks", "answers", "fuel"):
        code, text = checked(cup, cup.hand_in("laptop", hash, lines=[forged[what], *lines[1:]]), capsys)
        assert code == 1 and text.startswith("refused: the batch of laptop, claim 1 of laptop: game 1 ("), text
        assert f"is not what they play: {what} " in text and "seed" in text


@pytest.mark.usefixtures("clock")
def test_a_lie_that_was_merged_is_found_later_and_strikes_its_owner(
    cup: Cup, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hash = cup.claim("laptop")
    lines = texts(played(cup, hash))
    ranks = {b"12": b"21", b"21": b"12"}[lines[0][:2]]
    cup.merge(cup.hand_in("laptop", hash, lines=[ranks + lines[0][2:], *lines[1:]]))  # decided from the files alone
    assert table_of(cup.ladder(), use_cache=False).games == 4
    folder = str(cup.repository.folder)
    words = ["--play", "all", "--strike", "--folder", folder, "--jobs", "1", "--no-pin"]
    assert main(["ladder", "verify", "main", *words]) == 1
    printed = capsys.readouterr()
    assert "laptop, claim 1 of laptop: game 1 (" in printed.err and "4 games played again; 1 problem" in printed.out
    (strike,) = (cup.repository.folder / "strikes").iterdir()
    content = strike.read_bytes()
    wrong = json.loads(content) | {"game": 1, "said": lines[1].decode()}
    head = cup.commit({f"strikes/{strike.name}": json.dumps(wrong).encode()})
    assert "the strike against laptop is wrong: game 2 is what the batch says" in checked(cup, head, capsys)[1]
    head = cup.commit({f"strikes/{strike.name}": content})
    with pytest.MonkeyPatch.context() as other:  # a machine with another engine accuses nobody
        other.setattr("referee.addons.ladder.games.played_by", lambda: "referee 0, wasmtime 0, prices 0")
        assert "this machine has 'referee 0" in checked(cup, head, capsys)[1]
    assert checked(cup, head, capsys) == (0, "accepted: strike against ann")
    cup.now += 60
    cup.merge(head)
    table = table_of(cup.ladder(), use_cache=False)
    assert table.games == 0 and table.runners[0].state == "struck" and "ann has lied in game 1" in table.notes[0]
    cup.now += 400
    task = cup.task("tower", hash)  # the beacon draws somebody else for these games, who confirms them
    cup.merge(cup.hand_in("tower", hash, lines=texts(played(cup, task.hash))))
    assert table_of(cup.ladder(), use_cache=False).games == 4


@pytest.mark.usefixtures("clock")
def test_a_sample_that_another_owner_plays_later_finds_a_lie(
    cup: Cup, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which games are looked at follows from a round that nobody knows when the batch is handed in."""
    settings = (cup.repository.folder / "ladder.toml").read_bytes()
    cup.maintain({"ladder.toml": settings.replace(b"whole = 4", b"whole = 2")})
    hash = cup.claim("laptop")
    lines = texts(played(cup, hash))
    swap = {b"12": b"21", b"21": b"12"}
    head = cup.hand_in("laptop", hash, lines=[swap[line[:2]] + line[2:] for line in lines])
    assert checked(cup, head, capsys) == (
        0,
        "accepted: 4 games of laptop, claim 1 of laptop; 0 games of modules to prove",
    )
    cup.merge(head)
    cup.now += 400
    task = cup.task("tower", hash)
    places = cup.at_play().places(hash, task.stage)
    assert task.stage.kind == "sample" and len(places) == 2
    head = cup.hand_in("tower", hash, lines=[swap[lines[at][:2]] + lines[at][2:] for at in places])
    code, text = checked(cup, head, capsys)
    assert code == 1 and "the batch of tower, claim 1 of laptop: game " in text  # it did not look, and said the same
    head = cup.hand_in("tower", hash, lines=texts(played(cup, hash, places)))
    assert checked(cup, head, capsys) == (
        0,
        "accepted: 2 games of tower, claim 1 of laptop; 2 games of modules to prove",
    )
    cup.merge(head)
    table = table_of(cup.ladder(), use_cache=False)
    assert (table.games, table.disputed) == (2, 2)


def test_verify_reads_replays_and_names_wrong_and_missing_ones(
    cup: Cup, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What makes a replay wrong is tested where they are handed in."""
    folder = tmp_path / "replays"
    hash = handed_in(cup, folder)

    def verified() -> tuple[int, str]:
        code = main(["ladder", "verify", "main", "--replays", str(folder), "--folder", str(cup.repository.folder)])
        printed = capsys.readouterr()
        return code, " ".join((printed.err + printed.out).split())

    code, text = verified()
    assert code == 0 and "4 replays checked; verified" in text
    first, *_, last = kept = sorted((folder / hash).iterdir())
    assert len(kept) == 4 and all(main(["replay", "verify", str(each)]) == 0 for each in kept), "a file per game"
    capsys.readouterr()
    first.write_bytes(gzip.compress(gzip.decompress(first.read_bytes()).replace(b'"ada@', b'"eve@', 1)))
    code, text = verified()
    assert code == 1 and "eve@" in text
    last.unlink()
    assert "has 3 replays; expected 4" in verified()[1]
    first.write_bytes(b"no gzip")
    assert "cannot be read" in verified()[1]


def handed_in(cup: Cup, folder: Path) -> str:
    """Plays games, hands them in, and keeps their replays in a folder. Returns the batch's hash."""
    hash = cup.claim("laptop")
    games = played(cup, hash)
    cup.merge(cup.hand_in("laptop", hash, lines=texts(games)))
    batch = cup.ladder().chain.results[hash]["ann"].hash
    packs.keep(folder, batch, packs.packed(games))
    return batch


def published(cup: Cup, to: Path, replays: Path, python: str = sys.executable, **env: str) -> dict[str, bytes]:
    """Publishes the site in a process of its own. Returns its files."""
    code = "import sys; from referee.harness.cli.main import main; sys.exit(main(sys.argv[1:]))"
    words = ["ladder", "publish", str(to), "--replays", str(replays), "--folder", str(cup.repository.folder)]
    before = ["taskset", "-c", str(min(os.sched_getaffinity(0)))] if env.pop("cores", "") == "1" else []
    settings = {**os.environ, "XDG_CACHE_HOME": f"{to}-cache", **env}
    subprocess.run(
        [*before, python, "-c", code, *words, "--commit", "main"], env=settings, capture_output=True, check=True
    )
    return {str(path.relative_to(to)): path.read_bytes() for path in sorted(to.rglob("*")) if path.is_file()}


def test_the_pages_show_replays_that_give_the_results(cup: Cup, tmp_path: Path) -> None:
    replays = tmp_path / "replays"
    handed_in(cup, replays)
    site = published(cup, tmp_path / "site", replays)
    games = [name for name in site if name.startswith("games/")]
    assert len([name for name in games if name.endswith(".jsonl")]) == 4
    watched = [name for name in games if name.endswith(".html")]
    for name in watched if viewer.is_there() else games:
        assert name.encode() in site["bots/ada.html"] and name.encode() in site["bots/bob.html"]
    assert viewer.is_there() == bool(watched)
    text = site[min(name for name in games if name.endswith(".jsonl"))]
    assert b'"answers"' in text and str(tmp_path).encode() not in text  # no paths of the machine that has played
    first = min(replays.glob("*/*"))
    first.write_bytes(gzip.compress(gzip.decompress(first.read_bytes()).replace(b'"column":"C"', b'"column":"E"', 1)))
    assert not [name for name in published(cup, tmp_path / "other", replays) if name.startswith("games/")]


def locales(folder: Path) -> str:
    """Makes the Turkish locale, which few machines have. Returns the value of LOCPATH."""
    skip_without("localedef")
    subprocess.run(["localedef", "-i", "tr_TR", "-f", "UTF-8", str(folder / "tr_TR.UTF-8")], check=True)
    return str(folder)


def test_the_site_is_equal_byte_for_byte_wherever_it_is_written(cup: Cup, tmp_path: Path) -> None:
    replays = tmp_path / "replays"
    handed_in(cup, replays)
    paths = locales(tmp_path)
    site = published(cup, tmp_path / "here", replays, LC_ALL="C")
    env = {"LC_ALL": "tr_TR.UTF-8", "LOCPATH": paths, "PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo", "cores": "1"}
    assert published(cup, tmp_path / "there", replays, **env) == site


def another_python() -> str:
    """Returns a Python of another version than this one, 3.11 or 3.13. A shim of pyenv may stand for none."""
    name = "python3.13" if sys.version_info[:2] != (3, 13) else "python3.11"
    kept = Path.home().glob(f".pyenv/versions/{name.removeprefix('python')}.*/bin/{name}")
    found = next((str(path) for path in sorted(kept)), name)
    skip_without(found)
    return found


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_the_site_is_equal_with_another_python(cup: Cup, tmp_path: Path) -> None:
    replays, home = tmp_path / "replays", tmp_path / "python"
    handed_in(cup, replays)
    subprocess.run([another_python(), "-m", "venv", str(home)], check=True)
    install = [str(home / "bin" / "pip"), "install", "--quiet", f"{ROOT}[ladder,tournament,wasm]"]
    subprocess.run(install, check=True)
    site = published(cup, tmp_path / "here", replays)
    there = published(cup, tmp_path / "there", replays, str(home / "bin" / "python"))
    assert there == site and any(name.startswith("games/") for name in site)
