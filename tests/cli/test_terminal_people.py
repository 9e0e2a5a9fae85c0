"""People at the terminal and scripts of answers: notation, lists, completion, hidden hands."""

import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from referee.games import registry
from referee.games.contract import Setup, State
from referee.games.game import Game
from referee.harness.cli.main import main
from referee.harness.common.errors import UsageError
from referee.harness.programs.spec import entrants
from referee.harness.seats.answer_text import Answers, Unclear

pytestmark = pytest.mark.slow

REFEREE = (sys.executable, "-m", "referee.harness.cli.main")
OURS = [registry.game(name) for name in registry.own_names()]


Play = Callable[..., tuple[dict[str, Any], str]]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Play:
    """Plays a match with these lines on standard input; returns its verdict and what the people saw."""
    monkeypatch.chdir(tmp_path)

    def played(lines: Sequence[str], *argv: str) -> tuple[dict[str, Any], str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\n".join(lines).encode())))
        assert main([*argv, "--seed", "3", "--replay", "match.jsonl", "--json"]) == 0
        out, err = capsys.readouterr()
        (match,) = json.loads(out)["matches"]
        return match, err

    return played


def moves(folder: Path) -> list[Any]:
    return [json.loads(line)["answers"] for line in (folder / "match.jsonl").read_text().splitlines()[2:-1]]


def new(game: Game, **options: Any) -> State:
    return game.new(Setup(5, ("one", "two", "three", "four")[: game.seats.start], game.options(**options)))


def test_a_person_plays_by_words_numbers_and_json(play: Play, tmp_path: Path) -> None:
    lines = ["? n", "nw", "nope", "#99", '{"action":"putSymbol","position":"C"}', "o to n", "*", "*", "*", "*"]
    match, shown = play(lines, "--game", "tictactoe", "Ada=human", "@random")
    assert (match["seats"][0]["name"], match["seats"][0]["human"], match["faults"]) == ("Ada", True, [])
    assert "  #1 O to NW  #2 O to N   #3 O to NE\n" in shown, "words narrow the list"
    assert "'nope' names no legal answer; `?` lists answers" in shown
    assert "#99: the answers are #1 to #8" in shown or "#99: the answers are #1 to #7" in shown
    assert "cells as on a map, N at the top; seat 0 is O" in shown
    first, second = [answers["0"]["position"] for answers in moves(tmp_path) if "0" in answers][:2]
    assert (first, second) == ("NW", "C")


@pytest.mark.parametrize("name", [name for name in registry.own_names() if name != "tictactoe"])
def test_a_person_plays_a_whole_match_of_every_game(play: Play, name: str) -> None:
    game = registry.game(name)
    options = [f"--set={key}={json.dumps(value)}" for key, value in msgspec.to_builtins(game.short).items()]
    bots = ["human", *["@random"] * (game.seats.start - 1)]
    match, shown = play(["*"] * 3000, "--game", name, *options, *bots)
    assert match["result"]["reason"] and match["faults"] == []
    assert "human> " in shown


def test_a_plain_number_help_and_quit_do_what_they_say(play: Play, tmp_path: Path) -> None:
    match, shown = play(["help", "3", "0", "quit"], "--game", "tictactoe", "human", "@random")
    assert shown.count("`quit` leaves the match") == 2, "once at the start"
    assert [answers["0"]["position"] for answers in moves(tmp_path) if "0" in answers] == ["NE"]
    assert "0: the answers are #1 to #" in shown
    assert match["result"]["ranks"] == [2, 1]


def test_a_number_is_the_answer_itself_where_answers_are_numbers(play: Play, tmp_path: Path) -> None:
    """Mancala's pits: after pit 3, pit 4 is the third answer."""
    play(["3", "4", "#1", "quit"], "--game", "openspiel:mancala", "human", "@random")
    assert [answers["0"]["action"] for answers in moves(tmp_path) if "action" in answers.get("0", {})] == [3, 4, 1]


def test_a_person_who_closes_the_input_leaves_the_match(play: Play) -> None:
    match, _ = play(["nw"], "--game", "tictactoe", "human", "@random")
    assert match["result"]["ranks"] == [2, 1]
    assert [(fault["kind"], fault["bundle"]) for fault in match["faults"]] == [("crash", None)], "nothing to run again"


def test_a_person_answers_again_after_an_illegal_answer(play: Play) -> None:
    lines = ["nw", '{"action":"putSymbol","position":"NW"}', *["*"] * 9]
    match, shown = play(lines, "--game", "tictactoe", "human", "@random")
    assert "not legal: location 0,0 is not empty" in shown
    assert match["faults"] == []


def test_hidden_hands_stay_hidden(play: Play) -> None:
    """Two people at one terminal never see a deck or the other's hand."""
    _, shown = play(["", "*"] * 200, "--game", "cardgame", "Ada=human", "Bob=human")
    assert (
        "Ada, press Enter when nobody else is looking" in shown
        and "Bob, press Enter when nobody else is looking" in shown
    )
    boards = shown.split("else is looking")[1:]
    assert all(board.count(" cards\n") == 3 for board in boards if "  hand  " in board)
    _, shown = play(["*"] * 2, "--game", "reantics", "--set", "draw_after=1", "human", "human")
    first = shown.index("answers\n")
    assert "answers\n" in shown and "anthill (" not in shown[first : shown.index("\n", first)]


@pytest.mark.parametrize("game", OURS, ids=lambda game: game.name)
def test_a_players_view_does_not_depend_on_hidden_information(game: Game) -> None:
    state, dice = new(game), new(game).dice
    for _ in range(40):
        if not state.awaited:
            break
        player = next(iter(state.awaited))
        assert state.copy(77).shown_to(player) == state.shown_to(player)
        state.apply({each: state.sample(each, dice) for each in state.awaited})


def test_words_of_an_answer_choose_it() -> None:
    quoridor = registry.game("quoridor")
    answers = Answers(quoridor, new(quoridor), 0)
    assert answers.read("e2") == {"action": "move", "position": "e2"}
    assert answers.read("first wall E3h") == {"action": "putWall", "position": "e3h"}
    with pytest.raises(Unclear, match="may be 3 answers: first to e2, first to f1, first to d1"):
        answers.read("to")
    with pytest.raises(Unclear, match="'z9' names no legal answer"):
        answers.read("z9")
    with pytest.raises(Unclear, match="not valid JSON"):
        answers.read('{"action":')
    ants = registry.game("reantics")
    read = Answers(ants, new(ants), 0).read("anthill (0,0) tunnel 1,0 grass 2,0 3,0")
    assert read == [[0, 0], [1, 0], [2, 0], [3, 0]]


def test_a_script_plays_its_lines_and_then_the_first_legal(play: Play, tmp_path: Path) -> None:
    (tmp_path / "opening.txt").write_text('# mine\n\nC\n{"action":"putSymbol","position":"NW"}\n')
    match, _ = play([], "--game", "tictactoe", "script:opening.txt", "@random")
    mine = [answers["0"]["position"] for answers in moves(tmp_path) if "0" in answers]
    assert mine[:2] == ["C", "NW"] and mine[2] in ("N", "NE")
    assert match["seats"][0]["name"] == "opening"


def test_a_script_line_that_matches_no_answer_is_a_fault(play: Play, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("C\nfly\n")
    match, _ = play([], "--game", "tictactoe", "script:bad.txt", "@random")
    (fault,) = match["faults"]
    assert (fault["kind"], fault["detail"]) == ("error", "line 2 of the script: 'fly' names no legal answer")


def test_a_seat_without_a_program_has_no_encoding_in_the_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    assert main(["--game", "tictactoe", "human", "@random", "--seed", "3"]) == 0
    shown = capsys.readouterr().out
    assert "random (json)" in shown and "()" not in shown


def test_people_and_scripts_are_refused_in_contests(tmp_path: Path) -> None:
    for spec in ("human", f"script:{tmp_path}/x.txt"):
        with pytest.raises(UsageError, match="single matches only"):
            entrants([spec])
    with pytest.raises(UsageError, match=r"script:no\.txt: cannot be read: No such file"):
        entrants(["script:no.txt"], people=True)


def test_the_tab_key_completes_answers_on_a_terminal(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    env = os.environ | {"TERM": "xterm", "COLUMNS": "100", "NO_COLOR": "1"}
    command = [*REFEREE, "--game", "quoridor", "human", "@random", "--seed", "3", "--replay", "none"]
    process = subprocess.Popen(command, cwd=tmp_path, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""

    def until(words: bytes) -> None:
        """Reads up to these words."""
        nonlocal shown
        while words not in shown:
            shown += os.read(ours, 65536)
        shown = shown.partition(words)[2]

    try:
        until(b"human> ")
        os.write(ours, b"first wall a1\t\t")
        until(b"a1h")
        os.write(ours, b"h\n")
        for words in (b"first wall a1h", b"play: Your turn", b"human> "):
            until(words)
        os.write(ours, b"\x04")
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_standard_output_has_only_results_when_a_person_plays(tmp_path: Path) -> None:
    """As in `referee ... human @random --json > verdict.json`."""
    ours, theirs = pty.openpty()
    command = [*REFEREE, "--game", "tictactoe", "human", "@random", "--seed", "3", "--replay", "none", "--json"]
    os.write(ours, b"*\n" * 5)
    try:
        done = subprocess.run(command, cwd=tmp_path, stdin=theirs, capture_output=True, text=True, timeout=100)
    finally:
        os.close(theirs)
        os.close(ours)
    assert json.loads(done.stdout)["matches"][0]["faults"] == []
    assert "human> " in done.stderr


def test_too_many_answers_to_list_are_shown_by_legal_examples_that_differ(play: Play, tmp_path: Path) -> None:
    """At ReAntics, the first placements in order differ by a tile or two."""
    game = ("--game", "reantics", "human", "@random", "--set", "draw_after=4")
    _, shown = play(["?", "? anthill 9,3"], *game)
    examples = [line.strip() for line in shown.splitlines() if line.startswith("  anthill")]
    assert len(examples) == len(set(examples)) == 7, "one to begin with, three for each question"
    assert len({line.partition(",")[2] for line in examples}) == 7
    assert "#1 anthill" not in shown and "no legal answer" not in shown
    play([examples[0]], *game)
    tiles = [int(part) for part in re.findall(r"\d", examples[0])]
    assert [part for tile in moves(tmp_path)[0]["0"] for part in tile] == tiles
