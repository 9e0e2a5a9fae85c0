// A bot to fill in. It plays random legal actions as it stands; make it win. `this.match.random` is seeded: the same match
// gives the same luck.

import {
  type Action,
  ARCANE_SHOT,
  ATTACK,
  BOARD_SIZE,
  CardGameBot,
  END_TURN,
  FIREBALL,
  type GameState,
  HERO_POWER,
  HERO_POWER_COST,
  HOUNDS,
  KILL_COMMAND,
  PLACE_MINION,
  PLAY_SPELL,
  run,
} from "referee-kit/cardgame";

class MyBot extends CardGameBot {
  private powerUsed = false; // in this turn; the state does not tell

  play(state: GameState): Action {
    const actions = [...this.legal(state)];
    const answer = actions[Math.floor(this.match.random() * actions.length)];
    this.powerUsed = answer.action === HERO_POWER || (this.powerUsed && answer.action !== END_TURN);
    return answer;
  }

  /** All that may be done now. Target 0 is the enemy hero, 1 the first enemy minion. */
  private *legal(state: GameState): Generator<Action> {
    const own = state.player_target.length - 1; // without the hero
    const enemies = state.opponent_target.length - 1;
    const targets = Array.from(state.opponent_target, (_, target) => target);
    yield { action: END_TURN };
    if (state.player_mana >= HERO_POWER_COST && !this.powerUsed) yield { action: HERO_POWER };
    for (const [index, card] of state.player_hand.entries()) {
      if (card.cost > state.player_mana) continue;
      if (card.type === "minion") {
        if (own < BOARD_SIZE) yield { action: PLACE_MINION, arguments: [index] };
      } else if ([ARCANE_SHOT, FIREBALL, KILL_COMMAND].includes(card.id)) {
        for (const target of targets) yield { action: PLAY_SPELL, arguments: [index, target] };
      } else if (enemies > 0 && (card.id !== HOUNDS || own < BOARD_SIZE)) {
        yield { action: PLAY_SPELL, arguments: [index] };
      }
    }
    for (const [source, minion] of state.player_target.entries()) {
      if (minion.type !== "minion" || !minion.can_attack) continue;
      for (const target of targets) yield { action: ATTACK, arguments: [source, target] };
    }
  }
}

run(MyBot);
