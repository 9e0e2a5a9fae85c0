// Your AI Arena 21 bot: it plays random legal moves as it stands, and buys nothing; make it win. The types, and what
// helps on the map, are in the package referee/aiarena21.
package main

import (
	"math/rand/v2"

	"referee"
	. "referee/aiarena21"
)

type myBot struct{ luck *rand.Rand }

func (b *myBot) Play_powerup(
	game_map Map, me, opponent Player, items [][]int, new_items [][][]string, heatmap [][]float64, remaining_turns int,
) string {
	return "" // or BIKE, or PORTAL_GUN
}

func (b *myBot) Play_turn(
	game_map Map, me, opponent Player, items [][]int, new_items [][][]string, heatmap [][]float64, remaining_turns int,
) string {
	return Name(b.any(NewGrid(game_map).Reach(me)))
}

func (b *myBot) Play_auction(
	game_map Map, me, opponent Player, items [][]int, new_items [][][]string, heatmap [][]float64, remaining_turns int,
) int {
	return b.luck.IntN(me.Score + 1)
}

func (b *myBot) Play_transport(
	game_map Map, me, opponent Player, items [][]int, new_items [][][]string, heatmap [][]float64, remaining_turns int,
) string {
	return Name(b.any(NewGrid(game_map).Free))
}

func (b *myBot) any(cells []Location) Location { return cells[b.luck.IntN(len(cells))] }

func main() {
	Run("My AI Arena 21 bot", "1", func(match *referee.Match) Bot {
		return &myBot{luck: rand.New(rand.NewPCG(match.Seed, 0))}
	})
}
