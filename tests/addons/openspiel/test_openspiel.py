"""OpenSpiel's games at our seats: its rules, our dice, seats, replays and faults."""

import copy
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import msgspec
import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openspiel_games import few_and_many, follow
from pettingzoo.test import api_test, seed_test

import referee
from referee.addons.openspiel.family import PREFIX, game_of, listed_games
from referee.addons.openspiel.state import KINDS
from referee.addons.openspiel.types import Action
from referee.addons.web.draft_turn import Draft
from referee.games import registry
from referee.games.arena import FLIP
from referee.games.contract import Fault, FaultKind, Setup
from referee.games.dice import Dice
from referee.games.game import Game
from referee.harness.cli.main import main
from referee.harness.common import installed
from referee.harness.common.errors import UsageError
from referee.harness.replay.lines import state_hash

pytestmark = pytest.mark.slow

GAMES = [each.name.removeprefix(PREFIX) for each in listed_games()]
QUICK = {"bridge": {"use_double_dummy_result": False}, "bridge_uncontested_bidding": {"num_redeals": 1}}
"""Options of games that otherwise search for seconds."""


def start(name: str, seed: int = 1, seats: int | None = None, **options: Any) -> Any:
    game = game_of(name)
    names = tuple(map(str, range(seats or game.seats.start)))
    return game.new(Setup(seed, names, game.options(**options)))


def test_the_games_that_load_with_two_or_more_players_are_there() -> None:
    """99 of 126 with open_spiel 2.0.2: 80 are sequential, 19 simultaneous."""
    assert len(GAMES) >= 99
    assert sum(each.dynamics == "simultaneous" for each in listed_games()) >= 19


@pytest.mark.parametrize(("name", "many"), few_and_many((name,) for name in GAMES))
def test_a_random_match_ends_repeats_and_can_be_taken_up_anywhere(name: str, many: bool) -> None:
    """The same seed gives the same luck; the position of a view, a copy and a pickle go on alike."""
    for seed in range(1, 21 if many else 3):
        play_at_random(name, seed)


def play_at_random(name: str, seed: int) -> None:
    game, dice = game_of(name), Dice(seed)
    seats = game.seats[-(seed % 2)]  # the most and the least
    state, again = (start(name, seed, seats, **QUICK.get(name, {})) for _ in range(2))
    taken_up, turn = [], 0
    while state.awaited:
        if turn == seed:
            view = msgspec.json.decode(msgspec.json.encode(state.view(None)))
            taken_up = [game.position(state.setup, view), state.copy(), pickle.loads(pickle.dumps(state))]
            assert {state_hash(each) for each in taken_up} == {state_hash(state)}
        answers = {player: state.sample(player, dice) for player in sorted(state.awaited)}
        for each in (state, again, *taken_up):
            each.apply(answers)
        turn += 1
        assert again.key() == state.key()
    for each in (again, *taken_up):
        assert (each.key(), each.result) == (state.key(), state.result)
    assert min(state.result.ranks) == 1
    assert len(state.result.scores) == seats


FOLLOWED = [(name,) for name in GAMES if KINDS[name].chance_mode.name != "SAMPLED_STOCHASTIC"]


@pytest.mark.parametrize(("name", "many"), few_and_many(FOLLOWED))
def test_a_call_shows_what_openspiel_shows(name: str, many: bool) -> None:
    """Legal actions, texts, observation and returns are those of OpenSpiel's own state with the same history.

    A game that draws its luck itself is left out: a second state is dealt other cards.
    """
    state, dice = start(name, seed=3, **QUICK.get(name, {})), Dice(11)
    game, own = state._game, state._game.new_initial_state()
    show = own.observation_string if game.get_type().provides_observation_string else own.information_state_string
    perfect = game.get_type().information.name == "PERFECT_INFORMATION"
    for _ in range(200 if many else 30):
        history = state.view(None).history
        follow(own, history[len(own.history()) :])
        assert own.history() == list(history)
        for player in range(game.num_players()):
            view = state.view(player)
            legal = own.legal_actions(player) if player in state.awaited else []
            assert [(each.action, each.text) for each in view.legal] == [
                (action, own.action_to_string(player, action)) for action in legal
            ]
            assert (view.observation, view.player) == (show(player), player)
            assert view.history == (history if perfect else ())
        if not state.awaited:
            break
        assert [call.params for call in state.calls()] == [state.view(player) for player in sorted(state.awaited)]
        state.apply({player: state.sample(player, dice) for player in state.awaited})
    if state.result is not None:
        returns = own.returns()
        assert returns.index(max(returns)) == state.result.ranks.index(1)
        assert state.result.scores in (tuple(returns), tuple((each + 1) / 2 for each in returns))


