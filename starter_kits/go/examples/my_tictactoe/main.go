// Your tic-tac-toe bot: it plays random legal moves as it stands; make it win. The types are in the package
// referee/tictactoe.
package main

import (
	"math/rand/v2"
	"slices"

	"referee.internal/referee"
	"referee.internal/referee/tictactoe"
)

type myBot struct {
	free []string
	luck *rand.Rand
}

func (b *myBot) Play(id string) tictactoe.Action {
	// After an invalid move of the rival the one right answer is {Action: tictactoe.FLIP}: it wins.
	return tictactoe.Action{Action: "putSymbol", Position: &b.free[b.luck.IntN(len(b.free))]}
}

// Event shows every answer, the rival's and your own, as it was sent.
func (b *myBot) Event(event tictactoe.ArenaEvent) {
	if event.Player != nil && event.Action == "putSymbol" {
		b.free = slices.DeleteFunc(b.free, func(cell string) bool { return event.Position == cell })
	}
}

func main() {
	tictactoe.Run("My tic-tac-toe bot", "1", func(match *referee.Match) tictactoe.Bot {
		return &myBot{free: slices.Clone(tictactoe.CELLS[:]), luck: rand.New(rand.NewPCG(match.Seed, 0))}
	})
}
