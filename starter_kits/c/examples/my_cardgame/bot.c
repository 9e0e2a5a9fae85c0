// Your card game bot: it plays random legal actions as it stands; make it win. The types are in <referee/cardgame.h>.

#include <referee/cardgame.h>
#include <stdlib.h>

// What it remembers: `match->memory`, all zero when a match begins.
typedef struct {
    bool power_used;  // in this turn; the state does not tell
} my_bot;

// The same match gives the same luck.
static void begin(referee_match* match) { srand((unsigned)match->seed); }

// Actions that may be done; each is as good a draw as any other.
typedef struct {
    referee_match* match;
    cardgame_action drawn;
    int seen;
} random_draw;

static void add(random_draw* draw, cardgame_action_type action, int count, int first, int second) {
    if (rand() % ++draw->seen != 0) return;  // the n-th takes the place of the one drawn so far once in n
    draw->drawn = (cardgame_action){.action = action};
    if (count == 0) return;
    draw->drawn.arguments = cardgame_new_int_list(draw->match, 2);
    draw->drawn.arguments.items[0] = first;
    draw->drawn.arguments.items[1] = second;
    draw->drawn.arguments.count = (size_t)count;
}

static bool is_aimed(cardgame_card_id spell) {
    return spell == CARDGAME_ARCANE_SHOT || spell == CARDGAME_FIREBALL || spell == CARDGAME_KILL_COMMAND;
}

// Any of all that may be done now. Target 0 is the enemy hero, 1 the first enemy minion.
static cardgame_action any_legal(referee_match* match, const cardgame_game_state* state, bool power_used) {
    const int own = state->player_target.count - 1, enemies = state->opponent_target.count - 1;  // without the heroes
    random_draw draw = {.match = match};
    add(&draw, CARDGAME_END_TURN, 0, 0, 0);
    if (state->player_mana >= CARDGAME_HERO_POWER_COST && !power_used) add(&draw, CARDGAME_HERO_POWER, 0, 0, 0);
    for (int index = 0; index < (int)state->player_hand.count; ++index) {
        const cardgame_card* card = &state->player_hand.items[index];
        if (card->kind == CARDGAME_CARD_MINION) {
            if (card->minion.cost <= state->player_mana && own < CARDGAME_BOARD_SIZE)
                add(&draw, CARDGAME_PLACE_MINION, 1, index, 0);
        } else if (card->spell.cost <= state->player_mana) {
            if (is_aimed(card->spell.id)) {
                for (int target = 0; target <= enemies; ++target) add(&draw, CARDGAME_PLAY_SPELL, 2, index, target);
            } else if (enemies > 0 && (card->spell.id != CARDGAME_HOUNDS || own < CARDGAME_BOARD_SIZE)) {
                add(&draw, CARDGAME_PLAY_SPELL, 1, index, 0);
            }
        }
    }
    for (int source = 1; source <= own; ++source) {
        if (!state->player_target.items[source].minion.can_attack) continue;
        for (int target = 0; target <= enemies; ++target) add(&draw, CARDGAME_ATTACK, 2, source, target);
    }
    return draw.drawn;
}

static cardgame_action play(referee_match* match, const cardgame_game_state* state) {
    my_bot* self = match->memory;
    const cardgame_action answer = any_legal(match, state, self->power_used);
    self->power_used = answer.action == CARDGAME_HERO_POWER || (self->power_used && answer.action != CARDGAME_END_TURN);
    return answer;
}

int main(void) {
    return cardgame_run(
        &(cardgame_bot){.name = "My card game bot", .memory = sizeof(my_bot), .begin = begin, .play = play});
}
