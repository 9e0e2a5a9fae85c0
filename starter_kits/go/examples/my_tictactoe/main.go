// Your tic-tac-toe bot: it plays random legal moves as it stands; make it win. The types are in the package
// referee/tictactoe.
package main

import (
	"math/rand/v2"
	"slices"

	referee "github.com/OWNER/referee/starter_kits/go"
	"github.com/OWNER/referee/starter_kits/go/tictactoe"
)

type myBot struct {
	free []tictactoe.Cell
	luck *rand.Rand
}

func (b *myBot) Play(id string) tictactoe.Action {
	// After an invalid move of the rival, flip the table to win: {Action: tictactoe.Flip}.
	return tictactoe.Action{Action: tictactoe.PutSymbol, Position: &b.free[b.luck.IntN(len(b.free))]}
}

// Event shows every answer, the rival's and your own, as it was sent.
func (b *myBot) Event(event tictactoe.ArenaEvent) {
	if event.Player != nil && event.Action == string(tictactoe.PutSymbol) {
		b.free = slices.DeleteFunc(b.free, func(cell tictactoe.Cell) bool { return event.Position == string(cell) })
	}
}

func main() {
	tictactoe.Run("My tic-tac-toe bot", "1", func(match *referee.Match) tictactoe.Bot {
		return &myBot{free: slices.Clone(tictactoe.Cells[:]), luck: rand.New(rand.NewPCG(match.Seed, 0))}
	})
}
