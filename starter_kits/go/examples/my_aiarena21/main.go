// Your AI Arena 21 bot: it plays random legal moves as it stands, and buys nothing; make it win. The types, and what
// helps on the map, are in the package referee/aiarena21.
package main

import (
	"math/rand/v2"

	"referee.internal/referee"
	. "referee.internal/referee/aiarena21"
)

type myBot struct{ luck *rand.Rand }

func (b *myBot) PlayPowerup(
	gameMap Map, me, opponent Player, items [][]int, newItems [][][]string, heatmap [][]float64, remainingTurns int,
) string {
	return "" // or BIKE, or PORTAL_GUN
}

func (b *myBot) PlayTurn(
	gameMap Map, me, opponent Player, items [][]int, newItems [][][]string, heatmap [][]float64, remainingTurns int,
) string {
	return Name(b.any(NewGrid(gameMap).Reach(me)))
}

func (b *myBot) PlayAuction(
	gameMap Map, me, opponent Player, items [][]int, newItems [][][]string, heatmap [][]float64, remainingTurns int,
) int {
	return b.luck.IntN(me.Score + 1)
}

func (b *myBot) PlayTransport(
	gameMap Map, me, opponent Player, items [][]int, newItems [][][]string, heatmap [][]float64, remainingTurns int,
) string {
	return Name(b.any(NewGrid(gameMap).Free))
}

func (b *myBot) any(cells []Location) Location { return cells[b.luck.IntN(len(cells))] }

func main() {
	Run("My AI Arena 21 bot", "1", func(match *referee.Match) Bot {
		return &myBot{luck: rand.New(rand.NewPCG(match.Seed, 0))}
	})
}
