"""Unmodified bots of the original competitions can play (reantics.md 11, aiarena21.md 12, cardgame.md 13)."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from scripted import Arena

from referee.addons.originals import spec as original_spec
from referee.addons.tournament.store.bot_archives import finding
from referee.harness.common.errors import UsageError
from referee.harness.isolation.plan import OFF, Isolation
from referee.harness.match.series import Series, play_series
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant, entrants
from referee.harness.programs.zip_archive import bot_in

pytestmark = pytest.mark.slow

AGENTS = Path(__file__).parents[2] / "support" / "agents"
WALKER, SEARCHER = "2 Random Walker.py", "Food Searcher.py"
ANTS = {"getPlacement": "return [(i % 10, i // 10) for i in range(11)]", "getMove": "return Move(END, None, None)"}

Run = Callable[[str, str], Entrant]


@pytest.fixture
def agents(arena: Arena) -> Path:
    """Returns a copy of the sample agents, which write files into their folder."""
    return Path(shutil.copytree(AGENTS, arena.folder / "AI"))


def original(game: str, spec: str, folder: Path = Path()) -> Entrant:
    bot = original_spec.read(spec, folder)
    return Entrant(bot.path.stem, bot.argv(game), bot.path.parent)


def agent(folder: Path, **methods: str) -> str:
    """Writes a ReAntics agent that places its anthill, ends its turns, and has these `methods`; returns its file."""
    bodies = ANTS | methods
    arguments = {"getAttack": "state, ant, enemies", "registerWin": "won", "__init__": "number"}
    lines = ["from Player import *", "from AIPlayerUtils import *", "class AIPlayer(Player):"]
    bodies.setdefault("__init__", "Player.__init__(self, number, 'Sample')")
    for name, body in bodies.items():
        lines += [f"    def {name}(self, {arguments.get(name, 'state')}):", f"        {body}"]
    (folder / "sample.py").write_text("\n".join(lines) + "\n")
    return str(folder / "sample.py")


def stderr(verdict: Verdict, player: int) -> str:
    log = verdict.seats[player].stderr
    return "" if log is None else Path(log).read_text()


# ReAntics.


@pytest.mark.trio
async def test_two_agents_play_a_whole_game_and_may_print(arena: Arena, agents: Path) -> None:
    bots = [original("reantics", name, agents) for name in (WALKER, SEARCHER)]
    verdict = await arena.play(arena.match(*bots, game="reantics", seed=7), granted_s=20)
    assert verdict.faults == ()
    assert [seat.program for seat in verdict.seats] == ["Random Walker original", "Searcher original"]
    assert verdict.result.reason == "food_goal"
    assert stderr(verdict, 0).startswith("loading with prints\npicked <Move: ")
    assert (agents / "walker_memory.txt").read_text() == "0 False\n"


@pytest.mark.trio
async def test_the_game_depends_on_the_seed_of_the_match_or_of_the_spec(arena: Arena, agents: Path) -> None:
    async def played(spec: str) -> str:
        match = arena.match(original("reantics", spec, agents), entrant("@random"), game="reantics", draw_after=40)
        return stderr(await arena.play(match, granted_s=20), 0)

    first, again, other = [await played(spec) for spec in (WALKER, WALKER, f"--seed 5 {WALKER}")]
    assert first == again != other


@pytest.mark.trio
async def test_an_agent_gets_tuples_its_seat_and_pieces_shared_by_board_and_inventory(arena: Arena) -> None:
    body = """
        own = state.inventories[state.whoseTurn]
        import copy, pickle
        there, twin, other = own.ants[0].coords, copy.copy(state), pickle.loads(pickle.dumps(state))
        assert twin.board is state.board and other.board[there[0]][there[1]].ant is other.inventories[1].ants[0]
        assert self.playerId == state.whoseTurn == 1
        hill = own.getAnthill()
        assert type(hill) is Building and state.board[hill.coords[0]][hill.coords[1]].constr is hill
        assert type(hill.coords) is tuple and all(state.board[a.coords[0]][a.coords[1]].ant is a for a in own.ants)
        assert [len(i.constrs) for i in state.inventories] == [2, 2, 22] and UNIT_STATS[WORKER][HEALTH] == 2
        built = getNextState(state, Move(BUILD, [hill.coords], WORKER)).inventories[1].ants[-1]
        assert (built.type, built.health) == (WORKER, 2)
        assert str(listAllLegalMoves(state)[-1]) == "<Move: END  >" and listAllLegalMoves(state)[0].coordList
        assert random and CONSTR_STATS[ANTHILL] == (1, 3, None) and addCoords((1, 2), (3, 4)) == (4, 6)
        return Move(END)"""
    spec = agent(arena.folder, getMove=body.strip(), getPlacement="return " + PLACES)
    match = arena.match(entrant("@random"), original("reantics", spec), game="reantics", draw_after=6, worker_health=2)
    verdict = await arena.play(match, granted_s=20)
    assert [fault for fault in verdict.faults if fault.player == 1] == []


@pytest.mark.trio
async def test_the_board_is_that_of_the_call_even_if_it_is_made_late(arena: Arena) -> None:
    body = """
        own = state.inventories[state.whoseTurn]
        (x, y), own.ants[0].coords = own.ants[0].coords, (5, 5)
        gone = own.ants.pop(0)
        assert state.board[x][y].ant is gone and state.board[5][5].ant is None and len(state.board[9]) == 10
        assert sum(location.constr is not None for column in state.board for location in column) == 26
        assert not hasattr(state, "nothing") and state.fastclone().board is None
        return Move(END)"""
    spec = agent(arena.folder, getMove=body.strip(), getPlacement="return " + PLACES)
    match = arena.match(entrant("@random"), original("reantics", spec), game="reantics", draw_after=6)
    verdict = await arena.play(match, granted_s=20)
    assert [fault for fault in verdict.faults if fault.player == 1] == []


PLACES = (
    "[(i % 10, i // 10) for i in range(11)] if state.phase == SETUP_PHASE_1 else "
    "[(x, y) for x in range(10) for y in range(6, 10) if getConstrAt(state, (x, y)) is None][:2]"
)


@pytest.mark.trio
@pytest.mark.parametrize(
    ("move", "kind", "detail"),
    [
        ("raise ValueError('lost my way')", "crash", "exited with code 1 before answering"),
        ("return None", "illegal", "null"),
        ("return 'END'", "illegal", "got `str`"),
        ("return Move(MOVE_ANT, [(0, 0), 'x'], None)", "illegal", "x"),
        ("return Move(7)", "illegal", "7"),
        ("return Move(UNDO)", "illegal", "3"),
    ],
)
async def test_a_wrong_answer_is_illegal_and_an_exception_ends_the_agent(
    arena: Arena, move: str, kind: str, detail: str
) -> None:
    init = "Player.__init__(self, number, None)"
    spec = agent(arena.folder, __init__=init, getMove=move, getPlacement="return " + PLACES)
    verdict = await arena.play(arena.match(original("reantics", spec), entrant("@random"), game="reantics"), None, 10)
    assert kind == "crash" or verdict.seats[0].program == "sample original"
    (fault,) = verdict.faults
    assert (fault.player, fault.kind) == (0, kind)
    assert detail in fault.detail
    assert kind != "crash" or "Error" in stderr(verdict, 0) or "SystemExit" in stderr(verdict, 0)


@pytest.mark.trio
async def test_an_agent_works_in_its_own_folder_or_in_the_given_one(arena: Arena, agents: Path) -> None:
    den = arena.folder / "den"
    den.mkdir()
    match = arena.match(
        original("reantics", f"--folder '{den}' {WALKER}", agents), entrant("@random"), game="reantics", draw_after=4
    )
    await arena.play(match, granted_s=20)
    assert (den / "walker_memory.txt").is_file()
    assert not (agents / "walker_memory.txt").exists()


@pytest.mark.trio
async def test_one_agent_object_plays_all_matches_of_its_process(arena: Arena) -> None:
    """Learning agents keep their knowledge from game to game."""
    spec = agent(
        arena.folder,
        __init__="Player.__init__(self, number, 'Sample'); self.games = 0",
        registerWin="self.games += 1; print('games', self.games)",
        getPlacement="return " + PLACES,
    )
    match = arena.match(original("reantics", spec), entrant("@random"), game="reantics", draw_after=4)
    outcome = await play_series(Series(match, games=2), Limits(isolation=OFF))
    assert [stderr(verdict, 0) for verdict in outcome.matches] == ["games 1\n", "games 2\n"]


@pytest.mark.trio
async def test_an_agent_that_plays_itself_has_two_processes_even_with_swapped_seats(arena: Arena) -> None:
    """reantics.md 10: two instances with separate knowledge."""
    spec = agent(
        arena.folder,
        __init__="Player.__init__(self, number, 'Sample'); self.games = 0",
        registerWin="import os; self.games += 1; print(os.getpid(), self.playerId, self.games)",
        getPlacement="return " + PLACES,
    )
    both = (f"one={spec}", f"two={spec}")
    match = arena.match(*entrants(both, "reantics"), game="reantics", draw_after=4)
    outcome = await play_series(Series(match, games=3, swap=True), Limits(isolation=OFF))
    printed = [[stderr(verdict, seat).split() for seat in (0, 1)] for verdict in outcome.matches]
    one, two = [printed[0][0], printed[1][1], printed[2][0]], [printed[0][1], printed[1][0], printed[2][1]]
    assert [games for _, _, games in one] == [games for _, _, games in two] == ["1", "2", "3"]
    assert [seat for _, seat, _ in one] == ["0", "1", "0"], "the player's number is its seat in this game"
    assert len({pid for pid, _, _ in one}) == len({pid for pid, _, _ in two}) == 1
    assert one[0][0] != two[0][0]


@pytest.mark.trio
@pytest.mark.skipif(sys.platform != "linux", reason="isolation is Linux's")
@pytest.mark.parametrize("layers_without", ["", "namespaces,bwrap"], indirect=True)
async def test_an_agent_can_write_files_under_isolation(arena: Arena, layers_without: None) -> None:
    """It works in a copy of its folder, which lasts for a series. A message at the end names the lost files."""
    folder = arena.folder / "AI"
    (folder / "data").mkdir(parents=True)
    (folder / "seen.txt").write_text("1")
    (folder / "data" / "weights.txt").write_text("0.5")
    init = """
        Player.__init__(self, number, 'Sample')
        open(__file__[:-3] + '.log', 'w').write('beside the file')
        open('new.txt', 'w').write(open('data/weights.txt').read())"""
    won = """
        games = int(open('seen.txt').read()) + 1
        open('seen.txt', 'w').write(str(games))
        print('games', games)"""
    spec = agent(folder, __init__=init.strip(), registerWin=won.strip(), getPlacement="return " + PLACES)
    match = arena.match(original("reantics", spec), entrant("@random"), game="reantics", draw_after=4)
    outcome = await play_series(Series(match, games=2), Limits(isolation=Isolation()))
    assert [fault for verdict in outcome.matches for fault in verdict.faults] == []
    first, last = (stderr(verdict, 0) for verdict in outcome.matches)
    files = "new.txt, sample.log, seen.txt"
    lost = f"lost, because the agent worked in a copy of its folder: {files}; --isolation off keeps them\n"
    assert (first, last) == ("games 2\n", f"games 3\n{lost}")
    assert sorted(path.name for path in folder.iterdir()) == ["data", "sample.py", "seen.txt"]
    assert (folder / "seen.txt").read_text() == "1"


@pytest.mark.trio
@pytest.mark.skipif(sys.platform != "linux", reason="isolation is Linux's")
@pytest.mark.parametrize(
    ("file", "isolation", "line"),
    [
        ("'AI/weights.txt'", OFF, "'AI/weights.txt' is not in {0}/AI, the agent's working folder; {1} sets another"),
        ("'AI/gone.txt'", OFF, "'AI/gone.txt' is not in {0}/AI, the agent's working folder; original:'--folder DIR …'"),
        (
            "__file__ + '/../../w.txt'",
            Isolation(),
            "'w.txt' is outside {0}/AI, and isolation gives the agent only a copy of that folder; ",
        ),
        (
            "'../w.txt'",
            Isolation(),
            "'../w.txt' is outside {0}/AI, and isolation gives the agent only a copy of that folder; ",
        ),
        ("__file__ + '.txt'", OFF, "FileNotFoundError: "),
    ],
)
async def test_a_missing_file_is_explained_in_the_last_line(
    arena: Arena, file: str, isolation: Isolation, line: str
) -> None:
    folder = arena.folder / "AI"
    folder.mkdir()
    (folder / "weights.txt").write_text("1")
    (arena.folder / "w.txt").write_text("1")
    init = f"import os; open(os.path.normpath({file}))"
    match = arena.match(
        original("reantics", agent(folder, __init__=init)), entrant("@random"), game="reantics", draw_after=4
    )
    (verdict,) = (await play_series(Series(match, games=1), Limits(isolation=isolation))).matches
    last = stderr(verdict, 0).splitlines()[-1]
    assert last.startswith(line.format(arena.folder, f"original:'--folder {arena.folder} …'")), last


@pytest.mark.trio
@pytest.mark.skipif(sys.platform != "linux", reason="isolation is Linux's")
async def test_a_file_that_isolation_hides_is_explained_with_the_option_that_shows_it(arena: Arena) -> None:
    """In the card game, the working folder is the one above the agent's, which also has the other agents."""
    den = arena.folder / "den" / "mine"
    den.mkdir(parents=True)
    (den.parent / "data.txt").write_text("1")
    play = "def play(state): return 4, None\ndef end(victory): pass\n"
    (den / "agent.py").write_text(f"open('data.txt')\ndef start(): pass\n{play}")
    bots = [(str(den), False), (f"--folder '{den.parent}' '{den}'", True)]
    for spec, plays in bots:
        match = arena.match(entrant(f"original:{spec}", "cardgame"), entrant("@random"), game="cardgame")
        (verdict,) = (await play_series(Series(match, games=1), Limits(isolation=Isolation()))).matches
        assert (not verdict.faults) == plays
        hidden = f"because isolation shows only the agent's own folder there; original:'--folder {den.parent} …' or"
        assert (hidden in stderr(verdict, 0)) != plays


