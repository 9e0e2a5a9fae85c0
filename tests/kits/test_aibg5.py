"""AIBG 5 in the kits that have examples for it: what helps on the board, the examples, whole matches."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from driving import Bot
from kits import WriteBot, example
from msgspec import Struct
from test_matches import assert_clean, matches, named

from referee.games.aibg5 import AIBG5, CELLS, INDEX, KINDS, LINES, NEIGHBOURS, WORMHOLE, Cell, Options
from referee.games.contract import Player, Setup
from referee.games.dice import Dice
from referee.games.hexgrid import NOWHERE, distance, length, line, ring
from referee.harness.match import maps
from referee.harness.opponents.trainer import hunt
from referee.harness.paths import KITS
from referee.harness.programs.spec import entrant
from referee.protocol.messages import Encoding, ErrorObject

NAMES = ("a", "b", "c", "d")
ROUNDS = 40
MAPS = ("practice1", "practice2", "first_round", "final")


@pytest.fixture(params=sorted(folder.parts[-3] for folder in KITS.glob("*/examples/aibg5")))
def kit(request: pytest.FixtureRequest) -> str:
    """Every kit that has the examples in turn, built."""
    request.getfixturevalue(f"{request.param}_kit")
    return str(request.param)


# Matches, one step at a time.

Choose = Callable[[AIBG5, Player, Dice], Any]
"""Takes the position, who plays and the luck of the match; gives the answer."""


def at_random(state: AIBG5, player: Player, dice: Dice) -> Any:
    return state.sample(player, dice)


def play(players: list[Choose], seed: int, name: str, rounds: int) -> AIBG5:
    """A whole match on the map of that name, in which nobody may do what is illegal."""
    state = AIBG5(Setup(seed, NAMES, Options(map=maps.read("aibg5", name), rounds=rounds)))
    dice = Dice(seed)
    state.apply({player: None for player in range(4)})
    while state.awaited:
        (player,) = state.awaited
        answer = players[player](state, player, dice)
        assert state.check(player, answer) is None
        state.apply({player: answer})
    return state


def among(bot: Choose, seat: Player, rivals: Choose) -> list[Choose]:
    return [bot if player == seat else rivals for player in range(4)]


def asked(bot: Bot, heard: list[tuple[Any, Any]] | None = None) -> Choose:
    """What a bot answers; what it was asked and what it said go into `heard`."""

    def answer(state: AIBG5, player: Player, dice: Dice) -> Any:
        params = msgspec.to_builtins(state.calls()[0].params)
        said = bot.call("doAction", params)
        if heard is not None:
            heard.append((params, said))
        return said

    return answer


def begin(bot: Bot, rounds: int | None) -> None:
    assert not isinstance(bot.initialize("aibg5", options={"rounds": rounds}), ErrorObject)


# What helps on the board.

SURVEYORS = {
    "c": """
#include <referee/hexgrid.h>

typedef struct {
    char text[40000];
    int length;
} Surveyor;

static void tell(Surveyor* self, aibg5_cell_list cells) {
    const char* between = self->length ? "; " : "";
    for (size_t i = 0; i < cells.count; ++i, between = " ") {
        self->length += sprintf(self->text + self->length, "%s%d,%d", between, cells.items[i].q, cells.items[i].r);
    }
    if (cells.count == 0) self->length += sprintf(self->text + self->length, "; ");
}

static void add(aibg5_cell_list* cells, aibg5_cell_list more) {
    for (size_t i = 0; i < more.count; ++i) cells->items[cells->count++] = more.items[i];
}

static aibg5_action doAction(referee_match* match, int playerIdx, const aibg5_game_state* state, const char* message) {
    (void)message;
    Surveyor* self = referee_allocate(match, sizeof *self);
    const aibg5_player* me = aibg5_player_of(state, playerIdx);
    const aibg5_cell here = {me->q, me->r};
    const aibg5_cell_list cells = aibg5_within(match, AIBG5_CENTRE, AIBG5_RADIUS),
                          offsets = aibg5_within(match, AIBG5_CENTRE, 3);
    const aibg5_cell_list targets = aibg5_targets_from(match, state, here);
    aibg5_cell_list parts[5];
    for (int i = 0; i < 5; ++i) parts[i] = aibg5_new_cells(match, 700);
    for (size_t i = 0; i < offsets.count; ++i)
        add(&parts[0], aibg5_line_of_fire(match, AIBG5_CENTRE, offsets.items[i]));
    for (int i = 0; i < 4; ++i) add(&parts[1], aibg5_ring(match, (int[]){0, 1, 6, 14}[i]));
    for (size_t i = 0; i < targets.count; ++i) {
        aibg5_find_hit(match, state, here, targets.items[i], &parts[2].items[parts[2].count++]);
    }
    for (size_t i = 0; i < cells.count; ++i) {
        if (aibg5_may_enter(state, cells.items[i])) parts[3].items[parts[3].count++] = cells.items[i];
        parts[4].items[parts[4].count++] = (aibg5_cell){aibg5_distance(here, cells.items[i]), 0};
    }
    tell(self, cells);
    tell(self, aibg5_neighbours(match, here));
    tell(self, parts[0]);
    tell(self, parts[1]);
    tell(self, targets);
    for (int i = 2; i < 5; ++i) tell(self, parts[i]);
    return (aibg5_action){self->text};
}

