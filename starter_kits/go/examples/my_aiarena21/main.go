// Your AI Arena 21 bot: it plays random legal moves as it stands, and buys nothing; make it win. The types, and what
// helps on the map, are in the package referee/aiarena21.
package main

import (
	"math/rand/v2"

	referee "github.com/OWNER/referee/starter_kits/go"
	"github.com/OWNER/referee/starter_kits/go/aiarena21"
)

type myBot struct{ luck *rand.Rand }

func (b *myBot) PlayPowerup(
	gameMap aiarena21.Map, me, opponent aiarena21.Player, items [][]int, newItems [][][]aiarena21.Item,
	heatmap [][]float64, remainingTurns int,
) aiarena21.PowerUp {
	return aiarena21.None // or aiarena21.Bike, or aiarena21.PortalGun
}

func (b *myBot) PlayTurn(
	gameMap aiarena21.Map, me, opponent aiarena21.Player, items [][]int, newItems [][][]aiarena21.Item,
	heatmap [][]float64, remainingTurns int,
) string {
	return b.any(aiarena21.NewGrid(gameMap).Reach(me)).String()
}

func (b *myBot) PlayAuction(
	gameMap aiarena21.Map, me, opponent aiarena21.Player, items [][]int, newItems [][][]aiarena21.Item,
	heatmap [][]float64, remainingTurns int,
) int {
	return b.luck.IntN(me.Score + 1)
}

func (b *myBot) PlayTransport(
	gameMap aiarena21.Map, me, opponent aiarena21.Player, items [][]int, newItems [][][]aiarena21.Item,
	heatmap [][]float64, remainingTurns int,
) string {
	return b.any(aiarena21.NewGrid(gameMap).Free).String()
}

func (b *myBot) any(cells []aiarena21.Location) aiarena21.Location {
	return cells[b.luck.IntN(len(cells))]
}

func main() {
	aiarena21.Run("My AI Arena 21 bot", "1", func(match *referee.Match) aiarena21.Bot {
		return &myBot{luck: rand.New(rand.NewPCG(match.Seed, 0))}
	})
}
