// Kills the enemy hero when it can; else it does what gains most, counted in minions, while anything gains. Spends its
// mana before it attacks: auras and charge help at once.

#include <referee/cardgame.h>

// Points: what one of a minion's attack or health, its existence, one of the enemy hero's health, and a card in the
// hand for each mana that it costs are worth.
enum { STRENGTH = 10, EXISTENCE = 5, HERO_HEALTH = 4, MANA = 7 };
enum { CUB_WORTH = 4 * STRENGTH + EXISTENCE, HOUND_WORTH = 2 * STRENGTH + EXISTENCE };

typedef struct {
    bool powerUsed;  // in this turn; the state does not tell
} Trader;

// An action and what it gains, in points. `count` is how many of the arguments there are.
typedef struct {
    int gain;
    int action;
    int count, first, second;
} Choice;

// What hurts the enemy hero for mana.
typedef struct {
    int cost, damage;
    Choice choice;
} Burn;

typedef struct {
    const cardgame_minion* items[CARDGAME_BOARD_SIZE];
    int count;
} Minions;

// What can be done now.
typedef struct {
    const cardgame_game_state* state;
    bool hasPower;
    Minions own, enemies;
    int room;
} Turn;

static Minions minionsOf(cardgame_target_list targets) {
    Minions found = {.count = 0};
    for (size_t i = 0; i < targets.count && found.count < CARDGAME_BOARD_SIZE; ++i) {
        if (targets.items[i].is == CARDGAME_TARGET_MINION) found.items[found.count++] = &targets.items[i].minion;
    }
    return found;
}

static int worth(const cardgame_minion* minion) { return STRENGTH * (minion->atk + minion->health) + EXISTENCE; }

// What its owner loses when it dies: of a Highmane two cubs are left.
static int loss(const cardgame_minion* minion) {
    return worth(minion) - (minion->id == CARDGAME_HIGHMANE ? 2 * CUB_WORTH : 0);
}

// What its owner loses by so much damage.
static int hurt(const cardgame_minion* minion, int damage) {
    return damage >= minion->health ? loss(minion) : STRENGTH * damage;
}

// What its owner loses in a fight.
static int struck(const cardgame_minion* minion, const cardgame_minion* by) {
    return by->poisonous ? loss(minion) : hurt(minion, by->atk);
}

// What the spell does to one target; 0 where it is another kind of card.
static int damageOf(const Turn* turn, const cardgame_card* card) {
    if (card->is != CARDGAME_CARD_SPELL) return 0;
    switch (card->spell.id) {
        case CARDGAME_ARCANE_SHOT:
            return 2;
        case CARDGAME_FIREBALL:
            return 6;
        case CARDGAME_KILL_COMMAND:
            return turn->own.count > 0 ? 5 : 3;
        default:
            return 0;
    }
}

static int findBurn(const Turn* turn, Burn found[CARDGAME_HAND_SIZE + 1]) {
    int count = 0;
    if (turn->hasPower)
        found[count++] = (Burn){CARDGAME_HERO_POWER_COST, CARDGAME_HERO_POWER_DAMAGE, {.action = CARDGAME_HERO_POWER}};
    for (int index = 0; index < (int)turn->state->player_hand.count && count <= CARDGAME_HAND_SIZE; ++index) {
        const cardgame_card* card = &turn->state->player_hand.items[index];
        const int damage = damageOf(turn, card);
        if (damage > 0) found[count++] = (Burn){card->spell.cost, damage, {0, CARDGAME_PLAY_SPELL, 2, index, 0}};
    }
    return count;
}

// The next step of a turn that kills for certain: what costs mana first, then all attacks. False: there is none.
static bool findLethal(const Turn* turn, Choice* next) {
    int missing = turn->state->opponent_health, attacker = 0;
    for (int i = 0; i < turn->own.count; ++i) {
        if (!turn->own.items[i]->can_attack) continue;
        missing -= turn->own.items[i]->atk;
        if (attacker == 0) attacker = i + 1;
    }
    *next = (Choice){0, CARDGAME_ATTACK, 2, attacker, 0};
    if (missing <= 0) return true;
    Burn burn[CARDGAME_HAND_SIZE + 1];
    const int count = findBurn(turn, burn);
    for (int chosen = 1; chosen < 1 << count; ++chosen) {  // a bit for each
        int cost = 0, damage = 0;
        for (int i = count - 1; i >= 0; --i) {
            if ((chosen >> i & 1) == 0) continue;
            cost += burn[i].cost;
            damage += burn[i].damage;
            *next = burn[i].choice;
        }
        if (cost <= turn->state->player_mana && damage >= missing) return true;
    }
    return false;
}

