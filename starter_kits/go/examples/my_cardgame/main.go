// Your card game bot: it plays random legal actions as it stands; make it win. The types are in the package
// referee/cardgame.
package main

import (
	"math/rand/v2"

	"referee.internal/referee"
	. "referee.internal/referee/cardgame"
)

type myBot struct {
	Base
	luck      *rand.Rand
	powerUsed bool // in this turn; the state does not tell
}

func (b *myBot) Play(state GameState) Action {
	actions := b.legal(state)
	answer := actions[b.luck.IntN(len(actions))]
	b.powerUsed = answer.Action == HERO_POWER || b.powerUsed && answer.Action != END_TURN
	return answer
}

// legal gives all that may be done now. Target 0 is the enemy hero, 1 the first enemy minion.
func (b *myBot) legal(state GameState) []Action {
	own, enemies := len(state.PlayerTarget)-1, len(state.OpponentTarget)-1 // without the heroes
	actions := []Action{{Action: END_TURN}}
	add := func(action int, arguments ...int) {
		actions = append(actions, Action{Action: action, Arguments: arguments})
	}
	if state.PlayerMana >= HERO_POWER_COST && !b.powerUsed {
		add(HERO_POWER)
	}
	for index, card := range state.PlayerHand {
		switch card := card.(type) {
		case Minion:
			if card.Cost <= state.PlayerMana && own < BOARD_SIZE {
				add(PLACE_MINION, index)
			}
		case Spell:
			if card.Cost > state.PlayerMana {
				continue
			}
			if card.ID == ARCANE_SHOT || card.ID == FIREBALL || card.ID == KILL_COMMAND {
				for target := range enemies + 1 {
					add(PLAY_SPELL, index, target)
				}
			} else if enemies > 0 && (card.ID != HOUNDS || own < BOARD_SIZE) {
				add(PLAY_SPELL, index)
			}
		}
	}
	for source, attacker := range state.PlayerTarget {
		if minion, ok := attacker.(Minion); ok && minion.CanAttack {
			for target := range enemies + 1 {
				add(ATTACK, source, target)
			}
		}
	}
	return actions
}

func main() {
	Run("My card game bot", "1", func(match *referee.Match) Bot {
		return &myBot{luck: rand.New(rand.NewPCG(match.Seed, 0))}
	})
}
