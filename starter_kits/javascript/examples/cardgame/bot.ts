// Kills the enemy hero when it can; else it does what gains most, counted in minions, while anything gains. Spends its
// mana before it attacks: auras and charge help at once.

import {
    type Action, ARCANE_SHOT, ATTACK, BOARD_SIZE, type Card, CardGameBot, DEADLY_SHOT, END_TURN, FIREBALL,
    type GameState, HERO_POWER, HERO_POWER_COST, HERO_POWER_DAMAGE, HIGHMANE, HOUNDS, KILL_COMMAND, type Minion,
    PLACE_MINION, PLAY_SPELL, run, type Spell, type Target,
} from "referee-kit/cardgame";

// Points: what one of a minion's attack or health, its existence, one of the enemy hero's health, and a card in the
// hand for each mana that it costs are worth.
const [STRENGTH, EXISTENCE, HERO_HEALTH, MANA] = [10, 5, 4, 7];
const CUB_WORTH = 4 * STRENGTH + EXISTENCE;
const HOUND_WORTH = 2 * STRENGTH + EXISTENCE;

class Trader extends CardGameBot {
    private powerUsed = false; // in this turn; the state does not tell

    play(state: GameState): Action {
        const turn = new Turn(state, this.powerUsed);
        const answer = turn.lethal() ?? turn.best();
        this.powerUsed = answer.action === HERO_POWER || (this.powerUsed && answer.action !== END_TURN);
        return answer;
    }
}

interface Choice {
    /** in points */
    gain: number;
    answer: Action;
}

/** What hurts the enemy hero for mana. */
interface Burn {
    cost: number;
    damage: number;
    answer: Action;
}

/** What can be done now. */
class Turn {
    private readonly mana: number;
    private readonly hasPower: boolean;
    private readonly heroHealth: number;
    private readonly hand: readonly Card[];
    private readonly own: readonly Minion[];
    private readonly enemies: readonly Minion[];
    private readonly room: number;

    constructor(state: GameState, powerUsed: boolean) {
        this.mana = state.player_mana;
        this.hasPower = !powerUsed && this.mana >= HERO_POWER_COST;
        this.heroHealth = state.opponent_health;
        this.hand = state.player_hand;
        this.own = minions(state.player_target);
        this.enemies = minions(state.opponent_target);
        this.room = BOARD_SIZE - this.own.length;
    }

    /** The next step of a turn that kills for certain: what costs mana first, then all attacks. */
    lethal(): Action | undefined {
        const attackers = this.own.filter((minion) => minion.can_attack);
        const missing = this.heroHealth - sum(attackers, (minion) => minion.atk);
        if (missing <= 0) return { action: ATTACK, arguments: [attackers[0].zone_position, 0] };
        const burn = [...this.burn()];
        for (let chosen = 1; chosen < 1 << burn.length; ++chosen) { // a bit for each
            const parts = burn.filter((_, bit) => (chosen >> bit) & 1);
            if (sum(parts, (part) => part.cost) <= this.mana && sum(parts, (part) => part.damage) >= missing) {
                return parts[0].answer;
            }
        }
        return undefined;
    }

    private *burn(): Generator<Burn> {
        if (this.hasPower) yield { cost: HERO_POWER_COST, damage: HERO_POWER_DAMAGE, answer: { action: HERO_POWER } };
        for (const [index, card] of this.hand.entries()) {
            const damage = card.type === "spell" ? this.damage(card) : 0;
            if (damage > 0) yield { cost: card.cost, damage, answer: { action: PLAY_SPELL, arguments: [index, 0] } };
        }
    }

    /** What gains most, the first of several. */
    best(): Action {
        for (const choices of [this.purchases(), this.attacks()]) {
            let best: Choice = { gain: 0, answer: { action: END_TURN } };
            for (const choice of choices) {
                if (choice.gain > best.gain) best = choice;
            }
            if (best.gain > 0) return best.answer;
        }
        return { action: END_TURN };
    }

    /** All that the mana buys. */
    private *purchases(): Generator<Choice> {
        if (this.hasPower) yield { gain: HERO_POWER_DAMAGE * HERO_HEALTH, answer: { action: HERO_POWER } };
        for (const [index, card] of this.hand.entries()) {
            if (card.cost > this.mana) continue;
            if (card.type === "spell") yield* this.castings(card, index);
            else if (this.room > 0) {
                const answer = { action: PLACE_MINION, arguments: [index] };
                yield { gain: worth(card) - MANA * card.cost, answer };
            }
        }
    }

    private *castings(spell: Spell, index: number): Generator<Choice> {
        const price = MANA * spell.cost;
        const count = this.enemies.length;
        const damage = this.damage(spell);
        if (damage > 0) {
            for (const enemy of this.enemies) {
                const answer = { action: PLAY_SPELL, arguments: [index, enemy.zone_position] };
                yield { gain: hurt(enemy, damage) - price, answer };
            }
        } else if (spell.id === DEADLY_SHOT && count > 0) { // it kills any of them
            const gain = Math.floor(sum(this.enemies, loss) / count) - price;
            yield { gain, answer: { action: PLAY_SPELL, arguments: [index] } };
        } else if (spell.id === HOUNDS && count > 0 && this.room > 0) {
            const gain = Math.min(count, this.room) * HOUND_WORTH - price;
            yield { gain, answer: { action: PLAY_SPELL, arguments: [index] } };
        }
    }

    private *attacks(): Generator<Choice> {
        for (const minion of this.own) {
            if (!minion.can_attack) continue;
            const source = minion.zone_position;
            yield { gain: minion.atk * HERO_HEALTH, answer: { action: ATTACK, arguments: [source, 0] } };
            for (const enemy of this.enemies) {
                const gain = struck(enemy, minion) - struck(minion, enemy);
                yield { gain, answer: { action: ATTACK, arguments: [source, enemy.zone_position] } };
            }
        }
    }

    /** What the spell does to one target; 0 where it is another kind of spell. */
    private damage(spell: Spell): number {
        switch (spell.id) {
            case ARCANE_SHOT:
                return 2;
            case FIREBALL:
                return 6;
            case KILL_COMMAND:
                return this.own.length > 0 ? 5 : 3;
        }
        return 0;
    }
}

function minions(targets: readonly Target[]): Minion[] {
    return targets.filter((target): target is Minion => target.type === "minion");
}

function sum<Item>(items: readonly Item[], value: (item: Item) => number): number {
    return items.reduce((total, item) => total + value(item), 0);
}

function worth(minion: Minion): number {
    return STRENGTH * (minion.atk + minion.health) + EXISTENCE;
}

/** What its owner loses when it dies: of a Highmane two cubs are left. */
function loss(minion: Minion): number {
    return worth(minion) - (minion.id === HIGHMANE ? 2 * CUB_WORTH : 0);
}

/** What its owner loses by so much damage. */
function hurt(minion: Minion, damage: number): number {
    return damage >= minion.health ? loss(minion) : STRENGTH * damage;
}

/** What its owner loses in a fight. */
function struck(minion: Minion, by: Minion): number {
    return by.poisonous ? loss(minion) : hurt(minion, by.atk);
}

run(Trader);
