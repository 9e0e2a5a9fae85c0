// Your ReAntics bot: it plays random legal moves as it stands; make it win. It places its pieces anywhere, and any ant
// takes any step until the turn ends. The types are in <referee/reantics.h>.

#include <referee/reantics.h>
#include <stdlib.h>

// The same match gives the same luck.
static void begin(referee_match* match) { srand((unsigned)match->seed); }

static bool is_free(const reantics_game_state* state, reantics_coord tile) {
    for (size_t i = 0; i < state->inventories.count; ++i) {
        const reantics_construction_list constrs = state->inventories.items[i].constrs;
        for (size_t j = 0; j < constrs.count; ++j) {
            if (reantics_equal_coord(constrs.items[j].coords, tile)) return false;
        }
    }
    return true;
}

// The queen stays on our side, and every ant on the board and off the others' tiles.
static bool may_enter(const reantics_game_state* state, const reantics_ant* ant, reantics_coord tile) {
    const int last = ant->type == REANTICS_QUEEN ? 3 : REANTICS_BOARD_LENGTH - 1;
    for (size_t i = 0; i < state->inventories.count; ++i) {
        const reantics_ant_list ants = state->inventories.items[i].ants;
        for (size_t j = 0; j < ants.count; ++j) {
            if (reantics_equal_coord(ants.items[j].coords, tile)) return false;
        }
    }
    return tile.x >= 0 && tile.x < REANTICS_BOARD_LENGTH && tile.y >= 0 && tile.y <= last;
}

// The anthill, the tunnel and nine grass on our side; later two foods on the enemy's.
static reantics_coord_list get_placement(referee_match* match, const reantics_game_state* current_state) {
    const int top = current_state->phase == REANTICS_SETUP_PHASE_1 ? 0 : 6;
    reantics_coord_list tiles = reantics_new_coord_list(match, 40);
    for (int i = 0; i < 40; ++i) {
        const reantics_coord tile = {i % 10, top + i / 10};
        if (!is_free(current_state, tile)) continue;
        const size_t place = (size_t)rand() % ++tiles.count;  // a shuffle: it goes anywhere among those before it
        tiles.items[tiles.count - 1] = tiles.items[place];
        tiles.items[place] = tile;
    }
    return tiles;  // the first eleven count, later the first two
}

static reantics_move get_move(referee_match* match, const reantics_game_state* current_state) {
    // Move an ant: `reantics_coord_list path = reantics_new_coord_list(match, 3);`, fill it,
    // (reantics_move){REANTICS_MOVE_ANT, .coord_list = path}. Build one: a list that holds the anthill alone,
    // (reantics_move){REANTICS_BUILD, .coord_list = hill, .build_type = referee_some(REANTICS_WORKER)}.
    const reantics_ant_list ants = current_state->inventories.items[current_state->whose_turn].ants;
    reantics_coord_list steps = reantics_new_coord_list(match, 2 * 4 * ants.count);  // pairs: from, to
    for (size_t i = 0; i < ants.count; ++i) {
        const reantics_coord from = ants.items[i].coords;
        const reantics_coord around[] = {
            {from.x - 1, from.y}, {from.x + 1, from.y}, {from.x, from.y - 1}, {from.x, from.y + 1}};
        for (int j = 0; j < 4; ++j) {
            if (ants.items[i].has_moved || !may_enter(current_state, &ants.items[i], around[j])) continue;
            steps.items[steps.count++] = from;
            steps.items[steps.count++] = around[j];
        }
    }
    const size_t step = (size_t)rand() % (steps.count / 2 + 1);
    if (step == steps.count / 2) return (reantics_move){.move_type = REANTICS_END};
    return (reantics_move){.move_type = REANTICS_MOVE_ANT, .coord_list = {&steps.items[2 * step], 2}};
}

static reantics_coord get_attack(referee_match* match, const reantics_game_state* current_state,
                                 const reantics_ant* attacking_ant, reantics_coord_list enemy_locations) {
    (void)match, (void)current_state, (void)attacking_ant;
    return enemy_locations.items[(size_t)rand() % enemy_locations.count];
}

int main(void) {
    return reantics_run(&(reantics_bot){.name = "My ReAntics bot",
                                        .begin = begin,
                                        .get_placement = get_placement,
                                        .get_move = get_move,
                                        .get_attack = get_attack});
}