def test_a_hidden_card_is_in_no_view_of_another_seat() -> None:
    """Kuhn poker deals three cards to two players: a seat sees its own."""
    for seed in range(20):
        state = start("kuhn_poker", seed=seed)
        first, second = state.view(None).history[:2]
        assert state.view(0).history == () == state.view(1).history
        assert state.view(0).observation == start("kuhn_poker", seed=seed).view(0).observation
        assert str(first) in state.view(0).observation
        assert state.view(0).observation != state.view(1).observation or first == second


@pytest.mark.parametrize(("name", "options"), [("goofspiel", {"imp_info": True}), ("laser_tag", {"fully_obs": False})])
def test_a_parameter_that_hides_something_hides_the_history_too(name: str, options: dict[str, Any]) -> None:
    for hidden in (True, False):
        state = start(name, **(options if hidden else {}))
        state.apply({player: state.sample(player, Dice(1)) for player in state.awaited})
        assert (state.view(0).history == ()) is hidden
        assert state.deals_again is not hidden
    assert game_of(name).presentation.secret == {"act"}


@pytest.mark.parametrize(
    ("name", "seats", "options"),
    [
        *(("kuhn_poker", 2, {}), ("kuhn_poker", 5, {}), ("leduc_poker", 2, {}), ("leduc_poker", 4, {})),
        *(("leduc_poker", 2, {"suit_isomorphism": True}), ("leduc_poker", 3, {"action_mapping": True})),
        ("leduc_poker", 2, {"starting_player": 1}),
    ],
)
def test_a_copy_deals_again_what_is_hidden_from_the_player_to_move(
    name: str, seats: int, options: dict[str, Any]
) -> None:
    others = 0
    for seed in range(20):
        state = start(name, seed, seats, **options)
        assert state.deals_again
        while state.awaited:
            (mover,) = state.awaited
            twin = state.copy(seed + 100)
            assert twin.calls() == state.calls() and twin.view(mover) == state.view(mover)
            assert twin.key() != state.key() and twin.key() == state.copy(seed + 100).key()
            again = game_of(name).position(twin.setup, twin.view(None))
            assert again.key() == twin.key() and str(again) == str(twin)
            others += twin.view(None).history != state.view(None).history
            state.apply({mover: state.sample(mover, Dice(seed))})
    assert others > 0


def test_a_person_cannot_take_back_an_answer_that_has_uncovered_something() -> None:
    """A square that the other has taken without being seen: the same player moves again, and knows it."""
    state = start("phantom_ttt")
    state.apply({0: Action(4)})
    draft = Draft(PREFIX + "phantom_ttt", state, 1)
    assert draft.play({"action": 4}) == [{"action": 4}], "the turn is over for the draft"
    state.apply({1: Action(4)})
    assert list(state.awaited) == [1]


def test_a_person_reads_the_actions_in_openspiels_words() -> None:
    choice = Draft(PREFIX + "chess", start("chess"), WHITE).choice(1)
    assert choice.words is not None
    assert {"e4", "Nf3"} <= set(choice.words)


def test_the_dice_give_each_outcome_its_probability() -> None:
    """A die of pig: six faces, each a sixth."""
    faces = [0] * 6
    for seed in range(1200):
        state = start("pig", seed=seed)
        state.apply({0: Action(text="roll")})
        faces[state.view(None).history[1]] += 1
    assert all(140 < count < 260 for count in faces)


