"""AI Arena 21 in the kits that have examples for it: what helps on the map, the examples, whole matches."""

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from driving import NAMES, Bot, Rival, play, rank, seated
from kits import ENUMERATING, WriteBot, example
from test_matches import assert_clean, matches, named

from referee.games.aiarena21 import GAME, AIArena21, Cell, Ground, Map, Options, Player, load
from referee.games.contract import Setup
from referee.harness.match import maps
from referee.harness.opponents.greedy import walks
from referee.harness.paths import KITS
from referee.harness.programs.spec import entrant
from referee.protocol.messages import Encoding, ErrorObject

SMALLEST = Options(map=maps.read("aiarena21", "7"), turns=100)
LARGEST = Options(map=maps.read("aiarena21", "1"), turns=300)


@pytest.fixture(params=sorted(folder.parts[-3] for folder in KITS.glob("*/examples/aiarena21")))
def kit(request: pytest.FixtureRequest) -> str:
    """Every kit that has the examples in turn, built."""
    request.getfixturevalue(f"{request.param}_kit")
    return str(request.param)


# What helps on the map.

SURVEYORS = {
    "python": """
from referee_kit.aiarena21 import *
from referee_kit.grid import Grid, name

class Surveyor(AIArena21Bot):
    def play_powerup(self, game_map, me, opponent, items, new_items, heatmap, remaining_turns):
        return name(opponent.location)

    def play_turn(self, game_map, me, opponent, items, new_items, heatmap, remaining_turns):
        grid = Grid(game_map)
        around = [(row, col) for row in range(-1, grid.rows + 1) for col in range(-1, grid.cols + 1)]
        parts = [
            [cell for cell in around if grid.is_free(cell)],
            grid.free,
            grid.neighbours(me.location),
            grid.path(me.location, opponent.location),
            grid.reach(me),
        ]
        steps = grid.distances([me.location, opponent.location])
        told = [" ".join(name(cell) for cell in cells) for cells in parts]
        return "; ".join([*told, " ".join(str(number) for row in steps for number in row)])

run(Surveyor)
""",
    "cpp": """
#include <referee/grid.hpp>

using namespace referee;
using namespace referee::aiarena21;

class Surveyor : public AIArena21Bot {
    static std::string listed(const std::vector<Location>& cells) {
        std::string text;
        for (const auto cell : cells) text += (text.empty() ? "" : " ") + name(cell);
        return text;
    }

   public:
    using AIArena21Bot::AIArena21Bot;

    PowerUp play_powerup(const Map&, const Player&, const Player&, const Table<int>&,
                         const Table<std::vector<Item>>&, const Table<double>&, int) override {
        return PowerUp::NONE;
    }
    std::string play_turn(const Map& map, const Player& me, const Player& opponent, const Table<int>&,
                          const Table<std::vector<Item>>&, const Table<double>&, int) override {
        const Grid grid(map);
        std::vector<Location> free;
        for (int row = -1; row <= grid.rows; ++row) {
            for (int col = -1; col <= grid.cols; ++col) {
                if (grid.isFree({row, col})) free.push_back({row, col});
            }
        }
        std::string text = listed(free) + "; " + listed(grid.free) + "; " + listed(grid.neighbours(me.location)) +
                           "; " + listed(grid.path(me.location, opponent.location)) + "; " + listed(grid.reach(me)) +
                           ";";
        for (const auto& row : grid.distances({me.location, opponent.location})) {
            for (const int steps : row) text += " " + std::to_string(steps);
        }
        return text;
    }
    int play_auction(const Map&, const Player&, const Player&, const Table<int>&,
                     const Table<std::vector<Item>>&, const Table<double>&, int) override {
        return 0;
    }
    std::string play_transport(const Map&, const Player&, const Player& opponent, const Table<int>&,
                               const Table<std::vector<Item>>&, const Table<double>&, int) override {
        return name(opponent.location);
    }
};

int main() { return run<Surveyor>("Surveyor"); }
""",
    "java": """
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import referee.kit.Match;
import referee.kit.aiarena21.AIArena21Bot;
import referee.kit.aiarena21.Grid;

public class Surveyor extends AIArena21Bot {
    public Surveyor(Match match) { super(match); }

    public static void main(String[] args) { run(Surveyor::new); }

    private static String listed(List<Location> cells) {
        return cells.stream().map(Grid::name).collect(Collectors.joining(" "));
    }

    @Override public PowerUp play_powerup(Map map, Player me, Player opponent, List<List<Integer>> items,
            List<List<List<Item>>> fresh, List<List<Double>> heat, int left) {
        return PowerUp.NONE;
    }

    @Override public String play_turn(Map map, Player me, Player opponent, List<List<Integer>> items,
            List<List<List<Item>>> fresh, List<List<Double>> heat, int left) {
        Grid grid = new Grid(map);
        List<Location> free = new ArrayList<>();
        for (int row = -1; row <= grid.rows(); row++) {
            for (int col = -1; col <= grid.cols(); col++) {
                if (grid.isFree(new Location(row, col))) { free.add(new Location(row, col)); }
            }
        }
        String steps = Arrays.stream(grid.distances(List.of(me.location(), opponent.location())))
            .flatMapToInt(Arrays::stream).mapToObj(String::valueOf).collect(Collectors.joining(" "));
        return String.join("; ", listed(free), listed(grid.free()), listed(grid.neighbours(me.location())),
            listed(grid.path(me.location(), opponent.location())), listed(grid.reach(me)), steps);
    }

    @Override public int play_auction(Map map, Player me, Player opponent, List<List<Integer>> items,
            List<List<List<Item>>> fresh, List<List<Double>> heat, int left) { return 0; }

    @Override public String play_transport(Map map, Player me, Player opponent, List<List<Integer>> items,
            List<List<List<Item>>> fresh, List<List<Double>> heat, int left) { return Grid.name(opponent.location()); }
}
""",
    "javascript": """
import { AIArena21Bot, Location, run } from "referee-kit/aiarena21";
import { Grid, name } from "referee-kit/grid";

const listed = (cells) => cells.map(name).join(" ");

class Surveyor extends AIArena21Bot {
    play_powerup(game_map, me, opponent) {
        return name(opponent.location);
    }

    play_turn(game_map, me, opponent) {
        const grid = new Grid(game_map);
        const rows = Array.from({ length: grid.rows + 2 }, (_, row) => row - 1);
        const cols = Array.from({ length: grid.cols + 2 }, (_, col) => col - 1);
        const around = rows.flatMap((row) => cols.map((col) => new Location(row, col)));
        const parts = [
            around.filter((cell) => grid.isFree(cell)),
            grid.free,
            grid.neighbours(me.location),
            grid.path(me.location, opponent.location),
            grid.reach(me),
        ];
        const steps = grid.distances([me.location, opponent.location]);
        return [...parts.map(listed), steps.flat().join(" ")].join("; ");
    }
}

run(Surveyor);
""",
    "go": """
package main

import (
	"fmt"
	"strings"

	"referee.internal/referee"
	. "referee.internal/referee/aiarena21"
)

type surveyor struct{}

func listed(cells []Location) string {
	names := []string{}
	for _, cell := range cells {
		names = append(names, Name(cell))
	}
	return strings.Join(names, " ")
}

func (surveyor) PlayPowerup(
	gameMap Map, me, opponent Player, items [][]int, newItems [][][]string, heatmap [][]float64, remainingTurns int,
) string {
	return Name(opponent.Location)
}

func (surveyor) PlayTurn(
	gameMap Map, me, opponent Player, items [][]int, newItems [][][]string, heatmap [][]float64, remainingTurns int,
) string {
	grid, free, steps := NewGrid(gameMap), []Location{}, []string{}
	for row := -1; row <= grid.Rows; row++ {
		for col := -1; col <= grid.Cols; col++ {
			if cell := (Location{row, col}); grid.IsFree(cell) {
				free = append(free, cell)
			}
		}
	}
	for _, row := range grid.Distances(me.Location, opponent.Location) {
		steps = append(steps, strings.Trim(fmt.Sprint(row), "[]"))
	}
	parts := []string{listed(free), listed(grid.Free), listed(grid.Neighbours(me.Location)),
		listed(grid.Path(me.Location, opponent.Location)), listed(grid.Reach(me)), strings.Join(steps, " ")}
	return strings.Join(parts, "; ")
}

func (surveyor) PlayAuction(
	gameMap Map, me, opponent Player, items [][]int, newItems [][][]string, heatmap [][]float64, remainingTurns int,
) int {
	return 0
}

func (surveyor) PlayTransport(
	gameMap Map, me, opponent Player, items [][]int, newItems [][][]string, heatmap [][]float64, remainingTurns int,
) string {
	return ""
}

func main() { Run("Surveyor", "1", func(*referee.Match) Bot { return surveyor{} }) }
""",
    "rust": """
use referee_kit::aiarena21::*;
use referee_kit::grid::{name, Grid};
use referee_kit::Match;

type Items = Vec<Vec<i64>>;
type Fresh = Vec<Vec<Vec<Item>>>;
type Heat = Vec<Vec<f64>>;

struct Surveyor;

fn listed(cells: &[Location]) -> String {
    cells.iter().map(|&cell| name(cell)).collect::<Vec<_>>().join(" ")
}

impl AIArena21Bot for Surveyor {
    fn new(_: Match) -> Self {
        Surveyor
    }

    fn play_powerup(&mut self, _: Map, _: Player, _: Player, _: Items, _: Fresh, _: Heat, _: i64) -> PowerUp {
        PowerUp::None
    }

    fn play_turn(&mut self, map: Map, me: Player, opponent: Player, _: Items, _: Fresh, _: Heat, _: i64) -> String {
        let grid = Grid::new(&map);
        let around = (-1..=grid.rows).flat_map(|row| (-1..=grid.cols).map(move |col| Location::new(row, col)));
        let free: Vec<Location> = around.filter(|&cell| grid.is_free(cell)).collect();
        let steps = grid.distances(&[me.location, opponent.location]).concat();
        let parts = [
            listed(&free),
            listed(&grid.free),
            listed(&grid.neighbours(me.location)),
            listed(&grid.path(me.location, opponent.location)),
            listed(&grid.reach(&me)),
            steps.iter().map(i64::to_string).collect::<Vec<_>>().join(" "),
        ];
        parts.join("; ")
    }

    fn play_auction(&mut self, _: Map, _: Player, _: Player, _: Items, _: Fresh, _: Heat, _: i64) -> i64 {
        0
    }

    fn play_transport(&mut self, _: Map, _: Player, opponent: Player, _: Items, _: Fresh, _: Heat, _: i64) -> String {
        name(opponent.location)
    }
}

fn main() {
    run::<Surveyor>("Surveyor");
}
""",
    "c": r"""
#include <referee/grid.h>

static const char* play_powerup(referee_match* match, const aiarena21_map* map, const aiarena21_player* me,
                                const aiarena21_player* opponent, aiarena21_int_list_list items,
                                aiarena21_text_list_list_list fresh, aiarena21_float_list_list heat, int left) {
    return aiarena21_name_of(match, opponent->location);
}

static void list(referee_match* match, char* text, const aiarena21_location* cells, size_t count) {
    for (size_t i = 0; i < count; ++i)
        sprintf(text + strlen(text), i ? " %s" : "%s", aiarena21_name_of(match, cells[i]));
    strcat(text, "; ");
}

static const char* play_turn(referee_match* match, const aiarena21_map* map, const aiarena21_player* me,
                             const aiarena21_player* opponent, aiarena21_int_list_list items,
                             aiarena21_text_list_list_list fresh, aiarena21_float_list_list heat, int left) {
    const aiarena21_grid grid = aiarena21_new_grid(match, map);
    char* text = referee_allocate(match, 100000);
    aiarena21_location around[10000];
    size_t count = 0;
    for (int row = -1; row <= map->rows; ++row) {
        for (int col = -1; col <= map->cols; ++col) {
            if (aiarena21_is_free(&grid, (aiarena21_location){row, col}))
                around[count++] = (aiarena21_location){row, col};
        }
    }
    const aiarena21_neighbour_list beside = aiarena21_neighbours(&grid, me->location);
    const aiarena21_location_list path = aiarena21_path_to(match, &grid, me->location, opponent->location);
    const aiarena21_location_list within = aiarena21_reach(match, &grid, me);
    aiarena21_location ends[] = {me->location, opponent->location};
    const aiarena21_int_list_list steps = aiarena21_distances(match, &grid, (aiarena21_location_list){ends, 2});
    list(match, text, around, count);
    list(match, text, grid.free.items, grid.free.count);
    list(match, text, beside.items, beside.count);
    list(match, text, path.items, path.count);
    list(match, text, within.items, within.count);
    for (size_t i = 0; i < steps.count * (size_t)map->cols; ++i) {
        const int each = steps.items[i / (size_t)map->cols].items[i % (size_t)map->cols];
        sprintf(text + strlen(text), i ? " %d" : "%d", each);
    }
    return text;
}

int main(void) {
    return aiarena21_run(&(aiarena21_bot){.name = "Surveyor", .play_powerup = play_powerup, .play_turn = play_turn});
}
""",
}
"""Bots that answer `play_turn` with what the kit says of the map: the free cells, asked for one by one, on the map and
around it, and as a list; the own cell's neighbours; the path to the opponent; where a move may go; for each cell the
steps from the nearer player."""

