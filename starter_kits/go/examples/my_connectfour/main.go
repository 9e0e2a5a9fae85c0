// Your Connect Four bot: it plays random legal moves as it stands; make it win. The types are in the package
// referee/connectfour.
package main

import (
	"math/rand/v2"

	"referee.internal/referee"
	"referee.internal/referee/connectfour"
)

type myBot struct {
	filled map[string]int
	luck   *rand.Rand
}

func (b *myBot) Play(id string) connectfour.Action {
	// After an invalid move of the rival the one right answer is {Action: connectfour.FLIP}: it wins.
	var open []string
	for _, column := range connectfour.COLUMNS {
		if b.filled[column] < connectfour.ROWS {
			open = append(open, column)
		}
	}
	return connectfour.Action{Action: "putToken", Column: &open[b.luck.IntN(len(open))]}
}

// Event shows every answer, the rival's and your own, as it was sent.
func (b *myBot) Event(event connectfour.ArenaEvent) {
	if column, isText := event.Column.(string); isText && event.Player != nil && event.Action == "putToken" {
		b.filled[column]++
	}
}

func main() {
	connectfour.Run("My Connect Four bot", "1", func(match *referee.Match) connectfour.Bot {
		return &myBot{filled: map[string]int{}, luck: rand.New(rand.NewPCG(match.Seed, 0))}
	})
}