def test_a_file_that_is_missing_in_a_call_is_explained_in_the_fault(arena: Arena) -> None:
    (arena.folder / "late.py").write_text(
        "def play_powerup(*a): return ''\ndef play_turn(*a): return open('AI/w').read()\n"
        "def play_auction(*a): return 0\ndef play_transport(*a): return ''\n"
    )
    command = [sys.executable, "-m", "referee.harness.cli.main", "--game", "aiarena21", "late.py", "@greedy"]
    done = subprocess.run([*command, "--replay", "none"], cwd=arena.folder, capture_output=True, text=True, check=True)
    assert "answered error -32000: 'AI/w' is not in" in done.stdout and "--folder DIR" in done.stdout


@pytest.mark.trio
async def test_the_ant_that_attacks_is_a_clone_of_the_one_in_the_state(arena: Arena) -> None:
    body = """
        (own,) = (a for a in state.inventories[state.whoseTurn].ants if a.UniqueID == ant.UniqueID)
        assert own is not ant and vars(own) == vars(ant) and ant.hasMoved
        print('attack')
        return enemies[0]"""
    move = "moves = listAllLegalMoves(state); return random.choice(moves[:-1] or moves)"
    spec = agent(arena.folder, getMove=move, getAttack=body.strip(), getPlacement="return " + PLACES)
    match = arena.match(original("reantics", spec), original("reantics", spec), game="reantics", seed=3, draw_after=80)
    verdict = await arena.play(match, granted_s=20)
    assert verdict.faults == ()
    assert set(stderr(verdict, 0).splitlines() + stderr(verdict, 1).splitlines()) == {"attack"}