// The first of those that gain most stays.
static void consider(Choice* best, Choice choice) {
    if (choice.gain > best->gain) *best = choice;
}

static void considerSpell(const Turn* turn, int index, Choice* best) {
    const cardgame_card* card = &turn->state->player_hand.items[index];
    const int price = MANA * card->spell.cost, damage = damageOf(turn, card), count = turn->enemies.count;
    if (damage > 0) {
        for (int i = 0; i < count; ++i) {
            const int gain = hurt(turn->enemies.items[i], damage) - price;
            consider(best, (Choice){gain, CARDGAME_PLAY_SPELL, 2, index, i + 1});
        }
    } else if (card->spell.id == CARDGAME_DEADLY_SHOT && count > 0) {  // it kills any of them
        int all = 0;
        for (int i = 0; i < count; ++i) all += loss(turn->enemies.items[i]);
        consider(best, (Choice){all / count - price, CARDGAME_PLAY_SPELL, 1, index, 0});
    } else if (card->spell.id == CARDGAME_HOUNDS && count > 0 && turn->room > 0) {
        const int hounds = count < turn->room ? count : turn->room;
        consider(best, (Choice){hounds * HOUND_WORTH - price, CARDGAME_PLAY_SPELL, 1, index, 0});
    }
}

// All that the mana buys.
static void considerPurchases(const Turn* turn, Choice* best) {
    const int mana = turn->state->player_mana;
    if (turn->hasPower)
        consider(best, (Choice){CARDGAME_HERO_POWER_DAMAGE * HERO_HEALTH, CARDGAME_HERO_POWER, 0, 0, 0});
    for (int index = 0; index < (int)turn->state->player_hand.count; ++index) {
        const cardgame_card* card = &turn->state->player_hand.items[index];
        if (card->is == CARDGAME_CARD_SPELL && card->spell.cost <= mana) considerSpell(turn, index, best);
        if (card->is == CARDGAME_CARD_MINION && card->minion.cost <= mana && turn->room > 0) {
            const int gain = worth(&card->minion) - MANA * card->minion.cost;
            consider(best, (Choice){gain, CARDGAME_PLACE_MINION, 1, index, 0});
        }
    }
}

static void considerAttacks(const Turn* turn, Choice* best) {
    for (int i = 0; i < turn->own.count; ++i) {
        const cardgame_minion* minion = turn->own.items[i];
        if (!minion->can_attack) continue;
        consider(best, (Choice){minion->atk * HERO_HEALTH, CARDGAME_ATTACK, 2, i + 1, 0});
        for (int j = 0; j < turn->enemies.count; ++j) {
            const cardgame_minion* enemy = turn->enemies.items[j];
            consider(best, (Choice){struck(enemy, minion) - struck(minion, enemy), CARDGAME_ATTACK, 2, i + 1, j + 1});
        }
    }
}

static Choice choose(const Turn* turn) {
    Choice best;
    if (findLethal(turn, &best)) return best;
    best = (Choice){.action = CARDGAME_END_TURN};
    considerPurchases(turn, &best);
    if (best.gain == 0) considerAttacks(turn, &best);
    return best;
}

static cardgame_action play(referee_match* match, const cardgame_game_state* state) {
    Trader* self = match->memory;
    Turn turn = {.state = state, .hasPower = !self->powerUsed && state->player_mana >= CARDGAME_HERO_POWER_COST};
    turn.own = minionsOf(state->player_target);
    turn.enemies = minionsOf(state->opponent_target);
    turn.room = CARDGAME_BOARD_SIZE - turn.own.count;
    const Choice choice = choose(&turn);
    self->powerUsed = choice.action == CARDGAME_HERO_POWER || (self->powerUsed && choice.action != CARDGAME_END_TURN);
    cardgame_action answer = {.action = choice.action};
    if (choice.count > 0) {
        answer.arguments = cardgame_new_int_list(match, 2);
        answer.arguments.items[0] = choice.first;
        answer.arguments.items[1] = choice.second;
        answer.arguments.count = choice.count;
    }
    return answer;
}

int main(void) { return cardgame_run(&(cardgame_bot){.name = "Trader (C)", .memory = sizeof(Trader), .play = play}); }
