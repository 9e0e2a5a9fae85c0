"""What CONTRACT.md asks of every kit: the dialogues, the example bots, the templates, and what a rival may send."""

from pathlib import Path
from typing import Any

import pytest
from conformance import dialogue, dialogue_names, is_for, run_dialogue
from driving import NONSENSE, Bot, Cheat, Insists, Passive, Rival, play, rank, reason, seated
from kits import WriteBot, conformance, example

from games import reantics, tictactoe
from games.api import Game
from protocol.messages import Encoding, ErrorObject

# The wire.

DIALOGUES = [(name, each) for name in dialogue_names() for each in Encoding if is_for(dialogue(name), each)]


@pytest.mark.parametrize(("name", "spoken"), DIALOGUES)
def test_the_kit_holds_every_dialogue(kit: str, name: str, spoken: Encoding) -> None:
    assert run_dialogue(conformance(kit).argv, dialogue(name), spoken) == []


TEXTS = ["", "(╯°□°)╯︵ ┻━┻", 'quote " and \\ and \n \u2028 \0 😁', "x" * 1_000_000]
NUMBERS = [0, 1.0, 0.1, 1e300, -(2**63), 2**63 - 1, 2**64 - 1]
VALUES = [None, True, *NUMBERS, *TEXTS, [], {}, [[[1]]], {"a": None, "clock": 3}, list(range(50_000))]


def test_every_value_comes_back_as_it_was_sent(kit: str, encoding: Encoding, tmp_path: Path) -> None:
    with Bot(conformance(kit), encoding, tmp_path / "log") as bot:
        bot.initialize("conformance")
        for value in VALUES:
            answer = bot.call("echo", {"value": value})
            assert (answer, type(answer)) == (value, type(value))


def test_prints_and_failures_are_on_standard_error_and_nothing_else_is(
    kit: str, encoding: Encoding, tmp_path: Path
) -> None:
    with Bot(conformance(kit), encoding, tmp_path / "log") as bot:
        bot.initialize("conformance")
        assert bot.call("print", {"text": "x = 5 ┻━┻"}) is None
        assert bot.call("nothing") is None
        assert bot.said() == "x = 5 ┻━┻\n"
        assert bot.call("fail", {"message": "höher"}) == ErrorObject(-32000, "höher")
        assert "höher\n" in bot.said()
        assert bot.call("nothing") is None


def test_exit_and_the_end_of_input_end_the_program_without_a_word(kit: str, encoding: Encoding, tmp_path: Path) -> None:
    for end in (Bot.exit, Bot.close_input):
        with Bot(conformance(kit), encoding, tmp_path / "log") as bot:
            bot.initialize("conformance")
            assert bot.call("nothing") is None
            assert end(bot) == 0
            assert bot.said() == ""


def test_a_bot_of_another_game_refuses_the_match(kit: str, encoding: Encoding, tmp_path: Path) -> None:
    with Bot(example(kit, "reantics"), encoding, tmp_path / "log") as bot:
        refusal = bot.initialize("quoridor")
        assert isinstance(refusal, ErrorObject)
        assert refusal.code == -32000
        assert refusal.message.endswith(" plays reantics, not quoridor")


# The examples.


def test_forager_wins_by_food_from_both_seats_when_it_is_let_alone(
    kit: str, encoding: Encoding, tmp_path: Path
) -> None:
    options = reantics.Options(draw_after=200)
    with Bot(example(kit, "reantics"), encoding, tmp_path / "log") as bot:
        for seat in (0, 1):
            state = play(reantics.GAME, seated(seat, bot, Passive()), 5, options)
            assert (rank(state, seat), reason(state)) == (1, "food_goal")


@pytest.mark.parametrize(
    "options",
    [
        reantics.Options(),
        reantics.Options(worker_health=2, board=False),
        reantics.Options(random_layout=(True, True)),
    ],
)
def test_forager_beats_random_play_whatever_it_is_shown(kit: str, options: reantics.Options, tmp_path: Path) -> None:
    with Bot(example(kit, "reantics"), Encoding.MSGPACK, tmp_path / "log") as bot:
        for seed in range(20):
            assert rank(play(reantics.GAME, seated(seed % 2, bot, Rival()), seed, options), seed % 2) == 1