@pytest.mark.trio
async def test_lists_as_coordinates_and_unknown_players_do_not_crash(arena: Arena) -> None:
    """reantics.md 11.3: a list equals no tile, and an unknown player has no ants."""
    body = """
        assert getAntList(state, -2) == getAntList(state, 7) == getConstrList(state, -1) == []
        own = state.inventories[state.whoseTurn]
        own.ants[0].coords = [5, 5]
        assert listAllLegalMoves(state)[-1].moveType == END
        return Move(END)"""
    spec = agent(arena.folder, getMove=body.strip(), getPlacement="return " + PLACES)
    match = arena.match(original("reantics", spec), entrant("@random"), game="reantics", draw_after=6)
    verdict = await arena.play(match, granted_s=20)
    assert [fault for fault in verdict.faults if fault.player == 0] == []


@pytest.mark.trio
async def test_the_text_of_an_answer_and_the_order_of_sets_are_the_same_in_every_process(arena: Arena) -> None:
    placement = "print(*{'ant' + str(number) for number in range(20)}); return zip((1, 2), (3, 4))"
    spec = agent(arena.folder, getPlacement=placement)
    verdicts = [
        await arena.play(arena.match(original("reantics", spec), entrant("@random"), game="reantics"), granted_s=10)
        for _ in range(2)
    ]
    assert [verdict.faults[0].answer for verdict in verdicts] == [
        '{"jsonrpc":"2.0","id":1,"result":"<zip object>"}'
    ] * 2
    assert stderr(verdicts[0], 0) == stderr(verdicts[1], 0) != ""