int main(void) { return aibg5_run(&(aibg5_bot){.name = "Surveyor", .doAction = doAction}); }
""",
    "go": """
package main

import (
	"fmt"
	"strings"

	"referee.internal/referee"
	"referee.internal/referee/aibg5"
	. "referee.internal/referee/hexgrid"
)

type surveyor struct{ aibg5.Base }

func (surveyor) DoAction(playerIdx int, state aibg5.GameState, message *string) aibg5.Action {
	board := NewBoard(&state)
	here := CellOf(board.Player(playerIdx))
	targets := board.Targets(here)
	var lines, rings, hits, free, distances []Cell
	for _, target := range Within(Centre, 3) {
		lines = append(lines, LineOfFire(Centre, target)...)
	}
	for _, radius := range []int{0, 1, 6, 14} {
		rings = append(rings, Ring(radius)...)
	}
	for _, target := range targets {
		hit, _ := board.Hit(here, target)
		hits = append(hits, hit)
	}
	for _, cell := range Cells {
		if board.MayEnter(cell) {
			free = append(free, cell)
		}
		distances = append(distances, Cell{Q: Distance(here, cell)})
	}
	parts := []string{}
	for _, part := range [][]Cell{Cells, Neighbours(here), lines, rings, targets, hits, free, distances} {
		names := []string{}
		for _, cell := range part {
			names = append(names, fmt.Sprintf("%d,%d", cell.Q, cell.R))
		}
		parts = append(parts, strings.Join(names, " "))
	}
	return aibg5.Action{Action: strings.Join(parts, "; ")}
}

func main() { aibg5.Run("Surveyor", "1", func(*referee.Match) aibg5.Bot { return surveyor{} }) }
""",
    "rust": """
use referee_kit::aibg5::*;
use referee_kit::hexgrid::*;
use referee_kit::Match;

struct Surveyor;

fn told(part: Vec<Cell>) -> String {
    part.iter().map(|cell| format!("{},{}", cell.q, cell.r)).collect::<Vec<_>>().join(" ")
}

impl AIBG5Bot for Surveyor {
    fn new(_info: Match) -> Self { Surveyor }

    fn do_action(&mut self, index: i64, state: GameState, _message: Option<String>) -> Action {
        let board = Board::new(&state);
        let here = Cell::from(board.player(index).unwrap());
        let targets = board.targets(here);
        let hits = targets.iter().map(|&target| board.hit(here, target).unwrap()).collect();
        let parts = vec![
            cells(), neighbours(here).collect(),
            within(CENTRE, 3).into_iter().flat_map(|target| line_of_fire(CENTRE, target)).collect(),
            [0, 1, 6, 14].into_iter().flat_map(ring).collect(), targets, hits,
            cells().into_iter().filter(|&cell| board.may_enter(cell)).collect(),
            cells().into_iter().map(|cell| Cell::new(distance(here, cell), 0)).collect(),
        ];
        Action::new(parts.into_iter().map(told).collect::<Vec<_>>().join("; "))
    }
}

fn main() { run::<Surveyor>("Surveyor"); }
""",
    "python": """
from referee_kit.aibg5 import *
from referee_kit.hexgrid import *

class Surveyor(AIBG5Bot):
    def doAction(self, playerIdx, gameState, message):
        board = Board(gameState)
        here = next((player.q, player.r) for player in board.players if player.playerIdx == playerIdx)
        lines = [cell for target in within(CENTRE, 3) for cell in line_of_fire(CENTRE, target)]
        targets = board.targets(here)
        parts = [
            CELLS, neighbours(here), lines, ring(0) + ring(1) + ring(6) + ring(14), targets,
            [board.hit(here, cell) for cell in targets],
            [cell for cell in CELLS if board.may_enter(cell)],
            [(distance(here, cell), 0) for cell in CELLS],
        ]
        return Action("; ".join(" ".join(f"{q},{r}" for q, r in part) for part in parts))

run(Surveyor)
""",
    "cpp": """
#include <referee/hexgrid.hpp>

using namespace referee;
using namespace referee::aibg5;

class Surveyor : public AIBG5Bot {
    std::string text_;

