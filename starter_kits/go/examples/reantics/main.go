// Forager: two workers carry food home by the quickest way, the queen waits next to the anthill, and soldiers are built
// when enemies come near.
//
// It keeps nothing between calls. Each Move looks at the state afresh and gives one order to one ant that has not
// moved yet; when there is nothing left to order, the turn ends.
package main

import (
	"cmp"
	"slices"

	referee "github.com/OWNER/referee/starter_kits/go"
	"github.com/OWNER/referee/starter_kits/go/reantics"
)

const (
	workers = 2
	near    = 5 // an enemy is near when its y is at most this: our side and the middle
	frail   = 4 // a queen with so little health left runs away
)

func isFighter(ant reantics.Ant) bool {
	return ant.Type != reantics.Queen && ant.Type != reantics.Worker
}

// number is 1 for true, so that truths can be ranked.
func number(truth bool) int {
	if truth {
		return 1
	}
	return 0
}

// best returns the tile with the least rank, the first of equals. There is at least one tile.
func best(tiles []reantics.Coord, rank func(reantics.Coord) []int) reantics.Coord {
	return slices.MinFunc(tiles, func(a, b reantics.Coord) int { return slices.Compare(rank(a), rank(b)) })
}

// Tiles are columns of something.
type tiles[T any] [reantics.BoardLength][reantics.BoardLength]T

func (t *tiles[T]) at(tile reantics.Coord) *T { return &t[tile.X][tile.Y] }

// board is the state, laid out by tile.
type board struct {
	mine, theirs reantics.Inventory
	constr       tiles[reantics.ConstructionType] // 0 = none
	ants         tiles[bool]
}