@pytest.mark.trio
async def test_a_file_without_the_class_is_reported(arena: Arena) -> None:
    (arena.folder / "none.py").write_text("from AIPlayerUtils import *\n")
    match = arena.match(original("reantics", "none.py", arena.folder), entrant("@random"), game="reantics")
    verdict = await arena.play(match, granted_s=10)
    assert "none.py has no class AIPlayer, which every agent of ReAntics has" in stderr(verdict, 0)


# AI Arena 21.


@pytest.mark.trio
async def test_four_functions_are_a_bot_and_an_exception_is_a_fault_of_one_call(arena: Arena, agents: Path) -> None:
    match = arena.match(original("aiarena21", "fruit_walker.py", agents), entrant("@greedy"), game="aiarena21", turns=8)
    verdict = await arena.play(match, granted_s=20)
    faults = {(fault.method, fault.kind) for fault in verdict.faults}
    assert faults == {("play_powerup", "illegal"), ("play_turn", "error")}  # None is not an empty answer
    assert sum(fault.method == "play_turn" for fault in verdict.faults) == 1
    assert verdict.seats[0].calls == 16


@pytest.mark.trio
async def test_missing_functions_are_named(arena: Arena) -> None:
    (arena.folder / "half.py").write_text("def play_turn(*args): return '0,0'\ndef play_powerup(*args): return ''\n")
    match = arena.match(original("aiarena21", "half.py", arena.folder), entrant("@random"), game="aiarena21", turns=2)
    verdict = await arena.play(match, granted_s=10)
    assert "half.py has no play_auction, play_transport; a bot of AI Arena 21 has play_powerup" in stderr(verdict, 0)


