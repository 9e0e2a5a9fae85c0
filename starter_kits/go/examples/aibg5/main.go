// Duellist does what brings most points a turn: shoots the boss as long as it lives, for who dies comes back healed;
// shoots players and takes items, which is experience; and keeps out of the boss's next pattern.
package main

import (
	"slices"

	"referee.internal/referee"
	"referee.internal/referee/aibg5"
	"referee.internal/referee/hexgrid"
)

type cell = hexgrid.Cell

const (
	unsaidRounds  = 300 // how long a match is expected to be if nothing is said
	levelWorth    = 14  // points a turn: half of what a level brings, which must be reached first
	hitXP         = 30
	killXP        = 100
	experienceXP  = 100
	asteroidXP    = 20
	killScore     = 50
	directRing    = 4 // up to here the boss hits in every round; only from here can it be hit
	shortestPause = 3 // rounds without a pattern
	detour        = 3 // steps that it is worth going to keep out of a pattern
)

var bossCells = hexgrid.Ring(1)

// A schedule is that of the boss's patterns, which come in turn: three steps of pattern 1, a pause, a ring, a pause.
type schedule struct {
	next []cell
	ring int
	wait int // rounds that are sure to have no pattern
}

func newSchedule() schedule {
	return schedule{next: pattern1(0), ring: 6, wait: 2} // a match begins with one, and none is over yet
}

// watch sees the boss's last turn: to be called once in every round.
func (s *schedule) watch(attacked []aibg5.AttackedTile) {
	pattern := []cell{}
	for _, tile := range attacked {
		if place := (cell{Q: tile.Q, R: tile.R}); hexgrid.Distance(hexgrid.Centre, place) > directRing {
			pattern = append(pattern, place)
		}
	}
	if len(pattern) == 0 {
		s.wait--
		return
	}
	steps := -pattern[0].R / 2 // of pattern 1: its first cell is in row -2, -4 or -6
	switch {
	case len(pattern) > 8:
		s.ring += 2
		if s.ring > 10 {
			s.ring = 6
		}
		s.next, s.wait = pattern1(0), shortestPause
	case steps < 3:
		s.next, s.wait = pattern1(steps), 0
	default:
		s.next, s.wait = hexgrid.Ring(s.ring), shortestPause
	}
}

// struck has the cells that the boss may strike after this round, beside those near it.
func (s *schedule) struck() []cell {
	if s.wait > 0 {
		return nil
	}
	return s.next
}

// pattern1 has the eight cells of a step: 0, 1 or 2.
func pattern1(step int) []cell {
	cells := []cell{{Q: -6 + 2*step, R: -2 - 2*step}, {Q: -5 + 2*step, R: -3 - 2*step}}
	for _, left := range cells[:2] {
		cells = append(cells, cell{Q: -left.Q, R: -left.R})
	}
	for _, place := range cells[:4] {
		cells = append(cells, cell{Q: -place.Q - place.R, R: place.R})
	}
	return cells
}

// A turn is what can be done now, and how many points a turn it brings.
type turn struct {
	board   *hexgrid.Board
	me      *aibg5.Player
	here    cell
	struck  []cell
	xpWorth float64
	turns   map[cell]int  // to each cell that can be reached
	first   map[cell]cell // the first cell of the way there
}

func newTurn(board *hexgrid.Board, playerIdx int, struck []cell, roundsLeft int) *turn {
	me := board.Player(playerIdx)
	t := &turn{board: board, me: me, here: hexgrid.CellOf(me), struck: struck}
	if me.Level < len(aibg5.POWER) {
		t.xpWorth = float64(levelWorth*roundsLeft) / aibg5.LEVEL_XP
	}
	t.turns, t.first = map[cell]int{}, map[cell]cell{}
	return t
}

func (t *turn) best() aibg5.Action {
	worth, action := 0.0, t.anyAction()
	for _, target := range t.board.Targets(t.here) {
		hit, _ := t.board.Hit(t.here, target)
		brings := t.worthOfHitting(hit)
		if slices.Contains(t.struck, t.here) {
			brings -= float64(t.me.Power) // with as much health the boss could be shot once more
		}
		if brings > worth {
			worth, action = brings, hexgrid.Attack(target)
		}
	}
	t.findWays()
	for _, place := range hexgrid.Cells {
		turns, reached := t.turns[place]
		if !reached {
			continue
		}
		if brings := t.worthOfGoing(place, turns); brings > worth {
			worth, action = brings, t.step(t.first[place])
		}
	}
	return action
}