def test_players_of_a_simultaneous_move_are_asked_at_once() -> None:
    state = start("goofspiel")
    assert sorted(state.awaited) == [0, 1]
    assert len(state.calls()) == 2


@pytest.mark.parametrize("seats", [2, 3, 5])
def test_the_number_of_bots_is_the_number_of_players(seats: int) -> None:
    state = start("goofspiel", seats=seats)
    assert sorted(state.awaited) == [*range(seats)]


# Answers and faults.

WHITE = 1
"""OpenSpiel's number of the player who begins at chess."""


def test_an_answer_is_a_number_a_text_or_both() -> None:
    state = start("chess")
    legal = {each.text: each.action for each in state.view(WHITE).legal}
    assert len(legal) == 20
    for answer in ({"action": legal["e4"]}, {"text": "e4"}, {"action": legal["e4"], "text": "e4"}):
        assert state.check(WHITE, answer) is None
        after = state.copy()
        after.apply({WHITE: answer})
        assert after.view(None).history == (legal["e4"],)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({}, "neither an action nor a text"),
        ({"action": 100_000}, "action 100000 is not legal now; expected one of"),
        ({"action": 10**5000}, "a number beyond 64 bits is not legal now"),
        ({"text": "e5"}, 'the text "e5" is no legal action; expected one of "'),
        ({"action": -1, "text": "e4"}, "action -1 is not legal now"),
        ({"action": "e4"}, "Expected `int"),
        ("e4", "Expected `object`"),
    ],
)
def test_a_wrong_answer_loses_with_a_reason(answer: Any, words: str) -> None:
    state = start("chess")
    fault = state.check(WHITE, answer)
    assert fault is not None and words in fault.detail
    state.apply({WHITE: answer})
    assert state.result.ranks == (1, 2)


def test_a_number_and_a_text_of_different_actions_are_refused() -> None:
    state = start("chess")
    number = {each.text: each.action for each in state.view(WHITE).legal}["d4"]
    fault = state.check(WHITE, {"action": number, "text": "e4"})
    assert fault is not None and fault.detail == f'action {number} is "d4", not "e4"'


def test_the_others_share_the_point_of_a_seat_at_fault() -> None:
    state = start("hearts")
    (player,) = state.awaited
    state.apply({player: Fault(FaultKind.TIMEOUT, "late")})
    assert sorted(state.result.ranks) == [1, 1, 1, 4]


# Options and results.


def test_parameters_are_options() -> None:
    assert len(start("go", board_size=5).view(0).legal) == 26  # 25 points, and a pass
    assert "50_move_rule" in msgspec.json.schema(game_of("kriegspiel").options)["$defs"]["Options"]["properties"]


def test_random_moves_at_the_start_depend_on_the_seed_and_end_no_match() -> None:
    openings = {start("chess", seed=seed, opening=4).view(None).history for seed in range(10)}
    assert len(openings) == 10
    assert all(len(history) == 4 for history in openings)
    assert all(start("tic_tac_toe", seed=seed, opening=100).awaited for seed in range(20))


