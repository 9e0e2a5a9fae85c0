"""Records in other forms: AI Arena 21's own replay file (section 10 of its rules), member by member."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.games import aiarena21, tictactoe
from referee.games.aiarena21 import BIKE, PORTAL_GUN, AIArena21, Options, View
from referee.games.contract import Fault, FaultKind, Player, Setup
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.records import NO_COST
from referee.harness.replay.formats.originals import FORMATS
from referee.harness.replay.formats.records import export
from referee.harness.replay.lines import REPLAY_VERSION, Ending, Header, Opening, Stop, state_hash
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference
from referee.harness.replay.writer import ReplayWriter

LINE = "S" + "." * 39 + "S\n"
"""One long row, its ends the spawns: nobody meets."""
NAMES = ("Team 1", "Team 2")
TURNS = 45

Answer = Callable[[AIArena21, Player], Any]


def stay(state: AIArena21, player: Player) -> Any:
    """Buys nothing, stays, bids 0; sends the loser to the fifth column."""
    at = state.view(None).players[player].location
    return {"play_powerup": "", "play_turn": f"{at[0]},{at[1]}", "play_auction": 0, "play_transport": "0,4"}[
        state.awaited[player].name
    ]


def inward(state: AIArena21, player: Player) -> int:
    """The direction away from the player's end of the line."""
    return 1 if state.spawns[player] == 0 else -1


def eventful(state: AIArena21, player: Player) -> Any:
    """Both walk inwards from turn 3 on; on turn 5 player 0 buys a bike; on turn 30 player 0 wins the clock's auction,
    calls the loser to its own cell, and loses the next one."""
    method, turn = state.awaited[player].name, state.turn
    if method == "play_powerup" and (turn, player) == (5, 0):
        return BIKE
    if method == "play_turn" and 3 <= turn < 10:
        return f"0,{state.cells[player] + inward(state, player)}"
    if method == "play_auction":
        return ((5, 3), (1, 2))[state.auctions][player]
    if method == "play_transport" and state.auctions == 1:
        return f"0,{state.cells[player]}"
    return stay(state, player)


def record(path: Path, answer: Answer, text: str = LINE, turns: int = TURNS, stop_at: int | None = None) -> list[View]:
    """Plays and records a match, ended from outside in the middle of turn `stop_at`. The position as each turn begins,
    and the last."""
    game = aiarena21.GAME
    setup = Setup(7, NAMES, Options(map=text, turns=turns))
    state = AIArena21(setup)
    begun = [state.view(None)]
    with ReplayWriter(path) as file:
        file.write(Header(REPLAY_VERSION, game.name, game.version, setup, game.time, {}, (("a",), ("b",))))
        file.write(Opening(list(state.opening()), state_hash(state)))
        while state.awaited:
            if state.turn == stop_at and len(state.awaited) == 2:
                file.write(Stop("time", list(state.stop("time")), state_hash(state)))
                break
            answers = {player: answer(state, player) for player in state.awaited}
            file.turn(answers, state.apply(answers), [NO_COST] * 9, state)
            if state.turn == len(begun):
                begun.append(state.view(None))
        file.write(Ending(state.result))
    return begun


def exported(path: Path) -> list[dict[str, Any]]:
    """The records of the file, the form of its lines checked."""
    out = path.with_name("replay.txt")
    export("aiarena21-replay", Replay(path), out)
    text = out.read_text("utf-8")
    assert text.endswith("\n")
    lines = text[:-1].split("\n")
    assert {line[:9] for line in lines} == {"[Replay] "}, "a blank, and the viewer cuts off eight characters"
    return [json.loads(line[8:]) for line in lines]


def ticks(path: Path) -> list[dict[str, Any]]:
    return exported(path)[1:-1]


@pytest.fixture
def match(tmp_path: Path) -> Path:
    return tmp_path / "match.jsonl"


Played = tuple[list[View], list[dict[str, Any]]]
"""The positions as the turns begin, and the lines of the turns."""


@pytest.fixture(scope="module")
def lively(tmp_path_factory: pytest.TempPathFactory) -> Played:
    path = tmp_path_factory.mktemp("lively") / "match.jsonl"
    return record(path, eventful), ticks(path)


