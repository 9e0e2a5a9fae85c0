package reantics

import "referee.internal/referee"

// What a bot asks of a position, under the names that the original gave its agents (rules, section 11.3). The functions
// look at the inventories and never at Board. Orders, and paths that come twice, are part of what is promised.

// UnitStats says what an ant of a type can do.
type UnitStats struct {
	Movement, Health, Attack, Range int
	Cost                            int // in food; a queen cannot be built
	IgnoresGrass                    bool
}

// UNIT_STATS are the stats by type of ant: QUEEN, WORKER, DRONE, SOLDIER, R_SOLDIER. The kit sets a worker's health to
// the option worker_health when a match begins, before the bot is made.
var UNIT_STATS = [...]UnitStats{
	{2, 10, 4, 1, 0, false}, {2, 4, 0, 1, 1, false}, {3, 4, 2, 1, 2, true}, {2, 8, 4, 1, 2, false}, {1, 2, 3, 3, 2, true},
}

func init() {
	referee.OnMatch(func(match *referee.Match) {
		health, given := match.Options["worker_health"].(int)
		if !given {
			health = 4
		}
		UNIT_STATS[WORKER].Health = health
	})
}

// NEUTRAL is the index of the inventory that holds grass and food.
const NEUTRAL = 2

// What stands where.

// LegalCoord tells whether that is a tile of the board.
func LegalCoord(tile Coord) bool {
	return tile.X >= 0 && tile.X < BOARD_LENGTH && tile.Y >= 0 && tile.Y < BOARD_LENGTH
}

// GetAntAt gives the ant on a tile, or nil.
func GetAntAt(state *GameState, tile Coord) *Ant {
	for i := range state.Inventories {
		ants := state.Inventories[i].Ants
		for j := range ants {
			if ants[j].Coords == tile {
				return &ants[j]
			}
		}
	}
	return nil
}

// GetConstrAt gives the construction on a tile, or nil.
func GetConstrAt(state *GameState, tile Coord) *Construction {
	for i := range state.Inventories {
		constrs := state.Inventories[i].Constrs
		for j := range constrs {
			if constrs[j].Coords == tile {
				return &constrs[j]
			}
		}
	}
	return nil
}

// GetCurrPlayerInventory gives what the player to move has.
func GetCurrPlayerInventory(state *GameState) *Inventory { return &state.Inventories[state.WhoseTurn] }

// GetEnemyInv gives what the opponent of the player to move has.
func GetEnemyInv(state *GameState) *Inventory { return &state.Inventories[1-state.WhoseTurn] }

// GetCurrPlayerQueen gives the queen of the player to move, or nil.
func GetCurrPlayerQueen(state *GameState) *Ant { return queenOf(GetCurrPlayerInventory(state)) }

func queenOf(inventory *Inventory) *Ant {
	for i := range inventory.Ants {
		if inventory.Ants[i].Type == QUEEN {
			return &inventory.Ants[i]
		}
	}
	return nil
}

func anthillOf(inventory *Inventory) *Construction {
	for i := range inventory.Constrs {
		if inventory.Constrs[i].Type == ANTHILL {
			return &inventory.Constrs[i]
		}
	}
	return nil
}

// GetWinner gives 1 if the player to move has won, 0 if its opponent has, else -1 (section 6).
func GetWinner(state *GameState) int {
	if hasWon(state, state.WhoseTurn) {
		return 1
	}
	if hasWon(state, 1-state.WhoseTurn) {
		return 0
	}
	return -1
}

func hasWon(state *GameState, player int) bool {
	own, enemy := &state.Inventories[player], &state.Inventories[1-player]
	if queenOf(enemy) == nil {
		return true
	}
	if hill := anthillOf(enemy); hill != nil && hill.CaptureHealth != nil && *hill.CaptureHealth <= 0 {
		return true
	}
	return own.FoodCount >= FOOD_GOAL || enemy.FoodCount == 0 && len(enemy.Ants) == 1
}

// Distances and ways.

// ApproxDist counts the columns plus the rows between two tiles.
func ApproxDist(one, other Coord) int {
	return max(one.X-other.X, other.X-one.X) + max(one.Y-other.Y, other.Y-one.Y)
}

var steps = [...]Coord{{-1, 0}, {1, 0}, {0, -1}, {0, 1}}