FAR = 1_000_000


def survey(ground: Ground, me: Player, opponent: Player) -> list[str]:
    """The same by the rules; the path's length in the place of the path."""
    here, there = (player.location[0] * ground.cols + player.location[1] for player in (me, opponent))
    steps, way = walks(ground, [here, there]), walks(ground, [here])
    cells = range(ground.rows * ground.cols)
    return [
        *[listed(ground, ground.free)] * 2,
        listed(ground, ground.neighbours[here]),
        str(way.get(there, -1) + 1),
        listed(ground, ground.reach(here, me.bike, me.portal_gun)),
        " ".join(str(steps.get(cell, FAR)) for cell in cells),
    ]


def listed(ground: Ground, cells: Any) -> str:
    return " ".join(f"{row},{col}" for row, col in map(ground.location.__getitem__, cells))


def is_path(ground: Ground, path: str, me: Player, opponent: Player) -> bool:
    """From one to the other, step by step."""
    cells: list[Cell] = [
        int(row) * ground.cols + int(col) for row, col in (name.split(",") for name in path.split(" ") if name)
    ]
    ends = [ground.location[cell] for cell in (cells[0], cells[-1])] if cells else []
    steps = itertools.pairwise(cells)
    return (not cells or ends == [me.location, opponent.location]) and all(
        two in ground.neighbours[one] for one, two in steps
    )