@pytest.mark.parametrize("rival", [Rival(), Cheat()], ids=["rival", "cheat"])
def test_perfect_never_loses_and_flips_after_every_cheat(
    kit: str, rival: Rival, encoding: Encoding, tmp_path: Path
) -> None:
    with Bot(example(kit, "tictactoe"), encoding, tmp_path / "log") as bot:
        states = [play(tictactoe.GAME, seated(seed % 2, bot, rival), seed) for seed in range(60)]
        assert bot.said() == ""
    assert all(rank(state, seed % 2) == 1 for seed, state in enumerate(states))
    assert any(reason(state).startswith("FLIPPED: ") for state in states) == isinstance(rival, Cheat)


def test_perfect_flips_the_table_whatever_was_sent(kit: str, encoding: Encoding, tmp_path: Path) -> None:
    with Bot(example(kit, "tictactoe"), encoding, tmp_path / "log") as bot:
        for answer in NONSENSE:
            for seat in (0, 1):
                state = play(tictactoe.GAME, seated(seat, bot, Insists(answer)), 1)
                assert rank(state, seat) == 1, answer
                assert reason(state).startswith("FLIPPED: "), answer
        assert bot.said() == ""


# The templates.


@pytest.mark.parametrize(
    ("name", "game", "options"),
    [
        ("my_reantics", reantics.GAME, reantics.Options(draw_after=100)),
        ("my_tictactoe", tictactoe.GAME, tictactoe.Options()),
    ],
    ids=["my_reantics", "my_tictactoe"],
)
def test_the_templates_play_by_the_rules(
    kit: str, name: str, game: Game, options: Any, encoding: Encoding, tmp_path: Path
) -> None:
    with Bot(example(kit, name), encoding, tmp_path / "log") as bot:
        for seed in range(6):
            play(game, seated(seed % 2, bot, Rival()), seed, options)
        assert bot.exit() == 0


# What a rival may send.

SPIES = {
    "python": """
from referee_kit.tictactoe import *

class Spy(TicTacToeBot):
    def event(self, event):
        heard = [event.youAre, event.id, event.player, event.action, event.position, event.winner]
        self.heard = " ".join("-" if member is None else str(member) for member in heard)

    def play(self, id):
        return Action(self.heard)

run(Spy)
""",
    "java": """
import java.util.stream.*;
import referee.kit.tictactoe.TicTacToeBot;

public class Spy extends TicTacToeBot {
    private String heard;

    public static void main(String[] args) { run(Spy::new); }

    @Override public void event(ArenaEvent e) {
        heard = Stream.<Object>of(e.youAre(), e.id(), e.player(), e.action(), e.position(), e.winner())
            .map(member -> member == null ? "-" : member.toString()).collect(Collectors.joining(" "));
    }

    @Override public Action play(String id) { return new Action(heard); }
}
""",
    "cpp": """
#include <referee/tictactoe.hpp>

using namespace referee;
using namespace referee::tictactoe;

class Spy : public TicTacToeBot {
    std::string heard;

    static std::string shown(const std::optional<std::string>& member) { return member.value_or("-"); }
    static std::string shown(const std::optional<Json>& member) { return member ? member->dump() : "-"; }

   public:
    void event(const ArenaEvent& e) override {
        heard = shown(e.youAre) + " " + shown(e.id) + " " + shown(e.player) + " " + shown(e.action) + " " +
                shown(e.position) + " " + shown(e.winner);
    }

    Action play(const std::string&) override { return {heard}; }
};

int main() { return run<Spy>("Spy"); }
""",
}
"""Bots that tell what the last event's members read as; - is absent."""


def test_a_member_of_a_wrong_type_reads_as_absent_and_what_may_be_anything_is_shown(
    kit: str, encoding: Encoding, written: WriteBot, tmp_path: Path
) -> None:
    shown = [
        ({"youAre": "O", "id": "battle"}, "O battle - - - -"),
        ({"player": "X", "action": 5, "position": {}, "youAre": [], "id": None, "winner": 7}, "- - X 5 {} -"),
        ({"player": "X", "action": [1], "youAre": 7, "id": {}, "winner": ["X"]}, "- - X [1] - -"),
        ({"player": "O", "youAre": True, "id": 0.5, "winner": False, "method": "exit"}, "- - O - - -"),
        ({"winner": "draw"}, "- - - - - draw"),
    ]
    with Bot(written(kit, "Spy", SPIES[kit]), encoding, tmp_path / "log") as bot:
        bot.initialize("tictactoe")
        for event, heard in shown:
            bot.notify("event", event)
            assert bot.call("play", {"id": "battle"}) == {"action": heard}
        assert bot.said() == ""
