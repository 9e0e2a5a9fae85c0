// Forager: two workers carry food home by the quickest way, the queen waits next to the anthill, and soldiers are built
// when enemies come near.
//
// It keeps nothing between calls. Each GetMove looks at the state afresh and gives one order to one ant that has not
// moved yet; when there is nothing left to order, the turn ends.
package main

import (
	"cmp"
	"slices"

	"referee.internal/referee"
	. "referee.internal/referee/reantics"
)

var ( // by type of ant
	moves  = [...]int{2, 2, 3, 2, 1}
	reach  = [...]int{1, 0, 1, 1, 3}
	cost   = [...]int{0, 1, 2, 2, 2}
	attack = [...]int{4, 0, 2, 4, 3}
)

const (
	workers = 2
	near    = 5 // an enemy is near when its y is at most this: our side and the middle
	frail   = 4 // a queen with so little health left runs away
)

func abs(number int) int { return max(number, -number) }

func distance(a, b Coord) int { return abs(a.X-b.X) + abs(a.Y-b.Y) }

func onBoard(tile Coord) bool {
	return tile.X >= 0 && tile.X < BOARD_LENGTH && tile.Y >= 0 && tile.Y < BOARD_LENGTH
}

func isFighter(ant Ant) bool { return ant.Type != QUEEN && ant.Type != WORKER }

// number is 1 for true, so that truths can be ranked.
func number(truth bool) int {
	if truth {
		return 1
	}
	return 0
}

// best is the tile with the least rank, the first of equals. There is at least one tile.
func best(tiles []Coord, rank func(Coord) []int) Coord {
	return slices.MinFunc(tiles, func(a, b Coord) int { return slices.Compare(rank(a), rank(b)) })
}

// Tiles are columns of something.
type tiles[T any] [BOARD_LENGTH][BOARD_LENGTH]T

func (t *tiles[T]) at(tile Coord) *T { return &t[tile.X][tile.Y] }

// board is the state, laid out by tile.
type board struct {
	mine, theirs Inventory
	constr       tiles[int] // the construction's type, 0 = none
	ants         tiles[bool]
}

func newBoard(state GameState) *board {
	b := &board{mine: state.Inventories[state.WhoseTurn], theirs: state.Inventories[1-state.WhoseTurn]}
	for _, inventory := range state.Inventories {
		for _, constr := range inventory.Constrs {
			*b.constr.at(constr.Coords) = constr.Type
		}
		for _, ant := range inventory.Ants {
			*b.ants.at(ant.Coords) = true
		}
	}
	return b
}

func (b *board) isGrass(tile Coord) bool { return *b.constr.at(tile) == GRASS }

func find(constrs []Construction, types ...int) []Coord {
	found := []Coord{}
	for _, constr := range constrs {
		if slices.Contains(types, constr.Type) {
			found = append(found, constr.Coords)
		}
	}
	return found
}

func (b *board) nearEnemies() []Coord {
	found := []Coord{}
	for _, enemy := range b.theirs.Ants {
		if enemy.Coords.Y <= near {
			found = append(found, enemy.Coords)
		}
	}
	return found
}

// arrival is when an ant can be somewhere: after how many more ENDs, and how many of its moves it has then spent.
type arrival struct{ turns, spent int }

var never = arrival{1000, 0}

func (a arrival) compare(b arrival) int { return cmp.Or(a.turns-b.turns, a.spent-b.spent) }

func (a arrival) rank() []int { return []int{a.turns, a.spent} }

// ways are the quickest ways of one kind of ant from one tile to all others. A tile with an ant on it can be entered a
// turn later at the earliest, so the part of a way that is walked in this turn is always free.
type ways struct {
	board    *board
	from     Coord
	kind     int
	arrivals tiles[arrival]
	before   tiles[Coord]
}

// visit is a tile that has been reached, and when.
type visit struct {
	when arrival
	tile Coord
}

func (v visit) compare(w visit) int {
	return cmp.Or(v.when.compare(w.when), v.tile.X-w.tile.X, v.tile.Y-w.tile.Y)
}

func newWays(b *board, from Coord, kind int) *ways {
	w := &ways{board: b, from: from, kind: kind}
	for x := range w.arrivals {
		for y := range w.arrivals[x] {
			w.arrivals[x][y] = never
		}
	}
	*w.arrivals.at(from), *w.before.at(from) = arrival{}, from
	open := []visit{{arrival{}, from}} // in the order of their times
	for len(open) > 0 {
		now := open[0]
		open = open[1:]
		if w.when(now.tile).compare(now.when) < 0 {
			continue // a quicker way was found meanwhile
		}
		x, y := now.tile.X, now.tile.Y
		for _, next := range []Coord{{X: x - 1, Y: y}, {X: x + 1, Y: y}, {X: x, Y: y - 1}, {X: x, Y: y + 1}} {
			if !w.mayEnter(next) {
				continue
			}
			then := visit{w.enter(next, now.when), next}
			if then.when.compare(w.when(next)) < 0 {
				*w.arrivals.at(next), *w.before.at(next) = then.when, now.tile
				place, _ := slices.BinarySearchFunc(open, then, visit.compare)
				open = slices.Insert(open, place, then)
			}
		}
	}
	return w
}