@pytest.mark.parametrize("text", [".....\n..###\n.....\nS.S..\n", "..#.\n.##.\n..#.\n", maps.read("aiarena21", "4")])
def test_what_helps_on_the_map_is_what_the_rules_say(kit: str, text: str, written: WriteBot, tmp_path: Path) -> None:
    ground = load(text)
    corners = [ground.location[ground.free[0]], ground.location[ground.free[-1]]]
    with Bot(written(kit, "Surveyor", SURVEYORS[kit]), Encoding.MSGPACK, tmp_path / "log") as bot:
        bot.initialize("aiarena21")
        for bike, portal_gun in ((False, False), (True, False), (False, True)):
            me, opponent = Player("a", 70, corners[0], bike, portal_gun), Player("b", 7, corners[1], False, False)
            params = {**shown(ground, me, opponent), "remaining_turns": 1}
            method = "play_transport" if kit in ENUMERATING else "play_powerup"
            assert bot.call(method, params) == f"{corners[1][0]},{corners[1][1]}"
            told = bot.call("play_turn", params).split("; ")
            assert is_path(ground, told[3], me, opponent)
            told[3] = str(len(told[3].split()))
            assert told == survey(ground, me, opponent)
        assert bot.said() == ""


def shown(ground: Ground, me: Player, opponent: Player) -> dict[str, Any]:
    """The parameters of a call, on a bare board."""
    bare = Map(ground.rows, ground.cols, ground.map.cells)
    rows = {"items": ground.bare.points, "new_items": ground.no_items, "heatmap": ground.cold}
    shown = {"game_map": bare, "me": me, "opponent": opponent, **rows}
    plain: dict[str, Any] = json.loads(msgspec.json.encode(shown))
    return plain


