// Says of every position what the kit's functions for ReAntics make of it: as ants.py.
package main

import (
	"fmt"
	"strings"

	"referee.internal/referee"
	. "referee.internal/referee/reantics"
)

const every = 5

type ants struct{ Base }

func (*ants) GetPlacement(GameState) []Coord          { return nil }
func (*ants) GetAttack(GameState, Ant, []Coord) Coord { return Coord{} }
func (*ants) GetMove(currentState GameState) Move {
	report(&currentState)
	return Move{MoveType: END}
}

func report(state *GameState) {
	var out strings.Builder
	say := func(words string, values ...any) { fmt.Fprintf(&out, words+"\n", values...) }
	say("winner %d", GetWinner(state))
	if queen := GetCurrPlayerQueen(state); queen != nil {
		say("queen %s", tile(queen.Coords))
	} else {
		say("queen -")
	}
	var healths []string
	for _, stats := range UNIT_STATS {
		healths = append(healths, fmt.Sprint(stats.Health))
	}
	say("health %s", strings.Join(healths, " "))
	var goals []Coord
	number := 0
	for _, inventory := range state.Inventories {
		for _, constr := range inventory.Constrs {
			if number%4 == 0 {
				goals = append(goals, constr.Coords)
			}
			number++
		}
	}
	for _, ant := range GetCurrPlayerInventory(state).Ants {
		stats := UNIT_STATS[ant.Type]
		if under := GetConstrAt(state, ant.Coords); under == nil {
			say("ant %s none", tile(ant.Coords))
		} else {
			say("ant %s %d", tile(ant.Coords), under.Type)
		}
		var costs []string
		for i := 0; i < 100; i += 7 {
			costs = append(costs, fmt.Sprint(StepsToReach(state, ant.Coords, Coord{X: i / 10, Y: i % 10})))
		}
		say("steps %s", strings.Join(costs, " "))
		say("near %s", tiles(ListReachableAdjacent(state, ant.Coords, stats.Movement, stats.IgnoresGrass)))
		say("range %s", tiles(ListAttackable(ant.Coords, stats.Range)))
		var ways []string
		for _, goal := range goals {
			ways = append(ways, tiles(CreatePathToward(state, ant.Coords, goal, stats.Movement)))
		}
		say("toward %s", strings.Join(ways, ";"))
		paths := ListAllMovementPaths(state, ant.Coords, stats.Movement, stats.IgnoresGrass)
		say("paths %d %s", len(paths), tiles(paths[len(paths)/2]))
	}
	for number, move := range ListAllLegalMoves(state) {
		kind := 0
		if move.BuildType != nil {
			kind = *move.BuildType
		}
		say("move %d %s %d", move.MoveType, tiles(move.CoordList), kind)
		if number%every == 0 || move.MoveType == BUILD {
			say("next %s", position(GetNextState(state, move)))
			say("then %s", position(GetNextStateAdversarial(state, move)))
		}
	}
	fmt.Print(out.String(), "=\n")
}

func tile(at Coord) string { return fmt.Sprintf("%d,%d", at.X, at.Y) }

func tiles(path []Coord) string {
	var shown []string
	for _, at := range path {
		shown = append(shown, tile(at))
	}
	return strings.Join(shown, " ")
}

func position(state *GameState) string {
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
	Run("Ants", "1", func(*referee.Match) Bot { return &ants{} })
}