func (w *ways) when(tile Coord) arrival { return *w.arrivals.at(tile) }

func (w *ways) mayEnter(tile Coord) bool {
	return onBoard(tile) && !(w.kind == QUEEN && (tile.Y == 4 || tile.Y == 5))
}

func (w *ways) enter(tile Coord, before arrival) arrival {
	step := 1
	if w.board.isGrass(tile) && w.kind != DRONE && w.kind != R_SOLDIER {
		step = 2
	}
	switch {
	case *w.board.ants.at(tile):
		return arrival{before.turns + 1, step}
	case before.spent+step <= moves[w.kind]:
		return arrival{before.turns, before.spent + step}
	}
	return arrival{before.turns + 1, min(step, moves[w.kind])}
}

// now gives all tiles where the ant can be in this turn, its own first.
func (w *ways) now() []Coord {
	found := []Coord{w.from}
	for x := range BOARD_LENGTH {
		for y := range BOARD_LENGTH {
			if tile := (Coord{X: x, Y: y}); tile != w.from && w.when(tile).turns == 0 {
				found = append(found, tile)
			}
		}
	}
	return found
}

// path is this turn's part of the way to a tile, the ant's own tile first.
func (w *ways) path(to Coord) []Coord {
	path := []Coord{}
	if w.when(to) != never {
		for tile := to; tile != w.from; tile = *w.before.at(tile) {
			if w.when(tile).turns == 0 {
				path = append(path, tile)
			}
		}
	}
	path = append(path, w.from)
	slices.Reverse(path)
	return path
}

// walk goes to a tile; nil when the ant would stay where it is.
func (w *ways) walk(to Coord) *Move {
	path := w.path(to)
	if len(path) == 1 {
		return nil
	}
	return &Move{MoveType: MOVE_ANT, CoordList: path}
}

// nearest is the tile that is reached first.
func (w *ways) nearest(tiles []Coord) Coord {
	return best(tiles, func(tile Coord) []int { return w.when(tile).rank() })
}

// attackNow is a move that attacks one of the targets in this turn: from the tile that is quickest to reach.
func (w *ways) attackNow(targets []Coord) *Move {
	stands := slices.DeleteFunc(w.now(), func(tile Coord) bool {
		inReach := func(target Coord) bool { return distance(tile, target) <= reach[w.kind] }
		return !slices.ContainsFunc(targets, inReach)
	})
	if len(stands) == 0 {
		return nil
	}
	return &Move{MoveType: MOVE_ANT, CoordList: w.path(w.nearest(stands))}
}

// work: a worker goes for food, or home with it, to whichever is reached first.
func work(b *board, worker Ant, foods []Coord) *Move {
	goals := foods
	if worker.Carrying {
		goals = find(b.mine.Constrs, ANTHILL, TUNNEL)
	}
	if len(goals) == 0 {
		return nil
	}
	w := newWays(b, worker.Coords, WORKER)
	return w.walk(w.nearest(goals))
}

// stepAside: two workers that got no work and block each other; the first steps aside.
func stepAside(b *board) *Move {
	waiting := []Ant{}
	for _, ant := range b.mine.Ants {
		if ant.Type == WORKER && !ant.HasMoved {
			waiting = append(waiting, ant)
		}
	}
	if len(waiting) < 2 {
		return nil
	}
	from := waiting[0].Coords
	w := newWays(b, from, WORKER)
	return w.walk(best(w.now(), func(tile Coord) []int {
		return append([]int{number(tile == from)}, w.when(tile).rank()...)
	}))
}

// fight: a fighter attacks whom it can, else walks towards the enemy that it reaches first, else leaves the tiles that
// the workers need.
func fight(b *board, fighter Ant, enemies []Coord) *Move {
	w := newWays(b, fighter.Coords, fighter.Type)
	if move := w.attackNow(enemies); move != nil {
		return move
	}
	if len(enemies) > 0 {
		return w.walk(w.nearest(enemies))
	}
	if *b.constr.at(fighter.Coords) == 0 && fighter.Coords.Y >= 3 {
		return nil
	}
	posts := []Coord{}
	for x := range BOARD_LENGTH {
		for y := 3; y <= 4; y++ {
			if *b.constr.at(Coord{X: x, Y: y}) == 0 {
				posts = append(posts, Coord{X: x, Y: y})
			}
		}
	}
	if len(posts) == 0 {
		return nil
	}
	return w.walk(w.nearest(posts))
}