# The lines.


def test_the_first_line_holds_the_map_the_spawns_and_the_names_and_the_last_is_the_finish(match: Path) -> None:
    """There is a line a turn between them, with N remaining rounds on the first and 1 on the last."""
    begun = record(match, stay)
    init, *played, finish = exported(match)
    assert init == {
        "type": "init",
        "grid": [["S", *["."] * 39, "S"]],
        "scores": [100, 100],
        "teams": ["Team 1", "Team 2"],
        "spawn": [list(player.location) for player in begun[0].players],
        "total_rounds": TURNS,
    }
    assert [tick["type"] for tick in played] == ["tick"] * TURNS
    assert [tick["remaining_rounds"] for tick in played] == list(range(TURNS, 0, -1))
    assert finish == {"type": "finish"}
    assert match.with_name("replay.txt").read_text().splitlines()[-1] == '[Replay] {"type":"finish"}'
    assert played[30]["wagers"] == [0, 0], "an auction of equal bids has them too"
    for turn, tick in enumerate(played):
        assert tick["heatmap"] == [list(row) for row in begun[turn].heatmap], "this turn's"
    assert any(any(row) for row in begun[0].heatmap)


ALWAYS = {"type", "heatmap", "positions", "items", "bike", "teleport", "scores", "remaining_rounds", "powerups"}
WITH_AN_AUCTION = ALWAYS | {"wagers", "wager_positions"}


def test_every_line_of_a_turn_has_the_members_of_the_table(lively: Played) -> None:
    for turn, tick in enumerate(lively[1]):
        assert tick.keys() == (WITH_AN_AUCTION if turn == 30 else ALWAYS)
        assert [entry.keys() for entry in tick["positions"]] == [{"new_pos", "delta"}] * 2
        assert tick["teleport"] == [False, False]


# Their members.


def test_positions_are_those_after_the_moves_and_deltas_and_scores_are_this_turns(lively: Played) -> None:
    begun, played = lively
    for turn, tick in enumerate(played):
        before = [player.location for player in begun[turn].players]
        for player, position in enumerate(tick["positions"]):
            (row, col), (down, right) = position["new_pos"], position["delta"]
            assert (row - down, col - right) == before[player]
        moving = [abs(position["delta"][1]) for position in tick["positions"]]
        assert moving == ([1, 1] if 3 <= turn < 10 else [0, 0])
        if turn + 1 < TURNS:
            assert tick["scores"] == [player.score for player in begun[turn + 1].players]


def test_positions_stand_before_the_teleports_and_wager_positions_after_them_all(lively: Played) -> None:
    begun, tick = lively[0], lively[1][30]
    assert [position["new_pos"] for position in tick["positions"]] == [
        list(player.location) for player in begun[30].players
    ]
    assert tick["wagers"] == [1, 2], "those of the last of the turn's two auctions"
    assert tick["wager_positions"] == [list(player.location) for player in begun[31].players]
    assert tick["wager_positions"][0] == [0, 4]


def test_a_wager_is_the_bid_that_counted(match: Path) -> None:
    record(match, lambda state, player: "all" if state.awaited[player].name == "play_auction" else stay(state, player))
    assert ticks(match)[30]["wagers"] == [0, 0]


def test_a_bike_bought_on_turn_t_gives_true_true_false(lively: Played) -> None:
    played = lively[1]
    assert [tick["bike"] for tick in played[4:9]] == [[False] * 2, [True, False], [True, False], *[[False] * 2] * 2]
    assert [tick["powerups"] for tick in played[4:7]] == [["", ""], ["bike", ""], ["", ""]]


def test_a_portal_gun_shows_among_the_powerups_and_a_refused_purchase_nowhere(match: Path) -> None:
    def gunman(state: AIArena21, player: Player) -> Any:
        buys = state.awaited[player].name == "play_powerup" and player == 0 and state.turn < 2
        return PORTAL_GUN if buys else stay(state, player)

    record(match, gunman)
    played = ticks(match)
    assert [tick["powerups"] for tick in played[:2]] == [["portal gun", ""], ["", ""]]
    assert [tick["scores"] for tick in played[:2]] == [[0, 100], [0, 100]]
    assert played[0]["teleport"] == [False, False]


