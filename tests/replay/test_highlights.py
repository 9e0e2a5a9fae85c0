"""What people want to find again in a match: deaths, captures, changes of the lead."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

import referee
from referee.games import registry
from referee.games.contract import State
from referee.games.game import Highlight
from referee.harness.replay.highlights import Highlights
from referee.harness.replay.lines import Opening, Step
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import positions


def any_answer(decision: referee.Decision) -> Any:
    return decision.sample()


def events_of(step: Step) -> Sequence[Any]:
    return step.opening if isinstance(step, Opening) else step.events


def found_in(file: Path, game: str, seed: int) -> list[tuple[State, Sequence[Any], list[Highlight]]]:
    """Plays a match, and returns each position with its events and highlights."""
    seats = registry.game(game).seats.start
    options = {"rounds": 30} if game == "aibg5" else {}
    bots = ["@trainer" if game == "aibg5" else any_answer] * seats
    referee.play(game, bots, seed=seed, options=options, replay=file)
    replay = Replay(file)
    follower = Highlights(replay.game, replay.header.setup.names)
    return [
        (state.copy(), events_of(step), follower.take(state, state.view(None), events_of(step)))
        for _, state, step in positions(replay)
    ]


def of_kind(highlights: Sequence[Highlight], kind: str) -> list[str]:
    return [each.words for each in highlights if each.kind == kind]


@pytest.mark.parametrize("game", [name for name in registry.own_names() if name != "aibg5"])
def test_a_change_of_the_lead_is_a_turn_after_which_another_seat_alone_is_ahead(game: str, tmp_path: Path) -> None:
    score = registry.game(game).presentation.score
    assert score is not None
    leader, changes = None, 0
    for state, _, highlights in found_in(tmp_path / "match.jsonl", game, 2 if game == "reantics" else 3):
        counts = list(score.count(state))
        best = min(counts) if score.fewest else max(counts)
        ahead = counts.index(best) if counts.count(best) == 1 else leader
        words = of_kind(highlights, "lead")
        assert len(words) == (leader is not None and ahead != leader)
        if words:
            assert words[0].startswith(f"{state.setup.names[ahead]} takes the lead, {best:g} to ")
        changes, leader = changes + len(words), ahead
    assert changes > 0 or game == "tictactoe"


def test_deaths_in_reantics_are_the_ants_that_are_gone_and_captures_the_buildings_that_lost(tmp_path: Path) -> None:
    before: Any = None
    total: Counter[str] = Counter()
    for state, _, highlights in found_in(tmp_path / "match.jsonl", "reantics", 2):
        sides = state.view(None).inventories[:2]
        ants = {ant.id: ant for side in sides for ant in side.ants}
        held = {tuple(each.coords): each for side in sides for each in side.constrs if each.captureHealth is not UNSET}
        if before is not None:
            assert len(of_kind(highlights, "death")) == len(before[0].keys() - ants.keys())
            lost = [where for where in before[1] if where in held and held[where] != before[1][where]]
            assert len(of_kind(highlights, "capture")) == len(lost)
        before = ants, held
        total.update(each.kind for each in highlights)
    assert total["death"] > 0 and total["capture"] > 2


def test_deaths_in_the_card_game_are_the_minions_that_left_a_board(tmp_path: Path) -> None:
    died = 0
    for state, _, highlights in found_in(tmp_path / "match.jsonl", "cardgame", 1):
        died += len(words := of_kind(highlights, "death"))
        assert all(each.endswith(" dies") for each in words)
        assert not state.result or died > 0


def test_deaths_in_aibg_are_its_own_events(tmp_path: Path) -> None:
    died = 0
    for _, events, highlights in found_in(tmp_path / "match.jsonl", "aibg5", 2):
        own = [each for each in events if each.get("method") == "died"]
        assert len(of_kind(highlights, "death")) == len(own)
        died += len(own)
    assert died > 0