# The examples.


def test_picker_beats_random_play_practically_always(kit: str, encoding: Encoding, tmp_path: Path) -> None:
    """Twenty of twenty; `play` asserts that every answer of it is legal."""
    with Bot(example(kit, "aiarena21"), encoding, tmp_path / "log") as bot:
        states = [play(GAME, seated(seed % 2, bot, Rival()), seed, SMALLEST) for seed in range(20)]
        assert bot.said() == ""
    assert [rank(state, seed % 2) for seed, state in enumerate(states)] == [1] * 20


def test_picker_buys_bikes_and_they_do_not_ruin_it(kit: str, tmp_path: Path) -> None:
    with Bot(example(kit, "aiarena21"), Encoding.MSGPACK, tmp_path / "log") as bot:
        bought, score = compare(bot, bot)
    assert bought["play_powerup", "bike"] > 0
    assert bought["play_powerup", "portal gun"] == 0
    assert min(score) > 100


def test_picker_thinks_alike_in_every_language(kit: str, tmp_path: Path) -> None:
    with (
        Bot(example(kit, "aiarena21"), Encoding.MSGPACK, tmp_path / "log") as bot,
        Bot(example("python", "aiarena21"), Encoding.JSON, tmp_path / "python.log") as model,
    ):
        said, _ = compare(bot, model)
    assert {method for method, _ in said} == {"play_powerup", "play_turn", "play_auction", "play_transport"}


