package reantics

import referee "github.com/OWNER/referee/starter_kits/go"

// The helper functions of the original agents (rules, section 11.3) are methods here: getAntAt is GameState.AntAt,
// listAllLegalMoves is GameState.LegalMoves, listAdjacent is Coord.Adjacent. They look at the inventories and never at
// Board. The order of results, and paths that come twice, are part of the contract.

// UnitStats holds the abilities of a type of ant.
type UnitStats struct {
	Movement, Health, Attack, Range int
	Cost                            int // in food; a queen cannot be built
	IgnoresGrass                    bool
}

var unitStats = [...]UnitStats{
	Queen:    {2, 10, 4, 1, 0, false},
	Worker:   {2, 4, 0, 1, 1, false},
	Drone:    {3, 4, 2, 1, 2, true},
	Soldier:  {2, 8, 4, 1, 2, false},
	RSoldier: {1, 2, 3, 3, 2, true},
}

// Stats returns the abilities of a type of ant in the current match, whose options may change a worker's health.
func (value AntType) Stats() UnitStats { return unitStats[value] }

func init() {
	referee.OnMatch(func(match *referee.Match) {
		health, given := match.Options["worker_health"].(float64)
		if !given {
			health = 4
		}
		unitStats[Worker].Health = int(health)
	})
}

// Neutral is the index of the inventory that holds grass and food.
const Neutral = 2

// What stands where.

// IsLegal reports whether that is a tile of the board.
func (tile Coord) IsLegal() bool {
	return tile.X >= 0 && tile.X < BoardLength && tile.Y >= 0 && tile.Y < BoardLength
}

// AntAt returns the ant on a tile, or nil.
func (state *GameState) AntAt(tile Coord) *Ant {
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

// ConstrAt returns the construction on a tile, or nil.
func (state *GameState) ConstrAt(tile Coord) *Construction {
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

// OwnInventory returns what the player to move has.
func (state *GameState) OwnInventory() *Inventory { return &state.Inventories[state.WhoseTurn] }

// EnemyInventory returns what the opponent of the player to move has.
func (state *GameState) EnemyInventory() *Inventory { return &state.Inventories[1-state.WhoseTurn] }

// Queen returns the queen, or nil.
func (inventory *Inventory) Queen() *Ant {
	for i := range inventory.Ants {
		if inventory.Ants[i].Type == Queen {
			return &inventory.Ants[i]
		}
	}
	return nil
}

// Anthill returns the anthill, or nil.
func (inventory *Inventory) Anthill() *Construction {
	for i := range inventory.Constrs {
		if inventory.Constrs[i].Type == Anthill {
			return &inventory.Constrs[i]
		}
	}
	return nil
}

// Winner returns 1 if the player to move has won, 0 if its opponent has, else -1 (section 6).
func (state *GameState) Winner() int {
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
	if enemy.Queen() == nil {
		return true
	}
	if hill := enemy.Anthill(); hill != nil && hill.CaptureHealth != nil && *hill.CaptureHealth <= 0 {
		return true
	}
	return own.FoodCount >= FoodGoal || enemy.FoodCount == 0 && len(enemy.Ants) == 1
}

// Distances and ways.

// Distance counts the columns plus the rows between two tiles.
func (tile Coord) Distance(other Coord) int {
	return max(tile.X-other.X, other.X-tile.X) + max(tile.Y-other.Y, other.Y-tile.Y)
}

var steps = [...]Coord{{-1, 0}, {1, 0}, {0, -1}, {0, 1}}

// Adjacent returns the tiles left, right, above and below, in this order, as far as they are on the board.
func (tile Coord) Adjacent() []Coord {
	if !tile.IsLegal() {
		return nil
	}
	found := make([]Coord, 0, len(steps))
	for _, step := range steps {
		if near := (Coord{tile.X + step.X, tile.Y + step.Y}); near.IsLegal() {
			found = append(found, near)
		}
	}
	return found
}

// Attackable returns the tiles at a distance of 1 to reach, by column and then by row.
func (tile Coord) Attackable(reach int) (found []Coord) {
	for x := tile.X - reach; x <= tile.X+reach; x++ {
		for y := tile.Y - reach; y <= tile.Y+reach; y++ {
			near := Coord{x, y}
			if distance := tile.Distance(near); near.IsLegal() && distance > 0 && distance <= reach {
				found = append(found, near)
			}
		}
	}
	return found
}

// What a walker has to know of a state, gathered once for many questions.
type ground struct {
	occupied [BoardLength][BoardLength]bool
	costs    [BoardLength][BoardLength]int8
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
			if at := state.Inventories[i].Ants[j].Coords; at.IsLegal() {
				g.occupied[at.X][at.Y] = true
			}
		}
		for j := range state.Inventories[i].Constrs {
			constr := &state.Inventories[i].Constrs[j]
			if constr.Coords.IsLegal() {
				g.costs[constr.Coords.X][constr.Coords.Y] = int8(constr.MovementCost)
			}
		}
	}
	return g
}