    void tell(const std::vector<Cell>& cells) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            text_ += (i ? " " : "") + std::to_string(cells[i].q) + "," + std::to_string(cells[i].r);
        }
        text_ += "; ";
    }

   public:
    using AIBG5Bot::AIBG5Bot;

    Action doAction(int playerIdx, const GameState& gameState, const std::optional<std::string>&) override {
        const Board board(gameState);
        Cell here;
        for (const auto* player : board.players) {
            if (player->playerIdx == playerIdx) here = cellOf(*player);
        }
        std::vector<Cell> lines, rings, hits, free, distances;
        for (const auto target : within(CENTRE, 3)) {
            for (const auto cell : lineOfFire(CENTRE, target)) lines.push_back(cell);
        }
        for (const int radius : {0, 1, 6, 14}) {
            for (const auto cell : ring(radius)) rings.push_back(cell);
        }
        for (const auto target : board.targets(here)) hits.push_back(*board.hit(here, target));
        for (const auto cell : CELLS) {
            if (board.mayEnter(cell)) free.push_back(cell);
            distances.push_back({distance(here, cell), 0});
        }
        text_.clear();
        for (const auto& part : {CELLS, neighbours(here), lines, rings, board.targets(here), hits, free, distances}) {
            tell(part);
        }
        text_.resize(text_.size() - 2);
        return {text_};
    }
};

int main() { return run<Surveyor>("Surveyor"); }
""",
    "java": """
import static referee.kit.aibg5.Hexgrid.*;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import referee.kit.Match;
import referee.kit.aibg5.AIBG5Bot;

public class Surveyor extends AIBG5Bot {
    public Surveyor(Match match) { super(match); }

    public static void main(String[] args) { run(Surveyor::new); }

    @Override public Action doAction(int playerIdx, GameState gameState, String message) {
        Board board = new Board(gameState);
        Cell here = Cell.of(board.player(playerIdx));
        List<Cell> offsets = within(CENTRE, 3);
        List<Cell> targets = board.targets(here);
        return new Action(Stream.of(
            CELLS.stream(), neighbours(here).stream(), offsets.stream().flatMap(c -> lineOfFire(CENTRE, c).stream()),
            IntStream.of(0, 1, 6, 14).boxed().flatMap(radius -> ring(radius).stream()), targets.stream(),
            targets.stream().map(target -> board.hit(here, target)), CELLS.stream().filter(board::mayEnter),
            CELLS.stream().map(cell -> new Cell(distance(here, cell), 0))
        ).map(part -> part.map(cell -> cell.q() + "," + cell.r()).collect(Collectors.joining(" ")))
            .collect(Collectors.joining("; ")));
    }
}
""",
    "javascript": """
import { AIBG5Bot, run } from "referee-kit/aibg5";
import { Board, CELLS, CENTRE, distance, lineOfFire, neighbours, ring, within } from "referee-kit/hexgrid";

class Surveyor extends AIBG5Bot {
    doAction(playerIdx, gameState) {
        const board = new Board(gameState);
        const here = board.players.find((player) => player.playerIdx === playerIdx);
        const targets = board.targets(here);
        const parts = [
            CELLS, neighbours(here), within(CENTRE, 3).flatMap((target) => lineOfFire(CENTRE, target)),
            [0, 1, 6, 14].flatMap(ring), targets, targets.map((target) => board.hit(here, target)),
            CELLS.filter((cell) => board.mayEnter(cell)), CELLS.map((cell) => ({ q: distance(here, cell), r: 0 })),
        ];
        return { action: parts.map((part) => part.map(({ q, r }) => `${q},${r}`).join(" ")).join("; ") };
    }
}

