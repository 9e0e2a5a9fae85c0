// Your card game bot: it plays random legal actions as it stands; make it win. The types are in the package
// referee/cardgame.
package main

import (
	"math/rand/v2"

	referee "github.com/OWNER/referee/starter_kits/go"
	"github.com/OWNER/referee/starter_kits/go/cardgame"
)

type myBot struct {
	cardgame.Base
	luck      *rand.Rand
	powerUsed bool // in this turn; the state does not tell
}

func (b *myBot) Play(state cardgame.GameState) cardgame.Action {
	actions := b.legal(state)
	answer := actions[b.luck.IntN(len(actions))]
	b.powerUsed = answer.Action == cardgame.HeroPower || b.powerUsed && answer.Action != cardgame.EndTurn
	return answer
}

// legal gives all that may be done now. Target 0 is the enemy hero, 1 the first enemy minion.
func (b *myBot) legal(state cardgame.GameState) []cardgame.Action {
	own, enemies := len(state.PlayerTarget)-1, len(state.OpponentTarget)-1 // without the heroes
	actions := []cardgame.Action{{Action: cardgame.EndTurn}}
	add := func(action cardgame.ActionType, arguments ...int) {
		actions = append(actions, cardgame.Action{Action: action, Arguments: arguments})
	}
	if state.PlayerMana >= cardgame.HeroPowerCost && !b.powerUsed {
		add(cardgame.HeroPower)
	}
	for index, card := range state.PlayerHand {
		switch card := card.(type) {
		case cardgame.Minion:
			if card.Cost <= state.PlayerMana && own < cardgame.BoardSize {
				add(cardgame.PlaceMinion, index)
			}
		case cardgame.Spell:
			if card.Cost > state.PlayerMana {
				continue
			}
			if card.ID == cardgame.ArcaneShot || card.ID == cardgame.Fireball || card.ID == cardgame.KillCommand {
				for target := range enemies + 1 {
					add(cardgame.PlaySpell, index, target)
				}
			} else if enemies > 0 && (card.ID != cardgame.Hounds || own < cardgame.BoardSize) {
				add(cardgame.PlaySpell, index)
			}
		}
	}
	for source, attacker := range state.PlayerTarget {
		if minion, ok := attacker.(cardgame.Minion); ok && minion.CanAttack {
			for target := range enemies + 1 {
				add(cardgame.Attack, source, target)
			}
		}
	}
	return actions
}

func main() {
	cardgame.Run("My card game bot", "1", func(match *referee.Match) cardgame.Bot {
		return &myBot{luck: rand.New(rand.NewPCG(match.Seed, 0))}
	})
}