// ListAdjacent gives the tiles left, right, above and below, in this order, as far as they are on the board.
func ListAdjacent(tile Coord) []Coord {
	if !LegalCoord(tile) {
		return nil
	}
	found := make([]Coord, 0, len(steps))
	for _, step := range steps {
		if near := (Coord{tile.X + step.X, tile.Y + step.Y}); LegalCoord(near) {
			found = append(found, near)
		}
	}
	return found
}

// ListAttackable gives the tiles at a distance of 1 to reach, by column and then by row.
func ListAttackable(tile Coord, reach int) (found []Coord) {
	for x := tile.X - reach; x <= tile.X+reach; x++ {
		for y := tile.Y - reach; y <= tile.Y+reach; y++ {
			near := Coord{x, y}
			if distance := ApproxDist(tile, near); LegalCoord(near) && distance > 0 && distance <= reach {
				found = append(found, near)
			}
		}
	}
	return found
}

// What a walker has to know of a state, gathered once for many questions.
type ground struct {
	occupied [BOARD_LENGTH][BOARD_LENGTH]bool
	costs    [BOARD_LENGTH][BOARD_LENGTH]int8
	found    [][]Coord
	way      []Coord
}

func groundOf(state *GameState) *ground {
	g := &ground{way: make([]Coord, 0, 8)}
	for x := range g.costs {
		for y := range g.costs[x] {
			g.costs[x][y] = 1
		}
	}
	for i := range state.Inventories {
		for j := range state.Inventories[i].Ants {
			if at := state.Inventories[i].Ants[j].Coords; LegalCoord(at) {
				g.occupied[at.X][at.Y] = true
			}
		}
		for j := range state.Inventories[i].Constrs {
			constr := &state.Inventories[i].Constrs[j]
			if LegalCoord(constr.Coords) {
				g.costs[constr.Coords.X][constr.Coords.Y] = int8(constr.MovementCost)
			}
		}
	}
	return g
}

// Whether a tile can be entered, and what is left of the movement then.
func (g *ground) enter(tile Coord, movement int, ignoresGrass bool) (left int, may bool) {
	if !LegalCoord(tile) || g.occupied[tile.X][tile.Y] {
		return 0, false
	}
	left = movement - 1
	if !ignoresGrass {
		left = movement - int(g.costs[tile.X][tile.Y])
	}
	return left, left >= 0
}

// Adds the way so far to what was found.
func (g *ground) keep() {
	g.found = append(g.found, append(make([]Coord, 0, len(g.way)), g.way...))
}

// Adds every path that goes on from the end of the way.
func (g *ground) paths(movement int, ignoresGrass bool) {
	if movement <= 0 {
		return
	}
	at := g.way[len(g.way)-1]
	var nears [len(steps)]Coord
	var lefts [len(steps)]int
	count := 0
	for _, step := range steps {
		near := Coord{at.X + step.X, at.Y + step.Y}
		if left, may := g.enter(near, movement, ignoresGrass); may {
			nears[count], lefts[count] = near, left
			count++
			g.way = append(g.way, near)
			g.keep()
			g.way = g.way[:len(g.way)-1]
		}
	}
	for i := range count {
		g.way = append(g.way, nears[i])
		g.paths(lefts[i], ignoresGrass)
		g.way = g.way[:len(g.way)-1]
	}
	g.keep()
}

func (g *ground) toward(tile, goal Coord, movement int, ignoresGrass bool) ([]Coord, int) {
	distance := ApproxDist(tile, goal)
	best, rest := []Coord{tile}, distance
	if distance == 0 || movement <= 0 {
		return best, rest
	}
	for _, step := range steps {
		near := Coord{tile.X + step.X, tile.Y + step.Y}
		left, may := g.enter(near, movement, ignoresGrass)
		if !may {
			continue
		}
		if path, remains := g.toward(near, goal, left, ignoresGrass); remains < rest {
			best, rest = append([]Coord{tile}, path...), remains
			if rest == 0 || rest == distance-movement {
				break
			}
		}
	}
	return best, rest
}

// ListReachableAdjacent gives the neighbours without an ant that cost at most movement to enter.
func ListReachableAdjacent(state *GameState, tile Coord, movement int, ignoresGrass bool) (found []Coord) {
	g := groundOf(state)
	for _, near := range ListAdjacent(tile) {
		if _, may := g.enter(near, movement, ignoresGrass); may {
			found = append(found, near)
		}
	}
	return found
}

