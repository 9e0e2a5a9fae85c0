"""`referee bench`: models at the same games, against the same opponents, at equal cost."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from model_service import ModelService, Request, serving

from referee.addons.llm import bench
from referee.addons.llm.bench import Bench
from referee.addons.tournament.store import reader
from referee.harness.cli.main import main
from referee.harness.common.errors import RunError
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("forked")]

GAMES = ("--game", "tictactoe", "--games", "2", "--seed", "7", "--jobs", "1")


@pytest.fixture
def service() -> Iterator[ModelService]:
    """A service whose first completion has no answer. A completion costs 0.011 dollars at 100 for a million."""
    with serving(lambda request: request.say("no")) as one:
        yield one


def test_each_model_plays_the_same_seeds_and_seats_and_the_transcripts_repeat_the_table(
    service: ModelService, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    models = f"A={service.spec('--price 100')}", f"B={service.spec('--price 100 --show legal,board')}"
    folder = tmp_path / "bench"
    assert main(["bench", *models, *GAMES, "--against", "@random", "--folder", str(folder), "--json"]) == 0
    rows = json.loads(capfd.readouterr().out)["rows"]
    assert [(row["model"], row["game"], row["games"]) for row in rows] == [
        *[("A", "tictactoe", 2), ("B", "tictactoe", 2)],
        *[("A", "all", 2), ("B", "all", 2)],
    ]
    assert all(row["counts"].count(0) == 4 and row["strength"]["units"] == 1 for row in rows)
    first = rows[0]
    assert first["use"]["illegal"] == 1 and first["cost_a_game"] == pytest.approx(first["use"]["cost"] / 2)
    assert sum(row["use"]["completions"] for row in rows[:2]) == len(service.requests)
    assert len({body["seed"] for body in service.requests}) == 2
    asked = len(service.requests)
    assert main(["bench", str(folder), "--repeat"]) == 0
    output = capfd.readouterr().out
    assert f"repeated 4 of 4 games from their transcripts: {asked - 1} answers, 0 differences" in output
    assert len(service.requests) == asked
    assert "Elo [95 %]" in output and "$ a game" in output


def repeated(folder: Path, change: Callable[[bytes], bytes]) -> list[str]:
    """Plays the first game of a bench again from its transcript, with the replay changed."""
    (pairing,) = bench.pairings(bench.read(folder), folder)
    file, line = next(reader.counted_lines(pairing.folder))
    content = reader.replay(pairing.folder, file, line)
    assert content is not None
    changed, found = change(content), bench.Repeated()
    assert changed != content
    try:
        bench._repeat(line, Replay(file, changed), "game", found)
    except (Difference, ValueError, RunError) as error:
        return [str(error)]
    return found.differences


def edited(change: Callable[[dict[str, Any]], object]) -> Callable[[bytes], bytes]:
    """Returns a function that changes the first turn of a replay with a transcript."""

    def changed(content: bytes) -> bytes:
        lines = content.splitlines()
        at = next(number for number, line in enumerate(lines) if b'"transcript":' in line)
        turn = json.loads(lines[at])
        change(turn)
        lines[at] = json.dumps(turn, separators=(",", ":"), ensure_ascii=False).encode()
        return b"\n".join(lines) + b"\n"

    return changed


def test_a_transcript_that_somebody_edited_is_found_out(service: ModelService, tmp_path: Path) -> None:
    folder = tmp_path / "bench"
    service.acts = ()
    assert main(["bench", service.spec("--price 100"), *GAMES, "--folder", str(folder), "--json"]) == 0

    def last(turn: dict[str, Any]) -> Any:
        return next(iter(turn["transcript"].values()))[-1]

    edits: dict[str, Callable[[bytes], bytes]] = {
        "gives another answer": edited(lambda turn: last(turn).update(completion='{"cell": 77}')),
        "another answer": edited(lambda turn: last(turn).update(completion="no answer")),
        "no completion of the answer": edited(lambda turn: turn.pop("transcript")),
        "other tokens": edited(lambda turn: last(turn)["use"].update(prompt_tokens=1)),
        "another cost": edited(lambda turn: last(turn)["use"].update(cost=0.0)),
        "others in the table": edited(lambda turn: next(iter(turn["model"].values())).update(prompt_tokens=1)),
        "": edited(lambda turn: turn.update(transcript=5)),
        "hash": edited(lambda turn: turn.update(hash="0" * 16)),
        "line": lambda content: content[: len(content) // 2],
    }
    for message, change in edits.items():
        found = repeated(folder, change)
        assert found and any(message in each for each in found), message
    pairing = bench.pairings(bench.read(folder), folder)[0].folder
    for pack in pairing.rglob("*.gz*"):
        pack.write_bytes(pack.read_bytes()[:-40])
    assert main(["bench", str(folder), "--repeat"]) == 1


def test_a_game_whose_service_fails_is_set_aside_and_played_again(
    service: ModelService, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    refused = partial(Request.fail, status=429, text="no money", code="insufficient_quota")
    service.acts = (Request.play, Request.play, refused)
    words = [*GAMES, "--folder", str(tmp_path / "bench"), "--json"]
    assert main(["bench", service.spec(), *words]) == 0
    output = capfd.readouterr()
    assert "set aside, to be played again: stub cannot play on: the service at" in output.err
    row = json.loads(output.out)["rows"][0]
    assert (row["games"], row["faults"]) == (2, 0)


def test_a_service_that_fails_for_good_ends_a_bench_which_says_how_to_go_on(
    service: ModelService, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    refused = partial(Request.fail, status=402, text="no credit")
    service.acts = (*[refused] * bench.ROUNDS,)
    folder = tmp_path / "bench"
    assert main(["bench", service.spec(), *GAMES, "--folder", str(folder)]) == 3
    assert f"continue with: referee bench {folder}" in capfd.readouterr().err
    assert main(["bench", str(folder), "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["rows"][0]["games"] == 2


def test_a_limit_of_cost_is_shared_equally_and_holds_for_all(
    service: ModelService, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    models = f"A={service.spec('--price 100')}", f"B={service.spec('--price 100')}"
    words = ["--game", "tictactoe", "--games", "40", "--jobs", "1", "--folder", str(tmp_path / "bench"), "--json"]
    assert main(["bench", *models, *words, "--max-cost", "0.2"]) == 4
    output = capfd.readouterr()
    first, second = (row["use"]["cost"] for row in json.loads(output.out)["rows"][:2])
    assert 0.1 <= first < 0.2 and 0.1 <= second < 0.2
    for pairing in bench.pairings(bench.read(tmp_path / "bench"), tmp_path / "bench"):  # no game begins after the limit
        uses = [use for _, line in reader.counted_lines(pairing.folder) for use in line.u if use is not None]
        assert sum(use.cost or 0.0 for use in uses[:-1]) < 0.1
    assert "stopped by --max-cost; continue with: referee bench" in output.err


@pytest.mark.parametrize(
    ("options", "words", "message"),
    [
        ("", ["--max-cost", "0.5"], "--max-cost 0.5 needs the price of stub"),
        ("", ["--against", "@nosuch"], "unknown opponent '@nosuch'"),
        ("--key-from NO_SUCH_KEY", [], "--key-from NO_SUCH_KEY: there is no such environment variable"),
    ],
)
def test_a_bench_that_is_refused_makes_no_folder(
    service: ModelService,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    options: str,
    words: list[str],
    message: str,
) -> None:
    folder = tmp_path / "bench"
    assert main(["bench", service.spec(options), *GAMES, *words, "--folder", str(folder)]) == 2
    assert message in capfd.readouterr().err
    assert not folder.exists()
    assert main(["bench", service.spec("--price 100"), *GAMES, "--folder", str(folder), "--json"]) == 0
    before = (folder / bench.FILE).read_bytes()
    assert main(["bench", service.spec(), *GAMES, "--folder", str(folder)]) == 2
    assert f"{folder} is the folder of a bench; to go on: referee bench {folder}" in capfd.readouterr().err
    assert (folder / bench.FILE).read_bytes() == before


def test_a_bench_without_a_game_may_be_begun_anew_with_another_spec(
    service: ModelService, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    service.acts = (*[partial(Request.fail, status=401, text="wrong key")] * bench.ROUNDS,)
    words = [*GAMES, "--folder", str(folder := tmp_path / "bench")]
    assert main(["bench", service.spec(), *words]) == 3
    assert f"repeat the command, since {folder} has no games yet" in capfd.readouterr().err
    assert main(["bench", service.spec("--temperature 0.5"), *words, "--json"]) == 0
    assert bench.read(folder).models == (service.spec("--temperature 0.5"),)
    assert service.requests[-1]["temperature"] == 0.5


def test_what_a_model_has_not_spent_is_left_for_its_other_pairings(tmp_path: Path) -> None:
    asked = Bench(("llm:a", "llm:b"), ("@random",), ("tictactoe", "connectfour"), 2, 1, max_cost=4.0)
    all_pairings = bench.pairings(asked, tmp_path)
    assert [(each.model, each.game) for each in all_pairings] == [
        *[(0, "tictactoe"), (1, "tictactoe")],
        *[(0, "connectfour"), (1, "connectfour")],
    ]
    assert bench.share(asked, all_pairings, all_pairings[0], 2) == 1.0
    assert bench.share(asked, all_pairings, all_pairings[2], 1) == 2.0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["llm:a"], "expected models and games"),
        (["llm:a", "--game", "tictactoe", "--games", "3"], "expected an even number"),
        (["llm:a", "@random", "--game", "tictactoe"], "@random: expected a language model"),
        (["nowhere"], "nowhere is no folder of a bench"),
        (["llm:a", "--game", "aibg5"], "expected a game for two"),
        (["llm:a", "llm:a", "--game", "tictactoe"], "llm:a: expected each once"),
        (["llm:a", "--game", "tictactoe", "--against", "@random", "--against", "@random"], "@random: expected each"),
    ],
)
def test_a_wrong_request_is_explained(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *words]) == 2
    assert message in capsys.readouterr().err
