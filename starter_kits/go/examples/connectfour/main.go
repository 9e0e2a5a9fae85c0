// Looks six plies ahead on a board that it keeps from the events, and flips the table when, and only when, the rival's
// move was invalid or out of turn.
package main

import (
	"slices"

	"referee.internal/referee"
	"referee.internal/referee/connectfour"
)

const (
	depth  = 6
	stride = connectfour.ROWS + 1
)

// The columns from the middle outwards.
var order = [...]int{3, 2, 4, 1, 5, 0, 6}

// A set of cells: seven bits a column from its lowest cell on, the seventh always 0. So two cells that are neighbours in
// a direction are the same number of bits apart everywhere, and no line runs over the edge.
type cells uint64

// landing is the lowest free cell of a column; none if it is full.
func landing(taken cells, column int) cells {
	lowest := cells(1) << (stride * column)
	return (taken + lowest) & (lowest<<connectfour.ROWS - lowest)
}

func (tokens cells) haveFour() bool {
	for _, step := range [...]int{1, stride - 1, stride, stride + 1} {
		pairs := tokens & (tokens >> step)
		if pairs&(pairs>>(2*step)) != 0 {
			return true
		}
	}
	return false
}

// solve tells what the owner of own, who is to move, can reach within so many plies, and the column that leads there:
// above 0 a win, the sooner the higher; below 0 a loss. Only what lies between low and high matters.
func solve(own, rival cells, plies, low, high int) (value, best int) {
	value = -depth - 1
	if plies == 0 {
		return 0, 0
	}
	for _, column := range order {
		cell := landing(own|rival, column)
		if cell == 0 {
			continue
		}
		reply := plies
		if !(own | cell).haveFour() {
			theirs, _ := solve(rival, own|cell, plies-1, -high, -max(low, value))
			reply = -theirs
		}
		if reply > value {
			value, best = reply, column
		}
		if value >= high {
			break
		}
	}
	if value < -depth { // a full board
		value = 0
	}
	return value, best
}

type dropper struct {
	me, toMove      string
	mine, theirs    cells
	rivalWasInvalid bool
}

func (d *dropper) Play(id string) connectfour.Action {
	if d.rivalWasInvalid {
		return connectfour.Action{Action: connectfour.FLIP}
	}
	_, column := solve(d.mine, d.theirs, depth, -depth, depth)
	return connectfour.Action{Action: "putToken", Column: &connectfour.COLUMNS[column]}
}

// Event: the player decides what kind of event it is. An invalid answer is shown with all its members, and one of them
// may well be called winner.
func (d *dropper) Event(event connectfour.ArenaEvent) {
	if event.Player == nil {
		if event.YouAre != nil {
			d.me = *event.YouAre
		}
		return
	}
	player, cell := *event.Player, cells(0)
	if player == d.toMove {
		cell = d.filled(event)
	}
	if cell != 0 {
		d.toMove = map[string]string{connectfour.RED: connectfour.YELLOW, connectfour.YELLOW: connectfour.RED}[player]
	}
	if player == d.me {
		d.mine |= cell
	} else {
		d.theirs |= cell
		d.rivalWasInvalid = cell == 0
	}
}

// filled is the cell that a legal move fills; none for every other answer.
func (d *dropper) filled(event connectfour.ArenaEvent) cells {
	name, _ := event.Column.(string)
	column := slices.Index(connectfour.COLUMNS[:], name)
	if event.Action != "putToken" || column < 0 {
		return 0
	}
	return landing(d.mine|d.theirs, column)
}

func main() {
	connectfour.Run("Dropper (Go)", "1", func(match *referee.Match) connectfour.Bot {
		return &dropper{toMove: connectfour.RED}
	})
}
