package aiarena21

import (
	"slices"
	"strconv"
)

// Far is the distance of a cell to which no path leads.
const Far = 1_000_000

// Grid is a map to walk on: free cells, distances, paths, and where a player may go. A table is a slice of rows:
// table[row][col], as items and heatmap are.
type Grid struct {
	Rows, Cols int
	Free       []Location // all free cells, row by row
	cells      []string
}

// NewGrid returns the grid of a match. The game_map is the same in every call.
func NewGrid(gameMap Map) *Grid {
	g := &Grid{Rows: gameMap.Rows, Cols: gameMap.Cols, cells: gameMap.Cells}
	for row := range g.Rows {
		for col := range g.Cols {
			if cell := (Location{row, col}); g.IsFree(cell) {
				g.Free = append(g.Free, cell)
			}
		}
	}
	return g
}

// IsFree reports whether a cell is on the map and not blocked.
func (g *Grid) IsFree(cell Location) bool {
	return 0 <= cell.Row && cell.Row < g.Rows && 0 <= cell.Col && cell.Col < g.Cols &&
		g.cells[cell.Row][cell.Col] != BlockChar[0]
}

// Neighbours returns the free cells above, to the left, to the right and below.
func (g *Grid) Neighbours(cell Location) []Location {
	found := make([]Location, 0, 4)
	for _, step := range [...]Location{{-1, 0}, {0, -1}, {0, 1}, {1, 0}} {
		if beside := (Location{cell.Row + step.Row, cell.Col + step.Col}); g.IsFree(beside) {
			found = append(found, beside)
		}
	}
	return found
}

// Distances returns a table with the number of steps from each cell to the nearest of starts, or Far. It ignores starts
// that are not free.
func (g *Grid) Distances(starts ...Location) [][]int {
	table := make([][]int, g.Rows)
	for row := range table {
		table[row] = slices.Repeat([]int{Far}, g.Cols)
	}
	queue := []Location{}
	for _, cell := range starts {
		if g.IsFree(cell) {
			table[cell.Row][cell.Col] = 0
			queue = append(queue, cell)
		}
	}
	for next := 0; next < len(queue); next++ {
		cell := queue[next]
		for _, beside := range g.Neighbours(cell) {
			if table[beside.Row][beside.Col] == Far {
				table[beside.Row][beside.Col] = table[cell.Row][cell.Col] + 1
				queue = append(queue, beside)
			}
		}
	}
	return table
}

// Path returns a shortest path with both ends, or nil if there is none.
func (g *Grid) Path(start, target Location) []Location {
	table := g.Distances(start)
	steps := func(cell Location) int { return table[cell.Row][cell.Col] }
	if !g.IsFree(target) || steps(target) == Far {
		return nil
	}
	path := []Location{target}
	for cell := target; cell != start; path = append(path, cell) {
		beside := g.Neighbours(cell)
		cell = beside[slices.IndexFunc(beside, func(other Location) bool { return steps(other) < steps(cell) })]
	}
	slices.Reverse(path)
	return path
}

// Reach returns the cells where PlayTurn may go, row by row, with the player's own.
func (g *Grid) Reach(player Player) []Location {
	if player.PortalGun {
		return g.Free
	}
	steps := g.Distances(player.Location)
	found := []Location{}
	for _, cell := range g.Free {
		if steps[cell.Row][cell.Col] <= Speed(player) {
			found = append(found, cell)
		}
	}
	return found
}

// Speed returns how many steps the player may take in a turn.
func Speed(player Player) int {
	if player.Bike {
		return BikeSteps
	}
	return 1
}

// String returns the cell as an answer: "row,col".
func (cell Location) String() string { return strconv.Itoa(cell.Row) + "," + strconv.Itoa(cell.Col) }
