"""Frames: what a viewer draws of a record, as patches."""

import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages import Played
from viewer_patches import frames, patched

import referee
from referee.addons.web.page import is_painted, lines
from referee.addons.web.replay_list import reason_of
from referee.addons.web.viewer_frames import difference, shown
from referee.games import registry
from referee.games.contract import Call
from referee.harness.replay.lines import Turn
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import positions

VECTORS = json.loads((Path(__file__).parents[3] / "protocol" / "vectors" / "frames.json").read_text("utf-8"))

values = st.recursive(
    st.none() | st.booleans() | st.integers(2, 5) | st.text(max_size=2) | st.just("-"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc-"), inner, max_size=3),
    max_leaves=12,
)


def text(value: Any) -> str:
    """Compares as JSON does: False is not 0."""
    return json.dumps(value, sort_keys=True)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_vectors(vector: dict[str, Any]) -> None:
    assert text(patched(vector["before"], vector["patch"])) == text(vector["after"])
    assert text(difference(vector["before"], vector["after"])) == text(vector["patch"])


@given(values, values)
def test_a_difference_makes_the_one_of_the_other_and_changes_neither(before: Any, after: Any) -> None:
    kept = copy.deepcopy(before), copy.deepcopy(after)
    patch = json.loads(json.dumps(difference(before, after)))
    assert text(patched(before, patch)) == text(after)
    assert text([before, after]) == text(list(kept))
    assert text(difference(before, before)) == "{}"


def plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def asked(value: Any, player: int) -> Any:
    """The parameters of a call, made whole."""
    how, view = value["asked"][str(player)], value["seats"][player]
    return view if how["params"] is None else how["params"] | dict.fromkeys(how["same"], view)


@pytest.mark.slow
@pytest.mark.parametrize("game", registry.names())
def test_the_frames_of_a_match_give_every_position_of_it(game: str, played: Played) -> None:
    found = registry.game(game)
    replay = Replay(played(game))
    assert replay.ending is not None and replay.ending.result is not None
    made = [msgspec.json.decode(line) for line in frames(replay)]
    headline, why = made[-1][1].pop("headline"), made[-1][1].pop("why")
    assert why == reason_of(game, replay.ending.result, replay.header.setup.names)
    assert headline.endswith(f": {why}")
    words = [line.pop("words", {}) for _, line in made]
    for _, line in made:
        line.pop("highlights", None)
    assert [msgspec.json.decode(line) for line in replay.lines] == [line for _, line in made]
    sent: Any = None
    calls: Sequence[Call] = ()
    for number, state, step in positions(replay):
        answers = step.answers if isinstance(step, Turn) else {}
        said = {str(call.player): found.presentation.in_words(call, answers[call.player]) for call in calls}
        assert None not in said.values(), "every legal answer has words"
        assert words[number - 1] == said
        calls = state.calls()
        sent = patched(sent, made[number - 1][0])
        views = sent["seats"]
        value = sent | {"seats": [views[view] if isinstance(view, int) else view for view in views]}
        value["view"] = (
            views[0] if (names := value.pop("shared")) is None else value["view"] | dict.fromkeys(names, views[0])
        )
        assert {name: each for name, each in value.items() if name != "asked"} == shown(state)
        assert value["asked"].keys() == value["awaited"].keys()
        for call in state.calls():
            assert asked(value, call.player) == plain(call.params)
    assert made[-1][0] == {}


def test_a_replay_cannot_bring_words_and_highlights_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "match.jsonl"
    referee.play("tictactoe", [lambda decision: decision.sample()] * 2, seed=3, replay=file)
    lines = file.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b"}\n", b',"words":{"0":"lies"},"highlights":7}\n')
    file.write_bytes(b"".join(lines))
    line = json.loads(list(frames(Replay(file)))[2])[1]
    assert line["words"]["0"] != "lies" and "highlights" not in line


@pytest.mark.slow
@pytest.mark.parametrize("game", registry.own_names())
def test_games_with_a_painter_send_no_text_drawing(game: str, played: Played) -> None:
    replay = Replay(played(game))
    assert is_painted(game) and not is_painted("checkers")
    assert json.loads(list(lines(replay))[2])[0][0]["text"] == []
    assert json.loads(list(frames(replay))[1])[0][0]["text"] == str(replay.new()).split("\n")
