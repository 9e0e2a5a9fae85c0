// A perfect player: keeps its own board from the events, looks ahead to the end of the game, and flips the table when,
// and only when, the rival's move was invalid or out of turn.
package main

import (
	"slices"

	"referee.internal/referee"
	"referee.internal/referee/tictactoe"
)

var lines = [...][3]int{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}}

// Nine cells in the order of CELLS: 0 empty, 1 mine, -1 the rival's.
type board [9]int

func (b *board) hasLine(side int) bool {
	return slices.ContainsFunc(lines[:], func(line [3]int) bool {
		return b[line[0]] == side && b[line[1]] == side && b[line[2]] == side
	})
}

// solve tells how the game ends for the side that is to move when both play well, and the cell that leads there: above
// 0 a win, the sooner the higher; below 0 a loss.
func (b *board) solve(side int) (value, best int) {
	empty := 0
	for _, owner := range b {
		if owner == 0 {
			empty++
		}
	}
	if b.hasLine(-side) {
		return -1 - empty, 0
	}
	if empty == 0 {
		return 0, 0
	}
	value = -100
	for cell := range b {
		if b[cell] != 0 {
			continue
		}
		b[cell] = side
		reply, _ := b.solve(-side)
		b[cell] = 0
		if -reply > value {
			value, best = -reply, cell
		}
	}
	return value, best
}

type perfect struct {
	me, toMove      string
	board           board
	rivalWasInvalid bool
}

func (p *perfect) Play(id string) tictactoe.Action {
	if p.rivalWasInvalid {
		return tictactoe.Action{Action: tictactoe.FLIP}
	}
	_, cell := p.board.solve(1)
	return tictactoe.Action{Action: "putSymbol", Position: &tictactoe.CELLS[cell]}
}

// Event: the player decides what kind of event it is. An invalid answer is shown with all its members, and one of them
// may well be called winner.
func (p *perfect) Event(event tictactoe.ArenaEvent) {
	if event.Player == nil {
		if event.YouAre != nil {
			p.me = *event.YouAre
		}
		return
	}
	player, side := *event.Player, -1
	if player == p.me {
		side = 1
	}
	cell, isLegal := p.emptyCell(event)
	isLegal = isLegal && player == p.toMove
	if isLegal {
		p.board[cell] = side
		p.toMove = map[string]string{"O": "X", "X": "O"}[player]
	}
	if side == -1 {
		p.rivalWasInvalid = !isLegal
	}
}

// emptyCell is the cell that a legal move fills; there is none for every other answer.
func (p *perfect) emptyCell(event tictactoe.ArenaEvent) (cell int, isEmpty bool) {
	name, _ := event.Position.(string)
	cell = slices.Index(tictactoe.CELLS[:], name)
	return cell, event.Action == "putSymbol" && cell >= 0 && p.board[cell] == 0
}

func main() {
	tictactoe.Run("Perfect (Go)", "1", func(match *referee.Match) tictactoe.Bot { return &perfect{toMove: "O"} })
}