// ListAllMovementPaths gives every path from a tile: first those of one step, then each of them with what may follow,
// at last staying. Shorter paths come more than once, since each step may be followed by staying. A queen's may leave
// her home.
func ListAllMovementPaths(state *GameState, tile Coord, movement int, ignoresGrass bool) [][]Coord {
	g := groundOf(state)
	g.way = append(g.way, tile)
	g.paths(movement, ignoresGrass)
	return g.found
}

// StepsToReach says about what it costs to walk from one tile to another, grass at 2, ants not counted; -1 for no tile.
// Each tile is looked at once, in the order found: the way that is found first through grass may not be the cheapest.
func StepsToReach(state *GameState, from, to Coord) int {
	if !LegalCoord(from) || !LegalCoord(to) {
		return -1
	}
	g := groundOf(state)
	var costs [BOARD_LENGTH][BOARD_LENGTH]int // 1 more than the way costs; 0 = not found yet
	costs[from.X][from.Y] = 1
	queue := append(make([]Coord, 0, BOARD_LENGTH*BOARD_LENGTH), from)
	for i := 0; i < len(queue); i++ {
		here := queue[i]
		if here == to {
			break
		}
		for _, step := range steps {
			near := Coord{here.X + step.X, here.Y + step.Y}
			if !LegalCoord(near) {
				continue
			}
			cost := costs[here.X][here.Y] + int(g.costs[near.X][near.Y])
			if known := costs[near.X][near.Y]; known == 0 {
				queue = append(queue, near)
				costs[near.X][near.Y] = cost
			} else {
				costs[near.X][near.Y] = min(known, cost)
			}
		}
	}
	return costs[to.X][to.Y] - 1
}

// CreatePathToward gives the path that brings the ant on a tile nearest to another within movement, the first of
// equals. Each step is taken for the distance alone, so that it may stay where a way round would help.
func CreatePathToward(state *GameState, from, to Coord, movement int) []Coord {
	ant := GetAntAt(state, from)
	path, _ := groundOf(state).toward(from, to, movement, ant != nil && UNIT_STATS[ant.Type].IgnoresGrass)
	return path
}

// Moves.

// IsPathOkForQueen tells whether a path keeps out of the two rows in the middle.
func IsPathOkForQueen(path []Coord) bool {
	for _, tile := range path {
		if tile.Y == 4 || tile.Y == 5 {
			return false
		}
	}
	return true
}

// ListAllMovementMoves gives a MOVE_ANT for every path of every ant of the player to move that has not moved yet.
func ListAllMovementMoves(state *GameState) (moves []Move) {
	g := groundOf(state)
	own := GetCurrPlayerInventory(state)
	for i := range own.Ants {
		ant := &own.Ants[i]
		if ant.HasMoved {
			continue
		}
		g.way, g.found = append(g.way[:0], ant.Coords), nil
		g.paths(UNIT_STATS[ant.Type].Movement, UNIT_STATS[ant.Type].IgnoresGrass)
		for _, path := range g.found {
			if ant.Type != QUEEN || IsPathOkForQueen(path) {
				moves = append(moves, Move{MoveType: MOVE_ANT, CoordList: path})
			}
		}
	}
	return moves
}

// ListAllBuildMoves gives a BUILD for every ant that the player to move can pay, if its anthill is free.
func ListAllBuildMoves(state *GameState) (moves []Move) {
	own := GetCurrPlayerInventory(state)
	hill := anthillOf(own)
	if hill == nil || GetAntAt(state, hill.Coords) != nil {
		return nil
	}
	for kind := WORKER; kind <= R_SOLDIER; kind++ {
		if own.FoodCount >= UNIT_STATS[kind].Cost {
			moves = append(moves, Move{MoveType: BUILD, CoordList: []Coord{hill.Coords}, BuildType: &kind})
		}
	}
	return moves
}

// ListAllLegalMoves gives all that the player to move may do: its ants' paths, what it can build, and END.
func ListAllLegalMoves(state *GameState) []Move {
	moves := append(ListAllMovementMoves(state), ListAllBuildMoves(state)...)
	return append(moves, Move{MoveType: END})
}