run(Surveyor);
""",
}
"""Bots that answer with what the kit says of the board: all cells; those beside the own one; the lines of fire to the
offsets at most 3 away, row by row; four rings; what may be attacked; what is then hit; where one may go; how far each
cell is."""


def survey(state: AIBG5, player: Player) -> list[str]:
    """The same by the rules."""
    here = state.ships[player].at
    span = range(-3, 4)
    offsets = [(dq, dr) for dr in span for dq in span if 0 < length(dq, dr) <= 3]
    targets = [cell for cell in LINES[here] if state.refusal(player, said("attack", cell)) is None]
    free = [cell for cell, kind in enumerate(state.kinds) if may_enter(state, cell) and kind != WORMHOLE]
    parts = [
        CELLS,
        places([cell for cell in NEIGHBOURS[here] if cell != NOWHERE]),
        [place for offset in offsets for place in line(*offset)],
        [place for radius in (0, 1, 6, 14) for place in ring(radius)],
        places(targets),
        places([struck(state, player, target) for target in targets]),
        places(free),
        [(distance(CELLS[here], place), 0) for place in CELLS],
    ]
    return [" ".join(f"{q},{r}" for q, r in part) for part in parts]


def places(cells: list[Cell]) -> list[tuple[int, int]]:
    return [CELLS[cell] for cell in cells]


def may_enter(state: AIBG5, cell: Cell) -> bool:
    return cell not in state.on and KINDS[state.kinds[cell]] not in ("ASTEROID", "BOSS")


def struck(state: AIBG5, player: Player, target: Cell) -> Cell:
    """Where the engine says that the shot ended."""
    events = state.copy().apply({player: said("attack", target)})
    shot = next(event.params for event in events if event.method == "shot")
    return INDEX[shot.q, shot.r]


def said(word: str, cell: Cell) -> dict[str, str]:
    q, r = CELLS[cell]
    return {"action": f"{word},{q},{r}"}


def test_what_helps_on_the_board_is_what_the_rules_say(kit: str, written: WriteBot, tmp_path: Path) -> None:
    shielded = []

    def surveys(state: AIBG5, player: Player, dice: Dice) -> Any:
        if dice.below(4) == 0:
            told = bot.call("doAction", msgspec.to_builtins(state.calls()[0].params))["action"].split("; ")
            assert told == survey(state, player)
            shielded.append(told[4] != told[5])
        return hunt(state, player, dice)

    with Bot(written(kit, "Surveyor", SURVEYORS[kit]), Encoding.MSGPACK, tmp_path / "log") as bot:
        bot.initialize("aibg5")
        for seed, name in enumerate(MAPS):
            play(among(surveys, seed, hunt), seed, name, rounds=40)
        assert bot.said() == ""
    assert set(shielded) == {False, True}


# The examples.


class Duel(Struct):
    """What the Python kit's example went through in a match."""

    rank: int
    rounds: int | None
    """As the bot was told."""
    heard: list[tuple[Any, Any]]
    """The parameters of each `doAction`, and the answer."""


@pytest.fixture(scope="module")
def duels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Duel]]:
    """On every map, from a seat each, against three trainers and against three who play at random."""
    found: dict[str, list[Duel]] = {"trainer": [], "random": []}
    with Bot(example("python", "aibg5"), Encoding.MSGPACK, tmp_path_factory.mktemp("duels") / "log") as bot:
        for rivals, choose, told in (("trainer", hunt, ROUNDS), ("random", at_random, None)):
            for seat, name in enumerate(MAPS):
                heard: list[tuple[Any, Any]] = []
                begin(bot, told)
                state = play(among(asked(bot, heard), seat, choose), seat, name, ROUNDS)
                found[rivals].append(Duel(state.result.ranks[seat], told, heard))
        assert bot.said() == ""
    return found


def test_duellist_always_beats_random_play_and_mostly_three_trainers(duels: dict[str, list[Duel]]) -> None:
    assert [duel.rank for duel in duels["random"]] == [1, 1, 1, 1]
    assert [duel.rank for duel in duels["trainer"]].count(1) >= 3


def test_duellist_thinks_alike_in_every_language(
    kit: str, encoding: Encoding, duels: dict[str, list[Duel]], tmp_path: Path
) -> None:
    with Bot(example(kit, "aibg5"), encoding, tmp_path / "log") as bot:
        for duel in duels["trainer"] + duels["random"][:1]:
            begin(bot, duel.rounds)
            for number, (params, said) in enumerate(duel.heard):
                assert bot.call("doAction", params) == said, number
        assert bot.said() == ""


def test_the_template_plays_by_the_rules(kit: str, encoding: Encoding, tmp_path: Path) -> None:
    with Bot(example(kit, "my_aibg5"), encoding, tmp_path / "log") as bot:
        for seat, name in enumerate(MAPS):
            begin(bot, 20)
            play(among(asked(bot), seat, hunt), seat, name, rounds=20)
        assert bot.exit() == 0


# Whole matches under the real referee.


@pytest.mark.trio
async def test_a_match_of_bots_in_three_languages_can_be_verified(
    cpp_kit: None, java_kit: None, encoding: Encoding, tmp_path: Path
) -> None:
    bots = [named(kit, example(kit, "aibg5")) for kit in ("cpp", "python", "java")]
    (verdict,) = (await matches((*bots, entrant("@trainer")), "aibg5", encoding, tmp_path, games=1, rounds=60)).matches
    assert_clean(verdict, encoding)
    assert (verdict.result.reason, verdict.turns) == ("rounds", 1 + 4 * 60)
    assert min(verdict.result.scores[:3]) > 0


@pytest.mark.trio
async def test_the_example_wins_and_the_template_plays_by_the_rules(
    kit: str, encoding: Encoding, tmp_path: Path
) -> None:
    bots = example(kit, "aibg5"), example(kit, "my_aibg5"), entrant("@random"), entrant("@random")
    (verdict,) = (await matches(bots, "aibg5", encoding, tmp_path, games=1, rounds=40)).matches
    assert_clean(verdict, encoding)
    assert verdict.result.ranks[0] == 1
