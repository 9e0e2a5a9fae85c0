// Mason steps along its shortest way, puts a wall where it is behind and that gains more than a step, and flips the
// table when, and only when, the rival's answer was invalid.
package main

import (
	"slices"

	"referee.internal/referee"
	"referee.internal/referee/quoridor"
)

const (
	up, right, down, left = 9, 1, -9, -1 // what a step adds to a square
	nowhere               = -1
	shutIn                = 1000 // more steps than any way has
)

var steps = [...]int{up, right, down, left}

// squareOf is 0 for a1, 1 for b1, 9 for a2; what names no square is nowhere.
func squareOf(name string) int {
	if len(name) != 2 || name[0] < 'a' || name[0] > 'i' || name[1] < '1' || name[1] > '9' {
		return nowhere
	}
	return 9*int(name[1]-'1') + int(name[0]-'a')
}

func nameOf(square int) string {
	return string([]byte{'a' + byte(square%9), '1' + byte(square/9)})
}

// A wall's square is the one to the lower left of its middle, its direction h or v.
type wall struct {
	square    int
	direction string
}

var allWalls = func() (walls []wall) {
	for square := range 72 {
		if square%9 < 8 {
			walls = append(walls, wall{square, "h"}, wall{square, "v"})
		}
	}
	return walls
}()

// The board has pawns and walls. A player is a seat: 0 is first, 1 is second.
type board struct {
	opensUp, opensRight [81]bool // whether the step up, or right, from a square is open
	middles             [81]bool // whether a wall has its middle at the square's upper right corner
	pawns               [2]int
	wallsLeft           [2]int
}

func newBoard() *board {
	b := &board{pawns: [2]int{4, 76}, wallsLeft: [2]int{quoridor.WALLS_EACH, quoridor.WALLS_EACH}} // e1 and e9
	for square := range 81 {
		b.opensUp[square] = square < 72
		b.opensRight[square] = square%9 < 8
	}
	return b
}

// beside is the square one step on; nowhere behind a wall or the edge.
func (b *board) beside(square, step int) int {
	opens := &b.opensRight
	if step == up || step == down {
		opens = &b.opensUp
	}
	if lower := min(square, square+step); lower >= 0 && opens[lower] {
		return square + step
	}
	return nowhere
}

// targets are the squares that the pawn may move to.
func (b *board) targets(player int) []int {
	own, rival := b.pawns[player], b.pawns[1-player]
	found := []int{}
	for _, step := range steps {
		target := b.beside(own, step)
		if target == rival {
			target = b.beside(rival, step) // the jump
			if target == nowhere {         // to the sides then
				aside := up
				if step == up || step == down {
					aside = right
				}
				found = append(found, b.beside(rival, aside), b.beside(rival, -aside))
			}
		}
		found = append(found, target)
	}
	return slices.DeleteFunc(found, func(target int) bool { return target == nowhere })
}

// ways tells how many steps it is from each square to the player's goal row; pawns are in nobody's way.
func (b *board) ways(player int) (ways [81]int) {
	for square := range ways {
		ways[square] = shutIn
	}
	queue := make([]int, 0, 81)
	for column := range 9 {
		goal := column
		if player == 0 {
			goal += 72
		}
		ways[goal] = 0
		queue = append(queue, goal)
	}
	for next := 0; next < len(queue); next++ {
		for _, step := range steps {
			target := b.beside(queue[next], step)
			if target != nowhere && ways[target] == shutIn {
				ways[target] = ways[queue[next]] + 1
				queue = append(queue, target)
			}
		}
	}
	return ways
}

func (b *board) way(player int) int { return b.ways(player)[b.pawns[player]] }

// fits tells whether a wall overlaps and crosses no other. A wall that overlaps it blocks one of its two steps.
func (b *board) fits(w wall) bool {
	open := b.opensRight[w.square] && b.opensRight[w.square+up]
	if w.direction == "h" {
		open = b.opensUp[w.square] && b.opensUp[w.square+right]
	}
	return open && !b.middles[w.square]
}

// waysBehind gives both players' ways if this wall stood, which fits.
func (b *board) waysBehind(w wall) [2]int {
	b.put(w, true)
	ways := [2]int{b.way(0), b.way(1)}
	b.put(w, false)
	return ways
}

// put puts a wall that fits, or takes it away again.
func (b *board) put(w wall, stands bool) {
	if w.direction == "h" {
		b.opensUp[w.square], b.opensUp[w.square+right] = !stands, !stands
	} else {
		b.opensRight[w.square], b.opensRight[w.square+up] = !stands, !stands
	}
	b.middles[w.square] = stands
}

// apply makes a legal move; false for anything else.
func (b *board) apply(player int, action, position any) bool {
	name, _ := position.(string)
	if len(name) < 2 || squareOf(name[:2]) == nowhere {
		return false
	}
	square, direction := squareOf(name[:2]), name[2:]
	switch {
	case action == "move" && direction == "":
		if !slices.Contains(b.targets(player), square) {
			return false
		}
		b.pawns[player] = square
		return true
	case action == "putWall" && (direction == "h" || direction == "v"):
		w := wall{square, direction}
		if square >= 72 || square%9 == 8 || b.wallsLeft[player] == 0 || !b.fits(w) {
			return false
		}
		if ways := b.waysBehind(w); ways[0] == shutIn || ways[1] == shutIn {
			return false
		}
		b.put(w, true)
		b.wallsLeft[player]--
		return true
	}
	return false
}

type mason struct {
	me, toMove      int
	board           *board
	rivalWasInvalid bool
}

func (m *mason) Play(id string) quoridor.Action {
	if m.rivalWasInvalid {
		return quoridor.Action{Action: quoridor.FLIP}
	}
	ways := m.board.ways(m.me)
	target := slices.MinFunc(m.board.targets(m.me), func(one, two int) int { return ways[one] - ways[two] })
	if ways[target] > 0 {
		if w, found := m.bestWall(); found {
			return quoridor.Action{Action: "putWall", Position: referee.Some(nameOf(w.square) + w.direction)}
		}
	}
	return quoridor.Action{Action: "move", Position: referee.Some(nameOf(target))}
}

func (m *mason) Event(event quoridor.ArenaEvent) {
	if event.Player == nil {
		if event.YouAre != nil {
			m.me = playerOf(*event.YouAre)
		}
		return
	}
	player := playerOf(*event.Player)
	if player == m.toMove && m.board.apply(player, event.Action, event.Position) {
		m.toMove = 1 - player
	} else if player != m.me {
		m.rivalWasInvalid = true // a flip too: had it been right, nobody would ask us again
	}
}

func playerOf(side string) int {
	if side == "second" {
		return 1
	}
	return 0
}

// bestWall is the wall that lengthens the rival's way most, beside our own. None: ours is shorter, or a step is as good.
func (m *mason) bestWall() (best wall, found bool) {
	own, rival := m.board.way(m.me), m.board.way(1-m.me)
	if rival > own || m.board.wallsLeft[m.me] == 0 {
		return best, false
	}
	most := 1 // what a step gains
	if rival == 1 {
		most = 0 // a rival who is about to win must be held up
	}
	for _, w := range allWalls {
		if !m.board.fits(w) {
			continue
		}
		ways := m.board.waysBehind(w)
		if ways[0] == shutIn || ways[1] == shutIn {
			continue
		}
		if gain := ways[1-m.me] - rival - (ways[m.me] - own); gain > most {
			best, found, most = w, true, gain
		}
	}
	return best, found
}

func main() {
	quoridor.Run("Mason (Go)", "1", func(match *referee.Match) quoridor.Bot { return &mason{board: newBoard()} })
}
