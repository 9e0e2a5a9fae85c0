// Package hexgrid is the board of AIBG 5 to walk and to shoot on: distances, neighbours, rings, lines of fire, and what
// stands where.
//
// A cell is (q, r). r is the row and grows downwards, q grows to the right along a row; the third coordinate of a
// hexagon is -q-r. The board holds the cells at most Radius from the centre, (0, 0).
package hexgrid

import (
	"fmt"

	"github.com/OWNER/referee/starter_kits/go/aibg5"
)

// Cell is a place, or the way from one to another. It can be the key of a map.
type Cell struct{ Q, R int }

// Plus returns the cell at the end of a way.
func (c Cell) Plus(way Cell) Cell { return Cell{c.Q + way.Q, c.R + way.R} }

// Centre is the middle of the board.
var Centre = Cell{}

// Directions are east, south-east, south-west, west, north-west, north-east.
var Directions = [...]Cell{{1, 0}, {0, 1}, {-1, 1}, {-1, 0}, {0, -1}, {1, -1}}

// Cells are all cells, row by row.
var Cells = Within(Centre, aibg5.Radius)

// CellOf returns the cell of a player.
func CellOf(player *aibg5.Player) Cell { return Cell{player.Q, player.R} }

func abs(number int) int { return max(number, -number) }

// Distance counts the steps from one cell to the other; from Centre, the cell's ring.
func Distance(one, other Cell) int {
	dq, dr := other.Q-one.Q, other.R-one.R
	return max(abs(dq), abs(dr), abs(dq+dr))
}

// IsOnBoard reports whether a cell is on the board.
func IsOnBoard(cell Cell) bool { return Distance(Centre, cell) <= aibg5.Radius }

// Within returns the cells of the board at most steps from middle, row by row.
func Within(middle Cell, steps int) (cells []Cell) {
	for r := middle.R - steps; r <= middle.R+steps; r++ {
		for q := middle.Q - steps; q <= middle.Q+steps; q++ {
			if cell := (Cell{q, r}); IsOnBoard(cell) && Distance(middle, cell) <= steps {
				cells = append(cells, cell)
			}
		}
	}
	return cells
}

// Neighbours returns the neighbouring cells on the board, in the order of Directions.
func Neighbours(cell Cell) (beside []Cell) {
	for _, way := range Directions {
		if next := cell.Plus(way); IsOnBoard(next) {
			beside = append(beside, next)
		}
	}
	return beside
}

// Ring returns the cells of a ring around the centre, clockwise from (0, -radius).
func Ring(radius int) (cells []Cell) {
	if radius == 0 {
		return []Cell{Centre}
	}
	cell := Cell{0, -radius}
	for _, way := range Directions {
		for range radius {
			cells = append(cells, cell)
			cell = cell.Plus(way)
		}
	}
	return cells
}

// LineOfFire returns the cells strictly between two others, nearest first.
func LineOfFire(shooter, target Cell) (line []Cell) {
	steps := Distance(shooter, target)
	for i := 1; i < steps; i++ {
		line = append(line, shooter.Plus(rounded((target.Q-shooter.Q)*i, (target.R-shooter.R)*i, steps)))
	}
	return line
}

// rounded is the cell nearest to (q / steps, r / steps): halves go up, and the worst rounded coordinate is corrected.
func rounded(q, r, steps int) Cell {
	nearQ, nearR, nearS := quotient(q, steps), quotient(r, steps), quotient(-q-r, steps)
	errorQ, errorR, errorS := abs(nearQ*steps-q), abs(nearR*steps-r), abs(nearS*steps+q+r)
	switch {
	case errorQ > errorR && errorQ > errorS:
		return Cell{-nearR - nearS, nearR}
	case errorR > errorS:
		return Cell{nearQ, -nearQ - nearS}
	}
	return Cell{nearQ, nearR}
}

// quotient is part / steps as a whole number, halves upwards.
func quotient(part, steps int) int {
	whole, rest := (2*part+steps)/(2*steps), (2*part+steps)%(2*steps)
	if rest < 0 { // Go rounds towards 0
		whole--
	}
	return whole
}

// Move returns the answer that moves to a cell.
func Move(cell Cell) aibg5.Action {
	return aibg5.Action{Action: fmt.Sprintf("move,%d,%d", cell.Q, cell.R)}
}

// Attack returns the answer that attacks a cell.
func Attack(cell Cell) aibg5.Action {
	return aibg5.Action{Action: fmt.Sprintf("attack,%d,%d", cell.Q, cell.R)}
}

// Board holds the position that a call shows.
type Board struct {
	Players []*aibg5.Player // without the disqualified
	rows    [][]aibg5.Tile
}

// NewBoard returns the board of a state.
func NewBoard(state *aibg5.GameState) *Board {
	board := &Board{rows: state.Map.Tiles}
	for _, player := range []*aibg5.Player{state.Player1, state.Player2, state.Player3, state.Player4} {
		if player != nil {
			board.Players = append(board.Players, player)
		}
	}
	return board
}

// Player returns the player with this number, or nil if it is disqualified.
func (b *Board) Player(playerIdx int) *aibg5.Player {
	for _, player := range b.Players {
		if player.PlayerIdx == playerIdx {
			return player
		}
	}
	return nil
}

// PlayerOn returns the player on this cell, or nil.
func (b *Board) PlayerOn(cell Cell) *aibg5.Player {
	for _, player := range b.Players {
		if CellOf(player) == cell {
			return player
		}
	}
	return nil
}

// Tile returns the tile of a cell on the board.
func (b *Board) Tile(cell Cell) *aibg5.Tile {
	return &b.rows[cell.R+aibg5.Radius][cell.Q-max(-aibg5.Radius, -aibg5.Radius-cell.R)]
}

// Type returns the type of a tile's entity.
func (b *Board) Type(cell Cell) aibg5.EntityType { return b.Tile(cell).Entity.Type }

// MayEnter reports whether a cell is on the board with nothing in the way. It is false for a wormhole, whose exit may be
// blocked.
func (b *Board) MayEnter(cell Cell) bool {
	return IsOnBoard(cell) && b.Tile(cell).TileType == aibg5.Normal && b.Type(cell) != aibg5.EntityTypeWormhole && b.PlayerOn(cell) == nil
}

// IsTarget reports whether a player, an asteroid or the boss is on a cell of the board.
func (b *Board) IsTarget(cell Cell) bool {
	return IsOnBoard(cell) && (b.PlayerOn(cell) != nil || b.Type(cell) == aibg5.EntityTypeAsteroid || b.Type(cell) == aibg5.EntityTypeBoss)
}

// Hit returns the cell that an attack on target really hits, or false if the attack is not legal.
func (b *Board) Hit(shooter, target Cell) (Cell, bool) {
	steps := Distance(shooter, target)
	if !IsOnBoard(shooter) || steps == 0 || steps > aibg5.AttackRange || !b.IsTarget(target) {
		return Cell{}, false
	}
	for _, cell := range LineOfFire(shooter, target) {
		if b.IsTarget(cell) {
			return cell, true
		}
		if b.Type(cell) == aibg5.EntityTypeBlackhole || b.Type(cell) == aibg5.EntityTypeWormhole {
			return Cell{}, false
		}
	}
	return target, true
}

// Targets returns the cells that may be attacked, row by row.
func (b *Board) Targets(shooter Cell) (targets []Cell) {
	for _, cell := range Within(shooter, aibg5.AttackRange) {
		if _, legal := b.Hit(shooter, cell); legal {
			targets = append(targets, cell)
		}
	}
	return targets
}