func newBoard(state reantics.GameState) *board {
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

func (b *board) isGrass(tile reantics.Coord) bool { return *b.constr.at(tile) == reantics.Grass }

func find(constrs []reantics.Construction, types ...reantics.ConstructionType) []reantics.Coord {
	found := []reantics.Coord{}
	for _, constr := range constrs {
		if slices.Contains(types, constr.Type) {
			found = append(found, constr.Coords)
		}
	}
	return found
}

func (b *board) nearEnemies() []reantics.Coord {
	found := []reantics.Coord{}
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
	from     reantics.Coord
	kind     reantics.AntType
	arrivals tiles[arrival]
	before   tiles[reantics.Coord]
}

// visit is a tile that has been reached, and when.
type visit struct {
	when arrival
	tile reantics.Coord
}

func (v visit) compare(w visit) int {
	return cmp.Or(v.when.compare(w.when), v.tile.X-w.tile.X, v.tile.Y-w.tile.Y)
}

func newWays(b *board, from reantics.Coord, kind reantics.AntType) *ways {
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
		for _, next := range []reantics.Coord{{X: x - 1, Y: y}, {X: x + 1, Y: y}, {X: x, Y: y - 1}, {X: x, Y: y + 1}} {
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

func (w *ways) when(tile reantics.Coord) arrival { return *w.arrivals.at(tile) }

func (w *ways) mayEnter(tile reantics.Coord) bool {
	return tile.IsLegal() && !(w.kind == reantics.Queen && (tile.Y == 4 || tile.Y == 5))
}

func (w *ways) enter(tile reantics.Coord, before arrival) arrival {
	step := 1
	if w.board.isGrass(tile) && !w.kind.Stats().IgnoresGrass {
		step = 2
	}
	switch {
	case *w.board.ants.at(tile):
		return arrival{before.turns + 1, step}
	case before.spent+step <= w.kind.Stats().Movement:
		return arrival{before.turns, before.spent + step}
	}
	return arrival{before.turns + 1, min(step, w.kind.Stats().Movement)}
}

// now returns all tiles where the ant can be in this turn, its own first.
func (w *ways) now() []reantics.Coord {
	found := []reantics.Coord{w.from}
	for x := range reantics.BoardLength {
		for y := range reantics.BoardLength {
			if tile := (reantics.Coord{X: x, Y: y}); tile != w.from && w.when(tile).turns == 0 {
				found = append(found, tile)
			}
		}
	}
	return found
}

// path returns this turn's part of the way to a tile, the ant's own tile first.
func (w *ways) path(to reantics.Coord) []reantics.Coord {
	path := []reantics.Coord{}
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

// walk returns the move towards a tile, or nil if the ant would stay.
func (w *ways) walk(to reantics.Coord) *reantics.Move {
	path := w.path(to)
	if len(path) == 1 {
		return nil
	}
	return &reantics.Move{MoveType: reantics.MoveAnt, CoordList: path}
}

// nearest returns the tile that is reached first.
func (w *ways) nearest(tiles []reantics.Coord) reantics.Coord {
	return best(tiles, func(tile reantics.Coord) []int { return w.when(tile).rank() })
}

// attackNow returns a move that attacks one of the targets in this turn: from the tile that is quickest to reach.
func (w *ways) attackNow(targets []reantics.Coord) *reantics.Move {
	stands := slices.DeleteFunc(w.now(), func(tile reantics.Coord) bool {
		inReach := func(target reantics.Coord) bool { return tile.Distance(target) <= w.kind.Stats().Range }
		return !slices.ContainsFunc(targets, inReach)
	})
	if len(stands) == 0 {
		return nil
	}
	return &reantics.Move{MoveType: reantics.MoveAnt, CoordList: w.path(w.nearest(stands))}
}

// work sends a worker for food, or home with it, by the quickest way.
func work(b *board, worker reantics.Ant, foods []reantics.Coord) *reantics.Move {
	goals := foods
	if worker.Carrying {
		goals = find(b.mine.Constrs, reantics.Anthill, reantics.Tunnel)
	}
	if len(goals) == 0 {
		return nil
	}
	w := newWays(b, worker.Coords, reantics.Worker)
	return w.walk(w.nearest(goals))
}

// stepAside moves the first of two workers that block each other and have nothing to do.
func stepAside(b *board) *reantics.Move {
	waiting := []reantics.Ant{}
	for _, ant := range b.mine.Ants {
		if ant.Type == reantics.Worker && !ant.HasMoved {
			waiting = append(waiting, ant)
		}
	}
	if len(waiting) < 2 {
		return nil
	}
	from := waiting[0].Coords
	w := newWays(b, from, reantics.Worker)
	return w.walk(best(w.now(), func(tile reantics.Coord) []int {
		return append([]int{number(tile == from)}, w.when(tile).rank()...)
	}))
}

// fight attacks an enemy in reach, else walks towards the nearest one, else leaves the tiles that the workers need.
func fight(b *board, fighter reantics.Ant, enemies []reantics.Coord) *reantics.Move {
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
	posts := []reantics.Coord{}
	for x := range reantics.BoardLength {
		for y := 3; y <= 4; y++ {
			if *b.constr.at(reantics.Coord{X: x, Y: y}) == 0 {
				posts = append(posts, reantics.Coord{X: x, Y: y})
			}
		}
	}
	if len(posts) == 0 {
		return nil
	}
	return w.walk(w.nearest(posts))
}

// rule has the queen attack enemies near her, run when she is frail, and else keep off the tiles that others need.
func rule(b *board, queen reantics.Ant, enemies []reantics.Coord) *reantics.Move {
	w := newWays(b, queen.Coords, reantics.Queen)
	if queen.Health > frail || len(w.now()) == 1 {
		if move := w.attackNow(enemies); move != nil {
			return move
		}
	}
	danger := func(tile reantics.Coord) (sum int) {
		for _, enemy := range b.theirs.Ants {
			if isFighter(enemy) && queen.Health <= frail {
				sum += max(0, 8-tile.Distance(enemy.Coords))
			}
		}
		return sum
	}
	return w.walk(best(w.now(), func(tile reantics.Coord) []int {
		inTheWay := *b.constr.at(tile) != 0 && !b.isGrass(tile)
		return []int{number(inTheWay), danger(tile), tile.Y}
	}))
}

// wanted returns the ant to build now: soldiers against near enemies, else the second worker.
func wanted(b *board, enemies int) (kind reantics.AntType, any bool) {
	working, fighting := 0, 0
	for _, ant := range b.mine.Ants {
		working += number(ant.Type == reantics.Worker)
		fighting += number(isFighter(ant))
	}
	switch {
	case working == 0:
		return reantics.Worker, true
	case fighting < enemies:
		return reantics.Soldier, true
	case working < workers:
		return reantics.Worker, true
	}
	return 0, false
}

type forager struct{ reantics.Base }

// Placement puts anthill and tunnel so that no tile of our side is far from both; the grass lies where food would be
// farthest.
func (f *forager) Placement(currentState reantics.GameState) []reantics.Coord {
	if currentState.Phase == reantics.SetupPhase1 {
		return []reantics.Coord{
			{X: 2, Y: 1}, {X: 7, Y: 1},
			{X: 0, Y: 3}, {X: 4, Y: 3}, {X: 5, Y: 3}, {X: 9, Y: 3}, {X: 0, Y: 0}, {X: 9, Y: 0}, {X: 4, Y: 0}, {X: 5, Y: 0},
			{X: 1, Y: 3},
		}
	}
	return farFromHome(currentState)
}

func (f *forager) Move(currentState reantics.GameState) reantics.Move {
	b := newBoard(currentState)
	enemies := b.nearEnemies()
	foods := find(currentState.Inventories[2].Constrs, reantics.Food)
	for _, ant := range b.mine.Ants {
		if ant.HasMoved {
			continue
		}
		var move *reantics.Move
		switch ant.Type {
		case reantics.Queen:
			move = rule(b, ant, enemies)
		case reantics.Worker:
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
	hill := find(b.mine.Constrs, reantics.Anthill)[0]
	if kind, any := wanted(b, len(enemies)); any && !*b.ants.at(hill) && b.mine.FoodCount >= kind.Stats().Cost {
		return reantics.Move{MoveType: reantics.Build, CoordList: []reantics.Coord{hill}, BuildType: &kind}
	}
	return reantics.Move{MoveType: reantics.End}
}

// Attack prefers an ant that one blow kills, then one on our buildings, then the weakest.
func (f *forager) Attack(
	currentState reantics.GameState, attackingAnt reantics.Ant, enemyLocations []reantics.Coord,
) reantics.Coord {
	b := newBoard(currentState)
	return best(enemyLocations, func(tile reantics.Coord) []int {
		enemy := b.theirs.Ants[slices.IndexFunc(b.theirs.Ants, func(ant reantics.Ant) bool { return ant.Coords == tile })]
		survives := enemy.Health > attackingAnt.Type.Stats().Attack
		harmless := *b.constr.at(tile) != reantics.Anthill
		return []int{number(enemy.Type != reantics.Queen), number(survives), number(harmless), enemy.Health}
	})
}

// farFromHome returns the two free tiles of the enemy's side that are the longest way from its anthill and its tunnel.
func farFromHome(state reantics.GameState) []reantics.Coord {
	b := newBoard(state)
	homes := []*ways{}
	for _, home := range find(b.theirs.Constrs, reantics.Anthill, reantics.Tunnel) {
		homes = append(homes, newWays(b, home, reantics.Worker))
	}
	free := []visit{}
	for x := range reantics.BoardLength {
		for y := 6; y < reantics.BoardLength; y++ {
			tile := reantics.Coord{X: x, Y: y}
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
	return []reantics.Coord{free[0].tile, free[1].tile}
}

func main() {
	reantics.Run("Forager (Go)", "1", func(match *referee.Match) reantics.Bot { return &forager{} })
}
