// Your Connect Four bot: it plays random legal moves as it stands; make it win. The types are in the package
// referee/connectfour.
package main

import (
	"math/rand/v2"

	referee "github.com/OWNER/referee/starter_kits/go"
	"github.com/OWNER/referee/starter_kits/go/connectfour"
)

type myBot struct {
	filled map[connectfour.Column]int
	luck   *rand.Rand
}

func (b *myBot) Play(id string) connectfour.Action {
	// After an invalid move of the rival, flip the table to win: {Action: connectfour.Flip}.
	var open []connectfour.Column
	for _, column := range connectfour.Columns {
		if b.filled[column] < connectfour.Rows {
			open = append(open, column)
		}
	}
	return connectfour.Action{Action: connectfour.PutToken, Column: &open[b.luck.IntN(len(open))]}
}

// Event shows every answer, the rival's and your own, as it was sent.
func (b *myBot) Event(event connectfour.ArenaEvent) {
	column, isText := event.Column.(string)
	if isText && event.Player != nil && event.Action == string(connectfour.PutToken) {
		b.filled[connectfour.Column(column)]++
	}
}

func main() {
	connectfour.Run("My Connect Four bot", "1", func(match *referee.Match) connectfour.Bot {
		return &myBot{filled: map[connectfour.Column]int{}, luck: rand.New(rand.NewPCG(match.Seed, 0))}
	})
}