def compare(bot: Bot, model: Bot) -> tuple[Counter[tuple[str, str]], list[int]]:
    """A match in which one object answers for both seats, and another must answer the same. What was said how often,
    a cell being just a cell; and the scores."""
    options = Options(map=SMALLEST.map, turns=130)
    state, said = AIArena21(Setup(4, NAMES, options)), Counter[tuple[str, str]]()
    for each in {bot, model}:
        assert not isinstance(each.initialize("aiarena21", options=options), ErrorObject)
    while state.awaited:
        answers = {}
        for call in state.calls():
            params = msgspec.to_builtins(call.params)
            answers[call.player] = answer = bot.call(call.method.name, params)
            assert bot is model or answer == model.call(call.method.name, params)
            said[call.method.name, answer if call.method.name == "play_powerup" else ""] += 1
        state.apply(answers)
    assert state.faults == ({}, {})
    return said, state.score


def test_the_template_plays_by_the_rules(kit: str, encoding: Encoding, tmp_path: Path) -> None:
    with Bot(example(kit, "my_aiarena21"), encoding, tmp_path / "log") as bot:
        for seed in range(6):
            play(GAME, seated(seed % 2, bot, Rival()), seed, Options(map="S....\n..#..\n.#...\n....S\n"))
        assert bot.exit() == 0


def test_the_templates_luck_comes_from_the_matchs_seed(kit: str, tmp_path: Path) -> None:
    """Where it goes first: the same for the same seed, and not always the same."""
    ground = load(SMALLEST.map)
    me, opponent = (Player(name, 100, ground.location[ground.free[99]], False, True) for name in NAMES)
    params = {**shown(ground, me, opponent), "remaining_turns": 1}
    with Bot(example(kit, "my_aiarena21"), Encoding.MSGPACK, tmp_path / "log") as bot:
        went = []
        for seed in (1, 2, 3, 1, 2, 3):
            bot.initialize("aiarena21", seed=seed)
            went.append(bot.call("play_turn", params))
    assert went[:3] == went[3:]
    assert len(set(went)) > 1


# Whole matches under the real referee.


@pytest.mark.trio
async def test_three_hundred_turns_on_the_largest_map_between_cpp_and_python(
    cpp_kit: None, encoding: Encoding, tmp_path: Path
) -> None:
    pair = named("cpp", example("cpp", "aiarena21")), named("python", example("python", "aiarena21"))
    options = msgspec.structs.asdict(LARGEST)
    (verdict,) = (await matches(pair, "aiarena21", encoding, tmp_path, games=1, **options)).matches
    assert_clean(verdict, encoding)
    assert verdict.turns >= 900
    assert min(verdict.result.scores) > 300


@pytest.mark.trio
async def test_the_examples_never_lose_to_the_built_in_random_play(
    kit: str, encoding: Encoding, tmp_path: Path
) -> None:
    options = msgspec.structs.asdict(SMALLEST)
    entrants = example(kit, "aiarena21"), entrant("@random")
    outcome = await matches(entrants, "aiarena21", encoding, tmp_path, games=4, **options)
    for verdict in outcome.matches:
        assert_clean(verdict, encoding)
    assert outcome.standings[0].wins == 4


@pytest.mark.trio
async def test_the_templates_play_whole_legal_matches(kit: str, encoding: Encoding, tmp_path: Path) -> None:
    entrants = example(kit, "my_aiarena21"), entrant("@random")
    outcome = await matches(entrants, "aiarena21", encoding, tmp_path, turns=40)
    for verdict in outcome.matches:
        assert_clean(verdict, encoding)