@pytest.mark.trio
async def test_each_game_of_a_series_starts_with_new_globals(arena: Arena) -> None:
    """The original had one process per game; bots keep counters and paths in globals."""
    (arena.folder / "counter.py").write_text(
        "import aiarena21.client.classes\nfrom aiarena21.client import classes\nturns = 0\n"
        "def play_powerup(game_map: aiarena21.client.classes.Map, me: classes.Player, *rest):\n"
        "    global turns\n    turns += 1\n    print(turns)\n    return ''\n"
        "def play_turn(game_map, me, *rest): return '%d,%d' % me.location\n"
        "def play_auction(*rest): return 0\n"
        "play_transport = play_turn\n"
    )
    match = arena.match(
        entrant(str(arena.folder / "counter.py"), "aiarena21"), entrant("@random"), game="aiarena21", turns=3
    )
    outcome = await play_series(Series(match, games=2), Limits(isolation=OFF))
    assert [stderr(verdict, 0) for verdict in outcome.matches] == ["1\n2\n3\n"] * 2


# The card game.


@pytest.mark.trio
@pytest.mark.parametrize("name", ["my.deck v2", "json"])
async def test_the_folder_can_have_any_name(arena: Arena, agents: Path, name: str) -> None:
    shutil.copytree(agents / "rusher", arena.folder / name)
    bot = entrant(str(arena.folder / name), "cardgame")
    assert (bot.name, bot.cwd) == (name, arena.folder / name)
    verdict = await arena.play(arena.match(bot, entrant("@random"), game="cardgame", seed=3), granted_s=10)
    assert [fault for fault in verdict.faults if fault.player == 0] == []
    assert verdict.seats[0].program == f"{name} original"


