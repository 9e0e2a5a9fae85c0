// Answers each position with the results of the kit's functions for AIBG 5, like hexgrid.py.
package main

import (
	"fmt"
	"strings"

	referee "github.com/OWNER/referee/starter_kits/go"
	"github.com/OWNER/referee/starter_kits/go/aibg5"
	. "github.com/OWNER/referee/starter_kits/go/hexgrid"
)

type hexes struct{ aibg5.Base }

func (b *hexes) DoAction(playerIdx int, state aibg5.GameState, message *string) aibg5.Action {
	board, me := NewBoard(&state), state.Player1
	here, there, steps := CellOf(me), Cell{me.Kills, me.Deaths}, me.Level
	found := "-"
	if hit, legal := board.Hit(here, there); legal {
		found = listed(hit)
	}
	says := []string{
		fmt.Sprint(Distance(here, there)),
		flag(IsOnBoard(here)) + flag(IsOnBoard(there)),
		listed(Neighbours(here)...),
		listed(Within(here, steps)...),
		listed(Ring(steps)...),
		listed(LineOfFire(here, there)...),
		flag(board.MayEnter(there)) + flag(board.IsTarget(there)),
		found,
		listed(board.Targets(here)...),
	}
	return aibg5.Action{Action: strings.Join(says, ";")}
}

func flag(value bool) string {
	if value {
		return "yes "
	}
	return "no "
}

func listed(cells ...Cell) string {
	texts := []string{}
	for _, cell := range cells {
		texts = append(texts, fmt.Sprintf("%d,%d", cell.Q, cell.R))
	}
	return strings.Join(texts, " ")
}

func main() {
	aibg5.Run("Hexes", "1", func(match *referee.Match) aibg5.Bot { return &hexes{} })
}