def test_items_are_what_lies_there_after_the_pick_ups_and_before_the_next_deployment(match: Path) -> None:
    def sweep(state: AIArena21, player: Player) -> Any:
        inside = 0 <= state.cells[player] + inward(state, player) <= 40
        go = state.awaited[player].name == "play_turn" and state.turn >= 20 and inside
        return f"0,{state.cells[player] + inward(state, player)}" if go else stay(state, player)

    begun = record(match, sweep, LINE + "#" * 41, turns=50)
    played = ticks(match)
    taken = 0
    for turn, tick in enumerate(played[:-1]):
        after = [[list(letters) for letters in row] for row in begun[turn + 1].items]
        if turn % 20 != 19:
            assert tick["items"] == after
        else:
            for pile in begun[turn].incoming:  # what has just been put down on top
                row, col = pile.location
                del after[row][col][-len(pile.items) :]
            assert tick["items"] == after
        taken += sum(tick["scores"]) > sum(begun[turn].players[player].score for player in (0, 1))
    assert taken > 3
    assert played[19]["items"] == [[[]] * 41] * 2, "bare, though the first batch comes next"
    assert {letter for tick in played for row in tick["items"] for cell in row for letter in cell} <= set("OSD")


def test_faults_do_not_spoil_a_line(match: Path) -> None:
    record(match, lambda state, player: Fault(FaultKind.TIMEOUT, "too late"))
    played = ticks(match)
    assert len(played) == TURNS
    assert [position["delta"] for tick in played for position in tick["positions"]] == [[0, 0]] * 2 * TURNS
    assert {tuple(tick["powerups"]) for tick in played} == {("", "")}


def test_the_map_that_the_document_shows_is_played_cut(match: Path) -> None:
    record(match, stay, ".....\n..###\n.....\nS.S...\n", turns=1)
    init, tick, _ = exported(match)
    assert ["".join(row) for row in init["grid"]] == [".....", "..###", ".....", "S.S.."]
    assert [len(row) for row in tick["heatmap"]] == [5] * 4 == [len(row) for row in tick["items"]]


def test_a_turn_that_was_cut_short_has_no_line(match: Path) -> None:
    record(match, stay, stop_at=3)
    assert [line["type"] for line in exported(match)] == ["init", "tick", "tick", "tick", "finish"]


# What cannot be exported.


def test_nothing_is_written_of_a_record_that_does_not_verify(match: Path) -> None:
    record(match, stay)
    whole = match.read_text()
    out = match.with_name("replay.txt")
    for spoilt, words in (
        (whole.replace('"0":""', '"0":"bike"', 1), "line 3: events "),
        ("\n".join(whole.splitlines()[:-1]), "missing: the match has no end"),
    ):
        match.write_text(spoilt)
        with pytest.raises(Difference, match=words):
            export("aiarena21-replay", Replay(match), out)
        assert not out.exists()


def test_a_form_that_is_not_known_or_of_another_game_is_refused_with_those_that_are(match: Path) -> None:
    record(match, stay)
    with pytest.raises(
        UsageError, match=f"^unknown format 'txt'; there are {', '.join(form.name for form in FORMATS)}, pgn, sgf$"
    ):
        export("txt", Replay(match), match.with_name("replay.txt"))
    setup = Setup(1, NAMES, tictactoe.Options())
    with ReplayWriter(match) as file:
        file.write(
            Header(REPLAY_VERSION, "tictactoe", tictactoe.GAME.version, setup, tictactoe.GAME.time, {}, ((), ()))
        )
    with pytest.raises(UsageError, match=r"^aiarena21-replay is a format for aiarena21 matches; this is tictactoe$"):
        export("aiarena21-replay", Replay(match), match.with_name("replay.txt"))


def test_a_file_that_cannot_be_written_is_a_failed_run(match: Path) -> None:
    record(match, stay)
    with pytest.raises(RunError, match=r"match\.jsonl/replay\.txt cannot be written: "):
        export("aiarena21-replay", Replay(match), match / "replay.txt")