@pytest.mark.trio
@pytest.mark.parametrize("spec", ["rusher", "rusher/agent.py"])
async def test_a_folder_with_an_agent_is_a_package_and_may_answer_tuples(arena: Arena, agents: Path, spec: str) -> None:
    match = arena.match(original("cardgame", spec, agents), entrant("@random"), game="cardgame", seed=3)
    verdict = await arena.play(match, granted_s=10)
    assert verdict.seats[0].program == "rusher original"
    assert [fault for fault in verdict.faults if fault.player == 0] == []
    assert stderr(verdict, 0) == "hello\nend True\n"


@pytest.mark.trio
async def test_an_exception_in_play_ends_the_turn_and_the_functions_can_be_methods(arena: Arena) -> None:
    den = arena.folder / "my-deck"
    den.mkdir()
    (den / "agent.py").write_text(
        "class Thinker:\n"
        "    def start(self): self.asked = 0\n"
        "    def play(self, state):\n"
        "        self.asked += 1\n"
        "        assert 'EX1_538t' not in str(state)\n"
        "        if self.asked == 2: raise ValueError('no idea')\n"
        "        return 4, None\n"
        "    def end(self, victory): print('asked', self.asked)\n"
    )
    match = arena.match(original("cardgame", "my-deck", arena.folder), entrant("@trader"), game="cardgame")
    verdict = await arena.play(match, Limits(), granted_s=10)
    assert [fault.kind for fault in verdict.faults] == ["illegal"]
    assert "no idea" in stderr(verdict, 0)
    assert f"asked {verdict.seats[0].calls - 2}" in stderr(verdict, 0)  # without start and end


RETURNED = {
    "{'value': 0, 'move': (4, None)}": '{"value":0,"move":[4,null]}',
    "(1, {2: [True], None: 0.5, True: 'x'})": '[1,{"2":[true],"null":0.5,"true":"x"}]',
    "(1, {(1, 2): 3})": "[1,null]",
    "(1, float('nan'))": "[1,null]",
    "(1, {'x': float('-inf')})": '[1,{"x":null}]',
    "(1, {4, 5})": "[1,null]",
    "b'end'": "null",
    "type('Whole', (), {'__index__': lambda self: 7})()": "7",
}