// rule: the queen strikes at who comes near, runs when she is frail, and otherwise keeps off the tiles that others need.
func rule(b *board, queen Ant, enemies []Coord) *Move {
	w := newWays(b, queen.Coords, QUEEN)
	if queen.Health > frail || len(w.now()) == 1 {
		if move := w.attackNow(enemies); move != nil {
			return move
		}
	}
	danger := func(tile Coord) (sum int) {
		for _, enemy := range b.theirs.Ants {
			if isFighter(enemy) && queen.Health <= frail {
				sum += max(0, 8-distance(tile, enemy.Coords))
			}
		}
		return sum
	}
	return w.walk(best(w.now(), func(tile Coord) []int {
		inTheWay := *b.constr.at(tile) != 0 && !b.isGrass(tile)
		return []int{number(inTheWay), danger(tile), tile.Y}
	}))
}

// wanted returns what the anthill should make now: soldiers against enemies that are near, else the second worker.
func wanted(b *board, enemies int) (kind int, any bool) {
	working, fighting := 0, 0
	for _, ant := range b.mine.Ants {
		working += number(ant.Type == WORKER)
		fighting += number(isFighter(ant))
	}
	switch {
	case working == 0:
		return WORKER, true
	case fighting < enemies:
		return SOLDIER, true
	case working < workers:
		return WORKER, true
	}
	return 0, false
}

type forager struct{ Base }

// GetPlacement puts anthill and tunnel so that no tile of our side is far from both; the grass lies where food would be
// farthest.
func (f *forager) GetPlacement(currentState GameState) []Coord {
	if currentState.Phase == SETUP_PHASE_1 {
		return []Coord{
			{X: 2, Y: 1}, {X: 7, Y: 1},
			{X: 0, Y: 3}, {X: 4, Y: 3}, {X: 5, Y: 3}, {X: 9, Y: 3}, {X: 0, Y: 0}, {X: 9, Y: 0}, {X: 4, Y: 0}, {X: 5, Y: 0},
			{X: 1, Y: 3},
		}
	}
	return farFromHome(currentState)
}

func (f *forager) GetMove(currentState GameState) Move {
	b := newBoard(currentState)
	enemies := b.nearEnemies()
	foods := find(currentState.Inventories[2].Constrs, FOOD)
	for _, ant := range b.mine.Ants {
		if ant.HasMoved {
			continue
		}
		var move *Move
		switch ant.Type {
		case QUEEN:
			move = rule(b, ant, enemies)
		case WORKER:
			move = work(b, ant, foods)
		default:
			move = fight(b, ant, enemies)
		}
		if move != nil {
			return *move
		}
	}
	if move := stepAside(b); move != nil {
		return *move
	}
	hill := find(b.mine.Constrs, ANTHILL)[0]
	if kind, any := wanted(b, len(enemies)); any && !*b.ants.at(hill) && b.mine.FoodCount >= cost[kind] {
		return Move{MoveType: BUILD, CoordList: []Coord{hill}, BuildType: &kind}
	}
	return Move{MoveType: END}
}

// GetAttack: an ant that one blow kills, then one on our buildings, then the weakest.
func (f *forager) GetAttack(currentState GameState, attackingAnt Ant, enemyLocations []Coord) Coord {
	b := newBoard(currentState)
	return best(enemyLocations, func(tile Coord) []int {
		enemy := b.theirs.Ants[slices.IndexFunc(b.theirs.Ants, func(ant Ant) bool { return ant.Coords == tile })]
		survives := enemy.Health > attack[attackingAnt.Type]
		harmless := *b.constr.at(tile) != ANTHILL
		return []int{number(enemy.Type != QUEEN), number(survives), number(harmless), enemy.Health}
	})
}

// farFromHome gives the two free tiles of the enemy's side that are the longest way from its anthill and its tunnel.
func farFromHome(state GameState) []Coord {
	b := newBoard(state)
	homes := []*ways{}
	for _, home := range find(b.theirs.Constrs, ANTHILL, TUNNEL) {
		homes = append(homes, newWays(b, home, WORKER))
	}
	free := []visit{}
	for x := range BOARD_LENGTH {
		for y := 6; y < BOARD_LENGTH; y++ {
			tile := Coord{X: x, Y: y}
			if *b.constr.at(tile) != 0 {
				continue
			}
			nearest := never
			for _, home := range homes {
				if home.when(tile).compare(nearest) < 0 {
					nearest = home.when(tile)
				}
			}
			free = append(free, visit{nearest, tile})
		}
	}
	slices.SortStableFunc(free, func(v, w visit) int { return w.when.compare(v.when) })
	return []Coord{free[0].tile, free[1].tile}
}

func main() {
	Run("Forager (Go)", "1", func(match *referee.Match) Bot { return &forager{} })
}
