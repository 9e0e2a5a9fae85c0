// Answers each position with the results of the kit's functions for AI Arena 21, like grids.py.
package main

import (
	"fmt"
	"strings"

	referee "github.com/OWNER/referee/starter_kits/go"
	. "github.com/OWNER/referee/starter_kits/go/aiarena21"
)

type grids struct{}

func (b *grids) PlayPowerup(
	gameMap Map, me, opponent Player, items [][]int, newItems [][][]Item, heatmap [][]float64, remainingTurns int,
) PowerUp {
	return ""
}

func (b *grids) PlayTurn(
	gameMap Map, me, opponent Player, items [][]int, newItems [][][]Item, heatmap [][]float64, remainingTurns int,
) string {
	grid, here, there := NewGrid(gameMap), me.Location, opponent.Location
	rows := []string{}
	for _, row := range grid.Distances(here, there, here) {
		rows = append(rows, strings.Trim(fmt.Sprint(row), "[]"))
	}
	says := []string{
		flag(grid.IsFree(here)) + flag(grid.IsFree(there)),
		listed(grid.Free),
		listed(grid.Neighbours(here)),
		strings.Join(rows, "/"),
		listed(grid.Path(here, there)),
		listed(grid.Reach(me)),
	}
	return strings.Join(says, ";")
}

func (b *grids) PlayAuction(
	gameMap Map, me, opponent Player, items [][]int, newItems [][][]Item, heatmap [][]float64, remainingTurns int,
) int {
	return 0
}

func (b *grids) PlayTransport(
	gameMap Map, me, opponent Player, items [][]int, newItems [][][]Item, heatmap [][]float64, remainingTurns int,
) string {
	return ""
}

func flag(value bool) string {
	if value {
		return "yes "
	}
	return "no "
}

func listed(cells []Location) string {
	texts := []string{}
	for _, cell := range cells {
		texts = append(texts, cell.String())
	}
	return strings.Join(texts, " ")
}

func main() {
	Run("Grids", "1", func(match *referee.Match) Bot { return &grids{} })
}
