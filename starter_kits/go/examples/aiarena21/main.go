// Picker walks to the fruit that brings most points a turn, the way included; between equals, and where no fruit lies,
// to the heat of what comes next. It buys a bike when it collects more than it costs, and bids what lies on the cell.
package main

import (
	"cmp"

	"referee.internal/referee"
	. "referee.internal/referee/aiarena21"
)

type picker struct{ grid *Grid }

func (p *picker) PlayPowerup(
	gameMap Map, me, opponent Player, items [][]int, newItems [][][]string, heatmap [][]float64, remainingTurns int,
) string {
	if me.Bike || me.Score < BIKE_COST {
		return ""
	}
	grid, turns := p.walkable(gameMap), min(BIKE_TURNS, remainingTurns)
	harvest := func(stepsATurn int) float64 {
		return newPlan(grid, items, heatmap).harvest(me.Location, turns, stepsATurn)
	}
	if harvest(BIKE_STEPS)-harvest(1) > BIKE_COST {
		return BIKE
	}
	return ""
}

func (p *picker) PlayTurn(
	gameMap Map, me, opponent Player, items [][]int, newItems [][][]string, heatmap [][]float64, remainingTurns int,
) string {
	grid, speed := p.walkable(gameMap), Speed(me)
	target, found := newPlan(grid, items, heatmap).target(me.Location, speed)
	if !found {
		target, found = newPlan(grid, heatmap, heatmap).target(me.Location, speed)
	}
	if !found {
		target = me.Location
	}
	path := grid.Path(me.Location, target)
	return Name(path[min(speed, len(path)-1)])
}

// PlayAuction bids what lies here, and one more for the place: the winner pays half of both bids.
func (p *picker) PlayAuction(
	gameMap Map, me, opponent Player, items [][]int, newItems [][][]string, heatmap [][]float64, remainingTurns int,
) int {
	return min(me.Score, items[me.Location.Row][me.Location.Col]+1)
}

// PlayTransport names the cell that is the longest walk from any fruit; where none lies, from us.
func (p *picker) PlayTransport(
	gameMap Map, me, opponent Player, items [][]int, newItems [][][]string, heatmap [][]float64, remainingTurns int,
) string {
	grid, fruit := p.walkable(gameMap), []Location{}
	for _, cell := range grid.Free {
		if items[cell.Row][cell.Col] > 0 {
			fruit = append(fruit, cell)
		}
	}
	if len(fruit) == 0 {
		fruit = []Location{me.Location}
	}
	steps, farthest := grid.Distances(fruit...), grid.Free[0]
	for _, cell := range grid.Free {
		if steps[cell.Row][cell.Col] > steps[farthest.Row][farthest.Col] {
			farthest = cell
		}
	}
	return Name(farthest)
}

func (p *picker) walkable(gameMap Map) *Grid {
	if p.grid == nil {
		p.grid = NewGrid(gameMap)
	}
	return p.grid
}

// A plan tells where to go on a board on which worth lies: a table of points, or of heat.
type plan struct {
	grid        *Grid
	worth, heat [][]float64
}

func newPlan[T int | float64](grid *Grid, worth [][]T, heat [][]float64) *plan {
	own := make([][]float64, len(worth)) // harvest takes from it
	for row, cells := range worth {
		for _, value := range cells {
			own[row] = append(own[row], float64(value))
		}
	}
	return &plan{grid, own, heat}
}

// target is the cell that brings most a turn; then the hotter, the nearer, the first one. Not found: none is in reach.
func (p *plan) target(start Location, stepsATurn int) (best Location, found bool) {
	table := p.grid.Distances(start)
	var mostRate, mostHeat float64
	leastSteps := FAR
	for _, cell := range p.grid.Free {
		worth, heat, steps := p.worth[cell.Row][cell.Col], p.heat[cell.Row][cell.Col], table[cell.Row][cell.Col]
		if worth == 0 || steps == FAR {
			continue
		}
		rate := worth / float64(turnsFor(steps, stepsATurn))
		order := cmp.Or(cmp.Compare(rate, mostRate), cmp.Compare(heat, mostHeat), cmp.Compare(leastSteps, steps))
		if !found || order > 0 {
			best, found, mostRate, mostHeat, leastSteps = cell, true, rate, heat, steps
		}
	}
	return best, found
}

// harvest is what going from target to target brings in so many turns; of one that is too far, the part of the way.
// What was harvested is gone from the plan.
func (p *plan) harvest(start Location, turns, stepsATurn int) (brought float64) {
	for turns > 0 {
		target, found := p.target(start, stepsATurn)
		if !found {
			break
		}
		needed := turnsFor(p.grid.Distances(start)[target.Row][target.Col], stepsATurn)
		brought += p.worth[target.Row][target.Col] * float64(min(turns, needed)) / float64(needed)
		p.worth[target.Row][target.Col] = 0
		start, turns = target, turns-needed
	}
	return brought
}

// turnsFor tells how long the way takes; to stay takes a turn too.
func turnsFor(steps, stepsATurn int) int { return max(1, (steps+stepsATurn-1)/stepsATurn) }

func main() {
	Run("Picker (Go)", "1", func(match *referee.Match) Bot { return &picker{} })
}