@pytest.mark.trio
async def test_a_fault_shows_the_value_that_the_agent_returned(arena: Arena) -> None:
    """cardgame.md 13.5: null replaces only values that JSON cannot hold. Each illegal answer ends a turn."""
    den = arena.folder / "deck"
    den.mkdir()
    (den / "agent.py").write_text(
        f"answers = iter([{', '.join(RETURNED)}])\ndef start(): pass\n"
        "def play(state): return next(answers, (4, None))\ndef end(victory): pass\n"
    )
    match = arena.match(entrant(str(den), "cardgame"), entrant("@random"), game="cardgame")
    verdict = await arena.play(match, granted_s=20)
    faults = [fault for fault in verdict.faults if fault.player == 0]
    assert {fault.kind for fault in faults} == {"illegal"}
    for fault, sent in zip(faults, RETURNED.values(), strict=True):
        assert fault.answer is not None and f'"result":{sent}}}' in fault.answer


# How they are named and recognised.


def test_a_file_is_recognised_by_its_definitions() -> None:
    assert original_spec.recognised(AGENTS / WALKER, "reantics")
    assert original_spec.recognised(AGENTS / "fruit_walker.py", "aiarena21")
    assert original_spec.recognised(AGENTS / "rusher", "cardgame")
    assert original_spec.recognised(AGENTS / "rusher" / "agent.py", "cardgame")
    assert not original_spec.recognised(AGENTS / WALKER, "aiarena21")
    assert not original_spec.recognised(AGENTS / "rusher" / "helper.py", "cardgame")
    assert not original_spec.recognised(AGENTS / WALKER, "quoridor")


def test_a_folder_may_have_one_bot_and_other_files(tmp_path: Path) -> None:
    den = tmp_path / "Team 7"
    den.mkdir()
    (den / "helper.py").write_text("from AIPlayerUtils import *")
    with pytest.raises(UsageError, match=r"Team 7 is a folder without a bot\.toml"):
        entrant(str(den), "reantics")
    (den / "Thinker.py").write_text("class AIPlayer: pass")
    assert entrant(str(den), "reantics").argv == entrant(str(den / "Thinker.py"), "reantics").argv
    (den / "Other.py").write_text("class AIPlayer: pass")
    with pytest.raises(UsageError, match=r"Team 7 is a folder with several bots: Other\.py, Thinker\.py; name one"):
        entrant(str(den), "reantics")


def test_original_with_a_folder_means_the_only_bot_in_it(tmp_path: Path) -> None:
    den = tmp_path / "Team 7"
    den.mkdir()
    with pytest.raises(UsageError, match=r"there is no bot of reantics in that folder; name its file"):
        entrant(f"original:{den}", "reantics")
    (den / "Thinker.py").write_text("class AIPlayer: pass")
    assert entrant(f"original:--seed 3 {den}", "reantics").argv[-3:] == ("--seed", "3", str(den / "Thinker.py"))
    assert entrant(f"original:{den}", "reantics") == entrant(str(den), "reantics")
    (den / "Other.py").write_text("class AIPlayer: pass")
    with pytest.raises(UsageError, match=r"Team 7 is a folder with several bots"):
        entrant(f"original:{den}", "reantics")


def test_a_zip_file_can_have_an_original_bot(tmp_path: Path) -> None:
    (tmp_path / "Team 7").mkdir()
    (tmp_path / "Team 7" / "Thinker.py").write_text("class AIPlayer: pass")
    spec = shutil.make_archive(str(tmp_path / "team"), "zip", tmp_path / "Team 7")
    (tmp_path / "scratch").mkdir()
    assert entrant(bot_in(spec, tmp_path / "scratch", "reantics"), "reantics").argv[-1].endswith("team/Thinker.py")
    with pytest.raises(UsageError, match=r"team\.zip: has no bot\.toml"):
        bot_in(spec, Path(tempfile.mkdtemp(dir=tmp_path)), "quoridor")


def test_a_zip_file_keeps_the_other_files_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "Team 7" / "AI").mkdir(parents=True)
    (tmp_path / "Team 7" / "AI" / "Thinker 2.py").write_text("class AIPlayer: pass")
    (tmp_path / "Team 7" / "AI" / "weights.txt").write_text("0.5")
    spec = shutil.make_archive(str(tmp_path / "team"), "zip", tmp_path / "Team 7")
    with finding([spec], "reantics") as (found,):
        assert found.entry.name == "team"
        assert found.content is not None
        assert [file.path for file in found.content.files] == ["Thinker 2.py", "weights.txt"]