// Looking ahead.

// Clone gives a copy whose ants, constructions and inventories are its own, without Board.
func Clone(state *GameState) *GameState {
	copied := &GameState{Phase: state.Phase, WhoseTurn: state.WhoseTurn}
	copied.Inventories = append(make([]Inventory, 0, len(state.Inventories)), state.Inventories...)
	for i := range copied.Inventories {
		inventory := &copied.Inventories[i]
		inventory.Ants = append(make([]Ant, 0, len(inventory.Ants)+1), inventory.Ants...)
		inventory.Constrs = append([]Construction(nil), inventory.Constrs...)
	}
	return copied
}

// GetNextState gives about what a move leads to, in a new state: an ant may move again, food is taken and dropped at
// once, and an ant attacks the first enemy that it finds. END changes nothing.
func GetNextState(state *GameState, move Move) *GameState {
	after := Clone(state)
	own, enemy := GetCurrPlayerInventory(after), GetEnemyInv(after)
	for i := range own.Constrs {
		if hill := &own.Constrs[i]; hill.Type == ANTHILL && hill.CaptureHealth != nil && antOf(enemy, hill.Coords) != nil {
			left := *hill.CaptureHealth - 1
			hill.CaptureHealth = &left // the old number belongs to the old state too
		}
	}
	if len(move.CoordList) == 0 {
		return after
	}
	switch move.MoveType {
	case BUILD:
		if move.BuildType != nil {
			kind := *move.BuildType
			own.Ants = append(own.Ants, Ant{
				ID: nextID(after), Coords: move.CoordList[0], Type: kind, Player: after.WhoseTurn, Health: UNIT_STATS[kind].Health,
			})
			own.FoodCount -= UNIT_STATS[kind].Cost
		}
	case MOVE_ANT:
		if ant := antOf(own, move.CoordList[0]); ant != nil {
			ant.Coords, ant.HasMoved = move.CoordList[len(move.CoordList)-1], false
			carry(after, own, ant)
			attack(enemy, ant)
		}
	}
	return after
}

func antOf(inventory *Inventory, tile Coord) *Ant {
	for i := range inventory.Ants {
		if inventory.Ants[i].Coords == tile {
			return &inventory.Ants[i]
		}
	}
	return nil
}

func nextID(state *GameState) int {
	most := -1
	for i := range state.Inventories {
		for j := range state.Inventories[i].Ants {
			most = max(most, state.Inventories[i].Ants[j].ID)
		}
	}
	return most + 1
}

func carry(state *GameState, own *Inventory, ant *Ant) {
	under := GetConstrAt(state, ant.Coords)
	if under == nil {
		return
	}
	isOwn := under.Player != nil && *under.Player == own.Player
	if ant.Carrying && isOwn && (under.Type == ANTHILL || under.Type == TUNNEL) {
		ant.Carrying = false
		own.FoodCount++
	}
	if !ant.Carrying && ant.Type == WORKER && under.Type == FOOD {
		ant.Carrying = true
	}
}

func attack(enemy *Inventory, ant *Ant) {
	for _, tile := range ListAttackable(ant.Coords, UNIT_STATS[ant.Type].Range) {
		for i := range enemy.Ants {
			if enemy.Ants[i].Coords == tile {
				enemy.Ants[i].Health -= UNIT_STATS[ant.Type].Attack
				if enemy.Ants[i].Health <= 0 {
					enemy.Ants = append(enemy.Ants[:i], enemy.Ants[i+1:]...)
				}
				return
			}
		}
	}
}

// GetNextStateAdversarial is GetNextState for searches over several turns: an ant that moves has moved, and END passes
// the turn on. The board is not turned: coordinates stay those of the player whose turn it was.
func GetNextStateAdversarial(state *GameState, move Move) *GameState {
	after := GetNextState(state, move)
	own := GetCurrPlayerInventory(after)
	switch move.MoveType {
	case MOVE_ANT:
		if len(move.CoordList) > 0 {
			if ant := antOf(own, move.CoordList[len(move.CoordList)-1]); ant != nil {
				ant.HasMoved = true
			}
		}
	case END:
		for i := range own.Ants {
			own.Ants[i].HasMoved = false
		}
		after.WhoseTurn = 1 - after.WhoseTurn
	}
	return after
}