func (t *turn) worthOfHitting(place cell) float64 {
	player, shots := t.board.PlayerOn(place), t.shotsAt(place)
	switch {
	case player != nil && player.Health <= t.me.Power:
		return (hitXP+killXP)*t.xpWorth + killScore
	case player != nil:
		return hitXP * t.xpWorth
	case shots > 0:
		return asteroidXP * t.xpWorth / float64(shots)
	}
	return float64(t.me.Power) // the boss
}

// worthOfGoing for the item that is there, or to shoot the boss from there until the end.
func (t *turn) worthOfGoing(place cell, turns int) float64 {
	worth, shots := 0.0, 0
	switch t.board.Type(place) {
	case "EXPERIENCE":
		worth = experienceXP * t.xpWorth / float64(turns)
	case "HEALTH":
		shots = (aibg5.MAX_HEALTH[t.me.Level-1] - t.me.Health) / aibg5.BOSS_POWER
	}
	if t.canHitBoss(place) {
		shots = max(shots, (t.me.Health-1)/aibg5.BOSS_POWER)
	}
	return max(worth, float64(shots*t.me.Power)/float64(turns+shots))
}

func (t *turn) canHitBoss(place cell) bool {
	if hexgrid.Distance(hexgrid.Centre, place) > directRing {
		return false
	}
	return slices.ContainsFunc(bossCells, func(target cell) bool {
		hit, legal := t.board.Hit(place, target)
		return legal && slices.Contains(bossCells, hit)
	})
}

// findWays fills turns and first. A cell comes again when a quicker way to it is found.
func (t *turn) findWays() {
	queue := []cell{t.here}
	for next := 0; next < len(queue); next++ {
		place := queue[next]
		now := place == t.here
		for _, beside := range hexgrid.Neighbours(place) {
			if !t.isOpen(beside) {
				continue
			}
			turns := t.turns[place] + t.turnsInto(beside, now)
			if known, reached := t.turns[beside]; reached && known <= turns {
				continue
			}
			t.turns[beside] = turns
			t.first[beside] = beside
			if !now {
				t.first[beside] = t.first[place]
			}
			queue = append(queue, beside)
		}
	}
}

// isOpen: a way may lead there. Asteroids can be shot.
func (t *turn) isOpen(place cell) bool {
	entity := t.board.Type(place)
	return entity == "ASTEROID" || entity != "BLACKHOLE" && t.board.MayEnter(place)
}

func (t *turn) turnsInto(place cell, now bool) int {
	turns := 1 + t.shotsAt(place)
	if now && slices.Contains(t.struck, place) {
		turns += detour
	}
	return turns
}

// shotsAt is how many an asteroid takes, if there is one.
func (t *turn) shotsAt(place cell) int {
	health := t.board.Tile(place).Entity.Health
	if health == nil {
		return 0
	}
	return (*health + t.me.Power - 1) / t.me.Power
}

func (t *turn) step(place cell) aibg5.Action {
	if t.shotsAt(place) > 0 {
		return hexgrid.Attack(place)
	}
	return hexgrid.Move(place)
}

// anyAction is a legal one, where there is one.
func (t *turn) anyAction() aibg5.Action {
	for _, beside := range hexgrid.Neighbours(t.here) {
		if t.board.MayEnter(beside) {
			return hexgrid.Move(beside)
		}
	}
	if targets := t.board.Targets(t.here); len(targets) > 0 {
		return hexgrid.Attack(targets[0])
	}
	return hexgrid.Move(t.here)
}

type duellist struct {
	aibg5.Base
	schedule   schedule
	roundsLeft int
}

func (d *duellist) DoAction(playerIdx int, state aibg5.GameState, message *string) aibg5.Action {
	d.schedule.watch(state.Boss.BossAttackedTiles)
	d.roundsLeft = max(0, d.roundsLeft-1)
	return newTurn(hexgrid.NewBoard(&state), playerIdx, d.schedule.struck(), d.roundsLeft).best()
}

func main() {
	aibg5.Run("Duellist (Go)", "1", func(match *referee.Match) aibg5.Bot {
		rounds, told := match.Options["rounds"].(int)
		if !told {
			rounds = unsaidRounds
		}
		return &duellist{schedule: newSchedule(), roundsLeft: rounds}
	})
}