@pytest.mark.parametrize(
    ("game", "source"),
    [
        ("reantics", "from base import Thinker as AIPlayer"),
        ("reantics", "AIPlayer = type('AIPlayer', (), {})"),
        ("reantics", "import sys\nif sys.version_info > (3,):\n    class AIPlayer: pass"),
        ("aiarena21", "try:\n    from aiarena21.client.classes import Map\nexcept ImportError:\n    Map = None"),
        ("reantics", "try:\n    import numpy\nexcept ImportError:\n    class AIPlayer: pass"),
        ("aiarena21", "from brain import play_powerup, play_turn, play_auction\nplay_transport = play_turn"),
        ("aiarena21", "from aiarena21.client.classes import Map\ndef play_turn(*all): return ''"),
        ("cardgame", "from brain import start, play\ndef end(victory): pass"),
    ],
)
def test_imports_and_assignments_count_as_definitions(tmp_path: Path, game: str, source: str) -> None:
    (tmp_path / "bot.py").write_text(source)
    assert original_spec.recognised(tmp_path / "bot.py", game)


def test_a_recognised_bot_needs_no_prefix_and_bot_toml_can_name_one(tmp_path: Path, agents: Path) -> None:
    named = entrant(f"original:{agents / WALKER}", "reantics")
    assert named == entrant(str(agents / WALKER), "reantics")
    assert (named.name, named.cwd) == ("2 Random Walker", agents)
    assert entrant(str(agents / "rusher"), "cardgame").name == "rusher"
    (agents / "bot.toml").write_text(f"name = 'Walker'\noriginal = '--seed 5 {WALKER}'\n")
    assert entrant(str(agents), "reantics").argv[-3:] == ("--seed", "5", str(agents / WALKER))
    assert entrant(str(agents), "reantics").name == "Walker"
    with pytest.raises(UsageError, match="needs the game that it plays"):
        entrant(f"original:{agents / WALKER}")


def test_options_come_before_a_path_that_needs_no_quotes(tmp_path: Path) -> None:
    (tmp_path / "My Agent.py").touch()
    read = original_spec.read("--python python3 --seed=7 --original-ids --folder . My Agent.py", tmp_path)
    assert read.path == tmp_path / "My Agent.py"
    assert (read.seed, read.original_ids, read.folder) == (7, True, tmp_path)
    assert read.argv("cardgame")[1:] == (
        str(original_spec.RUNNER),
        "cardgame",
        "--seed",
        "7",
        "--folder",
        str(tmp_path),
        "--original-ids",
        str(tmp_path / "My Agent.py"),
    )
    assert original_spec.read("'My Agent.py'", tmp_path) == original_spec.Original(
        tmp_path / "My Agent.py", sys.executable
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a file"),
        ("no.py", "there is no such file or folder: no.py"),
        ("--bogus x.py", "there is no option --bogus; there are --python, --seed, --folder, --original-ids"),
        ("no.py --seed 3", "--seed must come before the file"),
        ("--seed x here.py", "--seed x: expected a whole number"),
        ("--folder nowhere here.py", "--folder nowhere: there is no such folder"),
        ("--python nothing-like-it here.py", "--python nothing-like-it: there is no such program"),
        ("--seed", "--seed: expected a value after it"),
    ],
)
def test_a_wrong_spec_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "here.py").touch()
    with pytest.raises(UsageError, match=message):
        original_spec.read(text, tmp_path)


def test_a_game_without_original_bots_is_refused(tmp_path: Path) -> None:
    (tmp_path / "here.py").touch()
    with pytest.raises(UsageError, match="quoridor has no original bots; aiarena21, cardgame, reantics have"):
        original_spec.read("here.py", tmp_path).argv("quoridor")