def test_returns_are_ranks_and_points() -> None:
    state = start("connect_four")
    for column in (0, 1, 0, 1, 0, 1, 0):
        state.apply({next(iter(state.awaited)): Action(column)})
    assert (state.result.ranks, state.result.scores, state.result.reason) == ((1, 2), (1.0, 0.0), "WIN")
    state = start("matrix_pd")
    state.apply({0: Action(1), 1: Action(0)})
    assert (state.result.ranks, state.result.scores) == ((1, 2), (10.0, 0.0))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("chees", "did you mean openspiel:chess?"),
        ("2048", "is for one player"),
        ("mfg_crowd_modelling", "is a mean-field game"),
        ("repeated_game", "cannot be loaded without parameters"),
        ("pathfinding", "is for one player with its defaults"),
    ],
)
def test_other_games_are_refused_in_a_line(name: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--game", PREFIX + name, "@random", "@random"]) == 2
    error = capsys.readouterr().err
    assert why in error and error.count("\n") == 1


@pytest.mark.parametrize("option", ["board_size=-1", "board_size=100"])
def test_options_that_openspiel_refuses_are_refused_in_a_line(option: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--game", "openspiel:go", "--set", option, "@random", "@random"]) == 2
    error = capfd.readouterr().err
    assert "board size" in error and error.count("\n") == 1


def test_a_warning_of_openspiel_is_shown_once(tmp_path: Path) -> None:
    words = ["--game", "openspiel:quoridor", "@random", "@random", "--games", "2", "--replay", "none"]
    command = [sys.executable, "-m", "referee.harness.cli.main", *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.count("known issues") == 1


WITHOUT = """
import sys, importlib.util as util; real = util.find_spec
util.find_spec = lambda name, *rest: None if name == "pyspiel" else real(name, *rest)
import referee; from referee.harness.cli.main import main
print(main(["--game", "openspiel:chess", "@random", "@random"]), main(["replay", "verify", "match.jsonl"]))
try: referee.game("openspiel:chess")
except referee.RunError as error: print(error)
"""
"""Makes OpenSpiel's package look as if it were not installed."""


def test_without_openspiel_a_line_says_what_to_install(tmp_path: Path) -> None:
    replay = str(tmp_path / "match.jsonl")
    assert main(["--game", "openspiel:tic_tac_toe", "@random", "@random", "--replay", replay]) == 0
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, cwd=tmp_path)
    line = f"openspiel needs pyspiel; to install it: {installed.extra_command('openspiel')}"
    assert done.stdout.splitlines() == ["3 3", line], done.stderr
    assert done.stderr.splitlines() == [f"referee: {line}"] * 2


def test_importing_the_referee_loads_no_openspiel() -> None:
    code = "import referee, sys; referee.game('tictactoe'); assert 'pyspiel' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# Programs, files and pages.

LAST = """
import json, sys
for line in sys.stdin:
    call = json.loads(line)
    if call["method"] == "exit":
        break
    if "id" in call:
        greets = call["method"] == "initialize"
        result = {"reuse": True} if greets else {"text": call["params"]["legal"][-1]["text"]}
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result}), flush=True)
"""
"""Plays the last legal action."""


@pytest.fixture
def last(tmp_path: Path) -> str:
    file = tmp_path / "last.py"
    file.write_text(LAST)
    return str(file)


@pytest.mark.parametrize("name", ["kuhn_poker", "goofspiel"])
def test_a_program_plays_and_its_replay_verifies_forks_and_is_shown(
    name: str, last: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replay = tmp_path / "match.jsonl"
    words = ["--game", PREFIX + name, last, "@random", "--seed", "5", "--strict", "--replay", str(replay)]
    assert main(words) == 0
    assert main(["replay", "verify", str(replay)]) == 0
    assert main(["fork", str(replay), "--turn", "1", "--recorded", "--replay", str(tmp_path / "fork.jsonl")]) == 0
    assert main(["replay", "verify", str(tmp_path / "fork.jsonl")]) == 0
    assert main(["replay", "show", str(replay)]) == 0


def test_a_check_passes_and_a_tournament_is_ranked(
    last: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", last, "--game", "openspiel:connect_four", "--seed", "1"]) == 0
    words = ["--game", "openspiel:leduc_poker", "--games", "4", "--seed", "1", "--ledger", str(tmp_path / "cup")]
    assert main(["tournament", "run", last, "@random", *words]) == 0
    assert "ranked by points" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("option", "why"),
    [
        (("hex", "board_size=40"), "with these options, OpenSpiel writes actions that are not UTF-8"),
        (("first_sealed_auction", "max_value=0"), "OpenSpiel begins no match with these options: list"),
        (("leduc_poker", "starting_player=2"), "OpenSpiel begins no match with these options: tuple"),
        (("universal_poker", "numPlayers=3"), "numPlayers is 3, and 2 are named"),
    ],
)
def test_a_parameter_with_which_no_match_begins_is_refused(
    option: tuple[str, str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, setting = option
    assert main(["--game", PREFIX + name, "--set", setting, "@random", "@random"]) == 2
    assert f"referee: options of {PREFIX}{name}: {why}" in capsys.readouterr().err


DEADLY = [("connect_four", "rows", 0), ("universal_poker", "numSuits", 0), ("connect_four", "rows", 1_000_000)]
"""They crash OpenSpiel, or make it so slow that nothing answers."""


@pytest.mark.parametrize(("name", "option", "value"), DEADLY)
def test_a_parameter_that_would_end_the_process_is_refused_in_a_line(
    name: str, option: str, value: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the command line, in a file, in Python, and from a replay that somebody else wrote."""
    replay, setting, file = tmp_path / "match.jsonl", f"{option}={value}", tmp_path / "tournament.toml"
    assert main(["--game", PREFIX + name, "--set", setting, "@random", "@random"]) == 2
    assert "OpenSpiel" in capsys.readouterr().err
    file.write_text(f'game = "{PREFIX}{name}"\nbots = ["@random", "@random"]\n[options]\n{option} = {value}\n')
    assert main(["tournament", "run", str(file), "--ledger", str(tmp_path / "cup")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "tournament.toml: options of " in line and "OpenSpiel" in line
    assert not (tmp_path / "cup").exists()
    with pytest.raises(UsageError, match="OpenSpiel"):
        referee.rl.gym(PREFIX + name, ["@random"], **{option: value})
    assert main(["--game", PREFIX + name, "@random", "@random", "--seed", "1", "--replay", str(replay)]) == 0
    header, *rest = replay.read_bytes().splitlines(keepends=True)
    changed = msgspec.json.decode(header)
    changed["setup"]["options"][option] = value
    replay.write_bytes(msgspec.json.encode(changed) + b"\n" + b"".join(rest))
    for command in ("show", "verify"):
        assert main(["replay", command, str(replay)]) in (1, 2, 3)
        assert "OpenSpiel" in capsys.readouterr().err


def test_parameters_are_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    run = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda *words, **more: started.append(words) or run(*words, **more))
    for seed in range(5):
        start("connect_four", seed, rows=9, columns=5)
        start("connect_four", seed)
    assert len(started) == 1


@pytest.mark.parametrize("name", ["bargaining", "colored_trails"])
def test_no_parameter_names_a_file(name: str) -> None:
    fields = game_of(name).options.__struct_encode_fields__
    assert [field for field in fields if "file" in field] == []


@pytest.mark.parametrize("history", [(99,), (-1,), (0,) * 7, (10**15,)])
def test_a_history_with_an_illegal_action_leads_nowhere(history: tuple[int, ...]) -> None:
    state = start("connect_four")
    view = {**msgspec.json.decode(msgspec.json.encode(state.view(None))), "history": history}
    with pytest.raises(ValueError, match="the history leads to no position"):
        game_of("connect_four").position(state.setup, view)


def test_the_list_has_players_information_and_dynamics(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["games", "openspiel"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "openspiel:goofspiel simultaneous perfect" in shown
    assert main(["games", "openspiel:go"]) == 0
    assert "rules: referee rules openspiel:go 2" in capsys.readouterr().out
    assert main(["rules", "openspiel:go", "2"]) == 0


def test_a_kit_s_binding_of_act_plays(tmp_path: Path) -> None:
    bot = tmp_path / "bot"
    assert main(["new", "tictactoe", str(bot), "--lang", "python"]) == 0
    command = [sys.executable, "-m", "referee.tools", "bindings", "openspiel:chess", "--lang", "python", str(bot)]
    subprocess.run(command, check=True)
    (bot / "chess.py").write_text(
        "from referee_kit.openspiel_chess import Action, ChessBot, run\n\n\n"
        "class Last(ChessBot):\n"
        "    def act(self, observation, legal, player, history):\n"
        "        return Action(text=legal[-1].text)\n\n\n"
        "run(Last)\n"
    )
    words = ["--game", "openspiel:chess", str(bot / "chess.py"), "@random", "--seed", "2", "--strict"]
    assert main([*words, "--replay", str(tmp_path / "match.jsonl")]) == 0


# Our own engines.


def plain(game: Game, seed: int, **options: Any) -> Any:
    return game.new(Setup(seed, ("a", "b"), game.options(**options)))


@settings(max_examples=30)
@given(st.lists(st.integers(0, 6), max_size=42))
def test_connect_four_is_ours(columns: list[int]) -> None:
    ours, theirs = plain(registry.game("connectfour"), 1), start("connect_four")
    for column in columns:
        if not theirs.awaited:
            break
        (player,) = theirs.awaited
        legal = [each["column"] for each in ours.legal(player) if each["action"] == "putToken"]
        assert [ord(name) - ord("A") for name in legal] == theirs._legal_numbers(player)
        if column in theirs._legal_numbers(player):
            ours.apply({player: {"action": "putToken", "column": "ABCDEFG"[column]}})
            theirs.apply({player: Action(column)})
    assert (ours.result is None) is bool(theirs.awaited)
    if ours.result is not None:
        assert ours.result.ranks == theirs.result.ranks


@pytest.mark.parametrize("seed", range(2))
def test_quoridor_is_ours(seed: int) -> None:
    """OpenSpiel counts rows from the top, and names a wall by the square at its upper left."""

    def name(answer: Any) -> str:
        square, wall = answer["position"][:2], answer["position"][2:]
        return f"{square[0]}{(9 if wall else 10) - int(square[1])}{wall}"

    ours, theirs, dice = plain(registry.game("quoridor"), 1), start("quoridor"), Dice(seed)
    while theirs.awaited and ours.awaited:
        (player,) = theirs.awaited
        legal = {name(each): each for each in ours.legal(player) if each["action"] != FLIP}
        texts = [each.text for each in theirs.view(player).legal]
        assert sorted(legal) == sorted(texts)
        chosen = dice.choice(texts)
        ours.apply({player: legal[chosen]})
        theirs.apply({player: Action(text=chosen)})
    if theirs.result is not None and theirs.result.reason == "DRAW":
        assert len(theirs.view(None).history) == theirs._game.max_game_length()  # ours are longer
    else:
        assert ours.result.ranks == theirs.result.ranks


def test_pieces_of_a_state_are_copied_apart() -> None:
    state = start("tic_tac_toe")
    twin = copy.deepcopy(state)
    twin.apply({0: Action(0)})
    assert len(state.view(0).legal) == 9 and len(twin.view(1).legal) == 8
    assert isinstance(pyspiel.load_game("tic_tac_toe"), pyspiel.Game)


# Arrays for training.


@pytest.mark.parametrize("name", ["connect_four", "goofspiel", "hearts"])
def test_environments_of_these_games_pass_pettingzoos_tests(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of spaces that are dicts
        api_test(referee.rl.aec(PREFIX + name), num_cycles=30)  # type: ignore[no-untyped-call]
        seed_test(lambda: referee.rl.aec(PREFIX + name), num_cycles=30)  # type: ignore[no-untyped-call]


def test_an_observation_is_openspiels_tensor_or_the_text() -> None:
    env = referee.rl.gym("openspiel:connect_four", ["@random"])
    seen, _ = env.reset(seed=1)
    own = pyspiel.load_game("connect_four")
    assert seen["observation"].shape == tuple(own.observation_tensor_shape())
    assert env.action_space.n == own.num_distinct_actions() == 7
    assert seen["action_mask"].sum() == 7
    env.close()
    poker = referee.rl.gym("openspiel:kuhn_poker", ["@random"])
    seen, _ = poker.reset(seed=1)
    text = bytes(seen["observation"].astype("uint8")).rstrip(b"\0").decode()
    assert text and text.isprintable()
    poker.close()
