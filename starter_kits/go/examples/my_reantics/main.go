// Your ReAntics bot: it plays random legal moves as it stands; make it win. It places its pieces anywhere, and any ant
// takes any step until the turn ends. The types are in the package referee/reantics.
package main

import (
	"math/rand/v2"

	referee "github.com/OWNER/referee/starter_kits/go"
	"github.com/OWNER/referee/starter_kits/go/reantics"
)

type myBot struct {
	reantics.Base
	luck *rand.Rand
}

// Placement chooses the anthill, the tunnel and nine grass on our side, and later two foods on the enemy's.
func (b *myBot) Placement(currentState reantics.GameState) []reantics.Coord {
	top, count := 0, 11
	if currentState.Phase == reantics.SetupPhase2 {
		top, count = 6, 2
	}
	tiles := []reantics.Coord{}
	for i := range 40 {
		if tile := (reantics.Coord{X: i % 10, Y: top + i/10}); isFree(currentState, tile) {
			tiles = append(tiles, tile)
		}
	}
	b.luck.Shuffle(len(tiles), func(i, j int) { tiles[i], tiles[j] = tiles[j], tiles[i] })
	return tiles[:count]
}

func (b *myBot) Move(currentState reantics.GameState) reantics.Move {
	// Move an ant: {MoveType: reantics.MoveAnt, CoordList: [from, …, to]}.
	// Build one: {MoveType: reantics.Build, CoordList: [anthill], BuildType: referee.Some(reantics.Worker)}.
	moves := []reantics.Move{{MoveType: reantics.End}}
	for _, ant := range currentState.Inventories[currentState.WhoseTurn].Ants {
		for _, step := range []reantics.Coord{{X: -1}, {X: 1}, {Y: -1}, {Y: 1}} {
			tile := reantics.Coord{X: ant.Coords.X + step.X, Y: ant.Coords.Y + step.Y}
			if !ant.HasMoved && mayEnter(currentState, ant, tile) {
				path := []reantics.Coord{ant.Coords, tile}
				moves = append(moves, reantics.Move{MoveType: reantics.MoveAnt, CoordList: path})
			}
		}
	}
	return moves[b.luck.IntN(len(moves))]
}

func (b *myBot) Attack(
	currentState reantics.GameState, attackingAnt reantics.Ant, enemyLocations []reantics.Coord,
) reantics.Coord {
	return enemyLocations[b.luck.IntN(len(enemyLocations))]
}

func isFree(state reantics.GameState, tile reantics.Coord) bool {
	for _, inventory := range state.Inventories {
		for _, constr := range inventory.Constrs {
			if constr.Coords == tile {
				return false
			}
		}
	}
	return true
}

// mayEnter keeps the queen on our side, and every ant on the board and off the others' tiles.
func mayEnter(state reantics.GameState, ant reantics.Ant, tile reantics.Coord) bool {
	last := reantics.BoardLength - 1
	if ant.Type == reantics.Queen {
		last = 3
	}
	for _, inventory := range state.Inventories {
		for _, other := range inventory.Ants {
			if other.Coords == tile {
				return false
			}
		}
	}
	return tile.X >= 0 && tile.X < reantics.BoardLength && tile.Y >= 0 && tile.Y <= last
}

func main() {
	reantics.Run("My ReAntics bot", "1", func(match *referee.Match) reantics.Bot {
		return &myBot{luck: rand.New(rand.NewPCG(match.Seed, 0))}
	})
}
