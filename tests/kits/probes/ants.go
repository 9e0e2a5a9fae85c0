// Says of every position what the kit's functions for ReAntics make of it: as ants.py.
package main

import (
	"fmt"
	"strings"

	referee "github.com/OWNER/referee/starter_kits/go"
	"github.com/OWNER/referee/starter_kits/go/reantics"
)

const every = 5

type ants struct{ reantics.Base }

func (*ants) Placement(reantics.GameState) []reantics.Coord { return nil }
func (*ants) Attack(reantics.GameState, reantics.Ant, []reantics.Coord) reantics.Coord {
	return reantics.Coord{}
}
func (*ants) Move(currentState reantics.GameState) reantics.Move {
	report(&currentState)
	return reantics.Move{MoveType: reantics.End}
}

func report(state *reantics.GameState) {
	var out strings.Builder
	say := func(words string, values ...any) { fmt.Fprintf(&out, words+"\n", values...) }
	say("winner %d", state.Winner())
	if queen := state.OwnInventory().Queen(); queen != nil {
		say("queen %s", tile(queen.Coords))
	} else {
		say("queen -")
	}
	var healths []string
	for kind := reantics.Queen; kind <= reantics.RSoldier; kind++ {
		healths = append(healths, fmt.Sprint(kind.Stats().Health))
	}
	say("health %s", strings.Join(healths, " "))
	var goals []reantics.Coord
	number := 0
	for _, inventory := range state.Inventories {
		for _, constr := range inventory.Constrs {
			if number%4 == 0 {
				goals = append(goals, constr.Coords)
			}
			number++
		}
	}
	for _, ant := range state.OwnInventory().Ants {
		stats := ant.Type.Stats()
		if under := state.ConstrAt(ant.Coords); under == nil {
			say("ant %s none", tile(ant.Coords))
		} else {
			say("ant %s %d", tile(ant.Coords), under.Type)
		}
		var costs []string
		for i := 0; i < 100; i += 7 {
			costs = append(costs, fmt.Sprint(state.StepsToReach(ant.Coords, reantics.Coord{X: i / 10, Y: i % 10})))
		}
		say("steps %s", strings.Join(costs, " "))
		say("near %s", tiles(state.ReachableAdjacent(ant.Coords, stats.Movement, stats.IgnoresGrass)))
		say("range %s", tiles(ant.Coords.Attackable(stats.Range)))
		var ways []string
		for _, goal := range goals {
			ways = append(ways, tiles(state.PathToward(ant.Coords, goal, stats.Movement)))
		}
		say("toward %s", strings.Join(ways, ";"))
		paths := state.MovementPaths(ant.Coords, stats.Movement, stats.IgnoresGrass)
		say("paths %d %s", len(paths), tiles(paths[len(paths)/2]))
	}
	for number, move := range state.LegalMoves() {
		kind := reantics.Queen
		if move.BuildType != nil {
			kind = *move.BuildType
		}
		say("move %d %s %d", move.MoveType, tiles(move.CoordList), kind)
		if number%every == 0 || move.MoveType == reantics.Build {
			say("next %s", position(state.Next(move)))
			say("then %s", position(state.NextAdversarial(move)))
		}
	}
	fmt.Print(out.String(), "=\n")
}

func tile(at reantics.Coord) string { return fmt.Sprintf("%d,%d", at.X, at.Y) }

func tiles(path []reantics.Coord) string {
	var shown []string
	for _, at := range path {
		shown = append(shown, tile(at))
	}
	return strings.Join(shown, " ")
}

func position(state *reantics.GameState) string {
	var out strings.Builder
	fmt.Fprint(&out, state.WhoseTurn)
	for _, inventory := range state.Inventories[:2] {
		fmt.Fprintf(&out, " food %d", inventory.FoodCount)
		for _, ant := range inventory.Ants {
			fmt.Fprintf(&out, " %s %d %d %d %d", tile(ant.Coords), ant.ID, ant.Type, ant.Player, ant.Health)
			if ant.Carrying {
				out.WriteString(" carrying")
			}
			if ant.HasMoved {
				out.WriteString(" moved")
			}
		}
		for _, constr := range inventory.Constrs {
			fmt.Fprintf(&out, " %s %d %d", tile(constr.Coords), constr.Type, *constr.CaptureHealth)
		}
	}
	return out.String()
}

func main() {
	reantics.Run("Ants", "1", func(*referee.Match) reantics.Bot { return &ants{} })
}
