// Your AIBG 5 bot: it plays random legal moves as it stands; make it win. The types are in the package referee/aibg5,
// what helps on the board is in referee/hexgrid.
package main

import (
	"math/rand/v2"

	referee "github.com/OWNER/referee/starter_kits/go"
	"github.com/OWNER/referee/starter_kits/go/aibg5"
	"github.com/OWNER/referee/starter_kits/go/hexgrid"
)

type myBot struct {
	aibg5.Base
	luck *rand.Rand
}

func (b *myBot) DoAction(playerIdx int, state aibg5.GameState, message *string) aibg5.Action {
	board := hexgrid.NewBoard(&state)
	here := hexgrid.CellOf(board.Player(playerIdx))
	actions := []aibg5.Action{}
	for _, cell := range hexgrid.Neighbours(here) {
		if board.MayEnter(cell) {
			actions = append(actions, hexgrid.Move(cell))
		}
	}
	for _, cell := range board.Targets(here) {
		actions = append(actions, hexgrid.Attack(cell))
	}
	if len(actions) == 0 {
		return hexgrid.Move(here) // nothing is legal: it costs a tenth of the health
	}
	return actions[b.luck.IntN(len(actions))]
}

func main() {
	aibg5.Run("My AIBG 5 bot", "1", func(match *referee.Match) aibg5.Bot {
		return &myBot{luck: rand.New(rand.NewPCG(match.Seed, 0))}
	})
}
