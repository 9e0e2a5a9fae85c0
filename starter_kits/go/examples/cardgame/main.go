// Trader kills the enemy hero when it can; else it does what gains most, counted in minions, while anything gains. It
// spends its mana before it attacks: auras and charge help at once.
package main

import (
	"referee.internal/referee"
	. "referee.internal/referee/cardgame"
)

// Points: what one of a minion's attack or health, its existence, one of the enemy hero's health, and a card in the
// hand for each mana that it costs are worth.
const (
	strength   = 10
	existence  = 5
	heroHealth = 4
	mana       = 7
	cubWorth   = 4*strength + existence
	houndWorth = 2*strength + existence
)

type trader struct {
	Base
	powerUsed bool // in this turn; the state does not tell
}

func (t *trader) Play(state GameState) Action {
	turn := newTurn(state, t.powerUsed)
	answer, kills := turn.lethal()
	if !kills {
		answer = turn.best()
	}
	t.powerUsed = answer.Action == HERO_POWER || t.powerUsed && answer.Action != END_TURN
	return answer
}

// choice is an action and what it gains, in points.
type choice struct {
	gain   int
	answer Action
}

// burn hurts the enemy hero for mana.
type burn struct {
	cost, damage int
	answer       Action
}

// turn is what can be done now.
type turn struct {
	mana         int
	hasPower     bool
	heroHealth   int
	hand         []Card
	own, enemies []Minion
	room         int
}

func newTurn(state GameState, powerUsed bool) turn {
	own := minions(state.PlayerTarget)
	return turn{
		mana:       state.PlayerMana,
		hasPower:   !powerUsed && state.PlayerMana >= HERO_POWER_COST,
		heroHealth: state.OpponentHealth,
		hand:       state.PlayerHand,
		own:        own,
		enemies:    minions(state.OpponentTarget),
		room:       BOARD_SIZE - len(own),
	}
}

// lethal is the next step of a turn that kills for certain: what costs mana first, then all attacks.
func (t *turn) lethal() (answer Action, kills bool) {
	missing, attacker := t.heroHealth, 0
	for _, minion := range t.own {
		if minion.CanAttack {
			missing -= minion.Atk
			if attacker == 0 {
				attacker = minion.ZonePosition
			}
		}
	}
	if missing <= 0 {
		return action(ATTACK, attacker, 0), true
	}
	burn := t.burn()
	for chosen := 1; chosen < 1<<len(burn); chosen++ { // a bit for each
		cost, damage, first := 0, 0, -1
		for i, part := range burn {
			if chosen>>i&1 == 0 {
				continue
			}
			cost += part.cost
			damage += part.damage
			if first < 0 {
				first = i
			}
		}
		if cost <= t.mana && damage >= missing {
			return burn[first].answer, true
		}
	}
	return Action{}, false
}

func (t *turn) burn() (found []burn) {
	if t.hasPower {
		found = append(found, burn{HERO_POWER_COST, HERO_POWER_DAMAGE, action(HERO_POWER)})
	}
	for index, card := range t.hand {
		if spell, ok := card.(Spell); ok && t.damage(spell) > 0 {
			found = append(found, burn{spell.Cost, t.damage(spell), action(PLAY_SPELL, index, 0)})
		}
	}
	return found
}

// best is what gains most, the first of several.
func (t *turn) best() Action {
	for _, choices := range [][]choice{t.purchases(), t.attacks()} {
		best := choice{0, action(END_TURN)}
		for _, choice := range choices {
			if choice.gain > best.gain {
				best = choice
			}
		}
		if best.gain > 0 {
			return best.answer
		}
	}
	return action(END_TURN)
}

// purchases are all that the mana buys.
func (t *turn) purchases() (found []choice) {
	if t.hasPower {
		found = append(found, choice{HERO_POWER_DAMAGE * heroHealth, action(HERO_POWER)})
	}
	for index, card := range t.hand {
		switch card := card.(type) {
		case Minion:
			if card.Cost <= t.mana && t.room > 0 {
				found = append(found, choice{worth(card) - mana*card.Cost, action(PLACE_MINION, index)})
			}
		case Spell:
			if card.Cost <= t.mana {
				found = append(found, t.castings(card, index)...)
			}
		}
	}
	return found
}

func (t *turn) castings(spell Spell, index int) (found []choice) {
	price, count := mana*spell.Cost, len(t.enemies)
	if damage := t.damage(spell); damage > 0 {
		for _, enemy := range t.enemies {
			answer := action(PLAY_SPELL, index, enemy.ZonePosition)
			found = append(found, choice{hurt(enemy, damage) - price, answer})
		}
	} else if spell.ID == DEADLY_SHOT && count > 0 { // it kills any of them
		all := 0
		for _, enemy := range t.enemies {
			all += loss(enemy)
		}
		found = append(found, choice{all/count - price, action(PLAY_SPELL, index)})
	} else if spell.ID == HOUNDS && count > 0 && t.room > 0 {
		found = append(found, choice{min(count, t.room)*houndWorth - price, action(PLAY_SPELL, index)})
	}
	return found
}

func (t *turn) attacks() (found []choice) {
	for _, minion := range t.own {
		if !minion.CanAttack {
			continue
		}
		source := minion.ZonePosition
		found = append(found, choice{minion.Atk * heroHealth, action(ATTACK, source, 0)})
		for _, enemy := range t.enemies {
			gain := struck(enemy, minion) - struck(minion, enemy)
			found = append(found, choice{gain, action(ATTACK, source, enemy.ZonePosition)})
		}
	}
	return found
}

// damage is what the spell does to one target; 0 where it is another kind of spell.
func (t *turn) damage(spell Spell) int {
	switch spell.ID {
	case ARCANE_SHOT:
		return 2
	case FIREBALL:
		return 6
	case KILL_COMMAND:
		if len(t.own) > 0 {
			return 5
		}
		return 3
	}
	return 0
}

func action(action int, arguments ...int) Action {
	return Action{Action: action, Arguments: arguments}
}

func minions(targets []Target) (found []Minion) {
	for _, target := range targets {
		if minion, ok := target.(Minion); ok {
			found = append(found, minion)
		}
	}
	return found
}

func worth(minion Minion) int {
	return strength*(minion.Atk+minion.Health) + existence
}

// loss is what its owner loses when it dies: of a Highmane two cubs are left.
func loss(minion Minion) int {
	if minion.ID == HIGHMANE {
		return worth(minion) - 2*cubWorth
	}
	return worth(minion)
}

// hurt is what its owner loses by so much damage.
func hurt(minion Minion, damage int) int {
	if damage >= minion.Health {
		return loss(minion)
	}
	return strength * damage
}

// struck is what its owner loses in a fight.
func struck(minion, by Minion) int {
	if by.Poisonous {
		return loss(minion)
	}
	return hurt(minion, by.Atk)
}

func main() {
	Run("Trader (Go)", "1", func(match *referee.Match) Bot { return &trader{} })
}