// Whether a tile can be entered, and what is left of the movement then.
func (g *ground) enter(tile Coord, movement int, ignoresGrass bool) (left int, may bool) {
	if !tile.IsLegal() || g.occupied[tile.X][tile.Y] {
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
	distance := tile.Distance(goal)
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

// ReachableAdjacent returns the neighbours without an ant that cost at most movement to enter.
func (state *GameState) ReachableAdjacent(tile Coord, movement int, ignoresGrass bool) (found []Coord) {
	g := groundOf(state)
	for _, near := range tile.Adjacent() {
		if _, may := g.enter(near, movement, ignoresGrass); may {
			found = append(found, near)
		}
	}
	return found
}

// MovementPaths returns every path from a tile: first those of one step, then each of them with what may follow,
// at last staying. Shorter paths come more than once, since each step may be followed by staying. A queen's may leave
// her home.
func (state *GameState) MovementPaths(tile Coord, movement int, ignoresGrass bool) [][]Coord {
	g := groundOf(state)
	g.way = append(g.way, tile)
	g.paths(movement, ignoresGrass)
	return g.found
}

// StepsToReach says about what it costs to walk from one tile to another, grass at 2, ants not counted; -1 for no tile.
// Each tile is looked at once, in the order found: the way that is found first through grass may not be the cheapest.
func (state *GameState) StepsToReach(from, to Coord) int {
	if !from.IsLegal() || !to.IsLegal() {
		return -1
	}
	g := groundOf(state)
	var costs [BoardLength][BoardLength]int // 1 more than the way costs; 0 = not found yet
	costs[from.X][from.Y] = 1
	queue := append(make([]Coord, 0, BoardLength*BoardLength), from)
	for i := 0; i < len(queue); i++ {
		here := queue[i]
		if here == to {
			break
		}
		for _, step := range steps {
			near := Coord{here.X + step.X, here.Y + step.Y}
			if !near.IsLegal() {
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

// PathToward returns the path that brings the ant on a tile nearest to another within movement, the first of
// equals. Each step is taken for the distance alone, so that it may stay where a way round would help.
func (state *GameState) PathToward(from, to Coord, movement int) []Coord {
	ant := state.AntAt(from)
	path, _ := groundOf(state).toward(from, to, movement, ant != nil && ant.Type.Stats().IgnoresGrass)
	return path
}

// Moves.

// IsPathOkForQueen reports whether a path keeps out of the two rows in the middle.
func IsPathOkForQueen(path []Coord) bool {
	for _, tile := range path {
		if tile.Y == 4 || tile.Y == 5 {
			return false
		}
	}
	return true
}

// MovementMoves returns a MoveAnt for every path of every ant of the player to move that has not moved yet.
func (state *GameState) MovementMoves() (moves []Move) {
	g := groundOf(state)
	own := state.OwnInventory()
	for i := range own.Ants {
		ant := &own.Ants[i]
		if ant.HasMoved {
			continue
		}
		g.way, g.found = append(g.way[:0], ant.Coords), nil
		g.paths(ant.Type.Stats().Movement, ant.Type.Stats().IgnoresGrass)
		for _, path := range g.found {
			if ant.Type != Queen || IsPathOkForQueen(path) {
				moves = append(moves, Move{MoveType: MoveAnt, CoordList: path})
			}
		}
	}
	return moves
}

// BuildMoves returns a Build for every ant that the player to move can pay, if its anthill is free.
func (state *GameState) BuildMoves() (moves []Move) {
	own := state.OwnInventory()
	hill := own.Anthill()
	if hill == nil || state.AntAt(hill.Coords) != nil {
		return nil
	}
	for kind := Worker; kind <= RSoldier; kind++ {
		if own.FoodCount >= kind.Stats().Cost {
			moves = append(moves, Move{MoveType: Build, CoordList: []Coord{hill.Coords}, BuildType: &kind})
		}
	}
	return moves
}

// LegalMoves returns all that the player to move may do: its ants' paths, what it can build, and End.
func (state *GameState) LegalMoves() []Move {
	moves := append(state.MovementMoves(), state.BuildMoves()...)
	return append(moves, Move{MoveType: End})
}

// Looking ahead.

// Clone returns a copy whose ants, constructions and inventories are its own, without Board.
func (state *GameState) Clone() *GameState {
	copied := &GameState{Phase: state.Phase, WhoseTurn: state.WhoseTurn}
	copied.Inventories = append(make([]Inventory, 0, len(state.Inventories)), state.Inventories...)
	for i := range copied.Inventories {
		inventory := &copied.Inventories[i]
		inventory.Ants = append(make([]Ant, 0, len(inventory.Ants)+1), inventory.Ants...)
		inventory.Constrs = append([]Construction(nil), inventory.Constrs...)
	}
	return copied
}

// Next returns about what a move leads to, in a new state: an ant may move again, food is taken and dropped at
// once, and an ant attacks the first enemy that it finds. End changes nothing.
func (state *GameState) Next(move Move) *GameState {
	after := state.Clone()
	own, enemy := after.OwnInventory(), after.EnemyInventory()
	for i := range own.Constrs {
		if hill := &own.Constrs[i]; hill.Type == Anthill && hill.CaptureHealth != nil && enemy.AntAt(hill.Coords) != nil {
			left := *hill.CaptureHealth - 1
			hill.CaptureHealth = &left // the old number belongs to the old state too
		}
	}
	if len(move.CoordList) == 0 {
		return after
	}
	switch move.MoveType {
	case Build:
		if move.BuildType != nil {
			kind := *move.BuildType
			own.Ants = append(own.Ants, Ant{
				ID: nextID(after), Coords: move.CoordList[0], Type: kind, Player: after.WhoseTurn, Health: kind.Stats().Health,
			})
			own.FoodCount -= kind.Stats().Cost
		}
	case MoveAnt:
		if ant := own.AntAt(move.CoordList[0]); ant != nil {
			ant.Coords, ant.HasMoved = move.CoordList[len(move.CoordList)-1], false
			carry(after, own, ant)
			attack(enemy, ant)
		}
	}
	return after
}

// AntAt returns this player's ant on a tile, or nil.
func (inventory *Inventory) AntAt(tile Coord) *Ant {
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
	under := state.ConstrAt(ant.Coords)
	if under == nil {
		return
	}
	isOwn := under.Player != nil && *under.Player == own.Player
	if ant.Carrying && isOwn && (under.Type == Anthill || under.Type == Tunnel) {
		ant.Carrying = false
		own.FoodCount++
	}
	if !ant.Carrying && ant.Type == Worker && under.Type == Food {
		ant.Carrying = true
	}
}

func attack(enemy *Inventory, ant *Ant) {
	for _, tile := range ant.Coords.Attackable(ant.Type.Stats().Range) {
		for i := range enemy.Ants {
			if enemy.Ants[i].Coords == tile {
				enemy.Ants[i].Health -= ant.Type.Stats().Attack
				if enemy.Ants[i].Health <= 0 {
					enemy.Ants = append(enemy.Ants[:i], enemy.Ants[i+1:]...)
				}
				return
			}
		}
	}
}

// NextAdversarial is Next for searches over several turns: an ant that moves has moved, and End passes
// the turn on. The board is not turned: coordinates stay those of the player whose turn it was.
func (state *GameState) NextAdversarial(move Move) *GameState {
	after := state.Next(move)
	own := after.OwnInventory()
	switch move.MoveType {
	case MoveAnt:
		if len(move.CoordList) > 0 {
			if ant := own.AntAt(move.CoordList[len(move.CoordList)-1]); ant != nil {
				ant.HasMoved = true
			}
		}
	case End:
		for i := range own.Ants {
			own.Ants[i].HasMoved = false
		}
		after.WhoseTurn = 1 - after.WhoseTurn
	}
	return after
}
