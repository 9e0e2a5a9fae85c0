#include <referee/ants.h>
#include <stdlib.h>
#include <string.h>

// Left, right, above, below.
static const reantics_coord steps[4] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};

// The part of a state that matters for walking, collected once for many queries.
typedef struct {
    bool occupied[REANTICS_BOARD_LENGTH][REANTICS_BOARD_LENGTH];
    int costs[REANTICS_BOARD_LENGTH][REANTICS_BOARD_LENGTH];
} reantics_ground;

reantics_unit_stats reantics_stats_of(referee_match* match, reantics_ant_type type) {
    static const reantics_unit_stats STATS[] = {
        {2, 10, 4, 1, 0, false}, {2, 4, 0, 1, 1, false}, {3, 4, 2, 1, 2, true},
        {2, 8, 4, 1, 2, false},  {1, 2, 3, 3, 2, true},
    };
    reantics_unit_stats stats = STATS[type];
    int health;
    if (type == REANTICS_WORKER && referee_read_int(match, referee_member(match->options, "worker_health"), &health)) {
        stats.health = health;
    }
    return stats;
}

// What stands where.

bool reantics_legal_coord(reantics_coord tile) {
    return tile.x >= 0 && tile.x < REANTICS_BOARD_LENGTH && tile.y >= 0 && tile.y < REANTICS_BOARD_LENGTH;
}

// The ant of a player on a tile; NULL: there is none.
static reantics_ant* reantics_ant_of(const reantics_inventory* inventory, reantics_coord tile) {
    for (size_t i = 0; i < inventory->ants.count; ++i) {
        if (reantics_equal_coord(inventory->ants.items[i].coords, tile)) return &inventory->ants.items[i];
    }
    return NULL;
}

const reantics_ant* reantics_get_ant_at(const reantics_game_state* state, reantics_coord tile) {
    for (size_t i = 0; i < state->inventories.count; ++i) {
        const reantics_ant* ant = reantics_ant_of(&state->inventories.items[i], tile);
        if (ant) return ant;
    }
    return NULL;
}

const reantics_construction* reantics_get_constr_at(const reantics_game_state* state, reantics_coord tile) {
    for (size_t i = 0; i < state->inventories.count; ++i) {
        const reantics_construction_list constrs = state->inventories.items[i].constrs;
        for (size_t j = 0; j < constrs.count; ++j) {
            if (reantics_equal_coord(constrs.items[j].coords, tile)) return &constrs.items[j];
        }
    }
    return NULL;
}

reantics_inventory* reantics_get_curr_player_inventory(const reantics_game_state* state) {
    return &state->inventories.items[state->whose_turn];
}

reantics_inventory* reantics_get_enemy_inv(const reantics_game_state* state) {
    return &state->inventories.items[1 - state->whose_turn];
}

const reantics_ant* reantics_queen_of(const reantics_inventory* inventory) {
    for (size_t i = 0; i < inventory->ants.count; ++i) {
        if (inventory->ants.items[i].type == REANTICS_QUEEN) return &inventory->ants.items[i];
    }
    return NULL;
}

const reantics_construction* reantics_anthill_of(const reantics_inventory* inventory) {
    for (size_t i = 0; i < inventory->constrs.count; ++i) {
        if (inventory->constrs.items[i].type == REANTICS_ANTHILL) return &inventory->constrs.items[i];
    }
    return NULL;
}

const reantics_ant* reantics_get_curr_player_queen(const reantics_game_state* state) {
    return reantics_queen_of(reantics_get_curr_player_inventory(state));
}

static bool reantics_has_won(const reantics_game_state* state, int player) {
    const reantics_inventory* own = &state->inventories.items[player];
    const reantics_inventory* enemy = &state->inventories.items[1 - player];
    const reantics_construction* hill = reantics_anthill_of(enemy);
    if (!reantics_queen_of(enemy)) return true;
    if (hill && hill->capture_health.present && hill->capture_health.value <= 0) return true;
    return own->food_count >= REANTICS_FOOD_GOAL || (enemy->food_count == 0 && enemy->ants.count == 1);
}

int reantics_get_winner(const reantics_game_state* state) {
    if (reantics_has_won(state, state->whose_turn)) return 1;
    return reantics_has_won(state, 1 - state->whose_turn) ? 0 : -1;
}

// Distances and ways.

static reantics_coord reantics_beside(reantics_coord tile, reantics_coord step) {
    return (reantics_coord){tile.x + step.x, tile.y + step.y};
}

int reantics_approx_dist(reantics_coord one, reantics_coord other) {
    return abs(one.x - other.x) + abs(one.y - other.y);
}

reantics_coord_list reantics_list_adjacent(referee_match* match, reantics_coord tile) {
    reantics_coord_list found = reantics_new_coord_list(match, 4);
    if (!reantics_legal_coord(tile)) return found;
    for (int i = 0; i < 4; ++i) {
        const reantics_coord near = reantics_beside(tile, steps[i]);
        if (reantics_legal_coord(near)) found.items[found.count++] = near;
    }
    return found;
}

reantics_coord_list reantics_list_attackable(referee_match* match, reantics_coord tile, int reach) {
    reantics_coord_list found = reantics_new_coord_list(match, (size_t)(2 * reach + 1) * (size_t)(2 * reach + 1));
    for (int dx = -reach; dx <= reach; ++dx) {
        const int rest = reach - abs(dx);
        for (int dy = -rest; dy <= rest; ++dy) {
            const reantics_coord near = {tile.x + dx, tile.y + dy};
            if ((dx || dy) && reantics_legal_coord(near)) found.items[found.count++] = near;
        }
    }
    return found;
}

static reantics_ground reantics_ground_of(const reantics_game_state* state) {
    reantics_ground ground = {0};
    for (int x = 0; x < REANTICS_BOARD_LENGTH; ++x) {
        for (int y = 0; y < REANTICS_BOARD_LENGTH; ++y) ground.costs[x][y] = 1;
    }
    for (size_t i = 0; i < state->inventories.count; ++i) {
        const reantics_inventory* inventory = &state->inventories.items[i];
        for (size_t j = 0; j < inventory->ants.count; ++j) {
            const reantics_coord at = inventory->ants.items[j].coords;
            ground.occupied[at.x][at.y] = true;
        }
        for (size_t j = 0; j < inventory->constrs.count; ++j) {
            const reantics_coord at = inventory->constrs.items[j].coords;
            ground.costs[at.x][at.y] = inventory->constrs.items[j].movement_cost;
        }
    }
    return ground;
}

// What is left of the movement when a tile has been entered; negative: it cannot be.
static int reantics_left(const reantics_ground* ground, reantics_coord tile, int movement, bool ignores_grass) {
    if (!reantics_legal_coord(tile) || ground->occupied[tile.x][tile.y]) return -1;
    return movement - (ignores_grass ? 1 : ground->costs[tile.x][tile.y]);
}

// Doubles the room of a list that is full.
static void* reantics_roomier(referee_match* match, void* items, size_t count, size_t size) {
    if (count & (count - 1) || count == 1) return items;  // 0, 2, 4, 8, …: full
    void* more = referee_allocate(match, (count ? 2 * count : 2) * size);
    if (count) memcpy(more, items, count * size);
    return more;
}

static void reantics_keep_path(referee_match* match, reantics_path_list* found, const reantics_coord* way,
                               size_t length) {
    reantics_coord_list path = {referee_allocate(match, length * sizeof(reantics_coord)), length};
    memcpy(path.items, way, length * sizeof(reantics_coord));
    found->items = reantics_roomier(match, found->items, found->count, sizeof(reantics_coord_list));
    found->items[found->count++] = path;
}

// Adds every path that goes on from the end of `way`, which has room for all of it, to `found`.
static void reantics_add_paths(referee_match* match, const reantics_ground* ground, reantics_coord* way, size_t length,
                               int movement, bool ignores_grass, reantics_path_list* found) {
    if (movement <= 0) return;
    reantics_coord near[4];
    int left[4], count = 0;
    for (int i = 0; i < 4; ++i) {
        near[count] = reantics_beside(way[length - 1], steps[i]);
        left[count] = reantics_left(ground, near[count], movement, ignores_grass);
        if (left[count] < 0) continue;
        way[length] = near[count++];
        reantics_keep_path(match, found, way, length + 1);
    }
    for (int i = 0; i < count; ++i) {
        way[length] = near[i];
        reantics_add_paths(match, ground, way, length + 1, left[i], ignores_grass, found);
    }
    reantics_keep_path(match, found, way, length);
}

static reantics_path_list reantics_paths_from(referee_match* match, const reantics_ground* ground, reantics_coord tile,
                                              int movement, bool ignores_grass) {
    reantics_path_list found = {NULL, 0};
    if (movement <= 0) return found;
    reantics_coord* way = referee_allocate(match, (size_t)(movement + 2) * sizeof(reantics_coord));
    way[0] = tile;
    reantics_add_paths(match, ground, way, 1, movement, ignores_grass, &found);
    return found;
}

reantics_coord_list reantics_list_reachable_adjacent(referee_match* match, const reantics_game_state* state,
                                                     reantics_coord tile, int movement, bool ignores_grass) {
    const reantics_ground ground = reantics_ground_of(state);
    const reantics_coord_list near = reantics_list_adjacent(match, tile);
    reantics_coord_list found = {near.items, 0};
    for (size_t i = 0; i < near.count; ++i) {
        if (reantics_left(&ground, near.items[i], movement, ignores_grass) < 0) continue;
        found.items[found.count++] = near.items[i];
    }
    return found;
}

reantics_path_list reantics_list_all_movement_paths(referee_match* match, const reantics_game_state* state,
                                                    reantics_coord tile, int movement, bool ignores_grass) {
    const reantics_ground ground = reantics_ground_of(state);
    return reantics_paths_from(match, &ground, tile, movement, ignores_grass);
}

int reantics_steps_to_reach(const reantics_game_state* state, reantics_coord from, reantics_coord to) {
    if (!reantics_legal_coord(from) || !reantics_legal_coord(to)) return -1;
    const reantics_ground ground = reantics_ground_of(state);
    int costs[REANTICS_BOARD_LENGTH][REANTICS_BOARD_LENGTH] = {{0}};  // 1 more than the way costs; 0 = not found yet
    reantics_coord queue[REANTICS_BOARD_LENGTH * REANTICS_BOARD_LENGTH] = {from};
    costs[from.x][from.y] = 1;
    for (size_t next = 0, count = 1; next < count; ++next) {
        const reantics_coord here = queue[next];
        if (reantics_equal_coord(here, to)) break;
        for (int i = 0; i < 4; ++i) {
            const reantics_coord near = reantics_beside(here, steps[i]);
            if (!reantics_legal_coord(near)) continue;
            const int cost = costs[here.x][here.y] + ground.costs[near.x][near.y];
            int* known = &costs[near.x][near.y];
            if (!*known) queue[count++] = near;
            if (!*known || cost < *known) *known = cost;
        }
    }
    return costs[to.x][to.y] - 1;
}

// Writes the path into `path`, which has room for `movement` + 1 tiles; the distance that is left.
static int reantics_toward(const reantics_ground* ground, reantics_coord tile, reantics_coord goal, int movement,
                           bool ignores_grass, reantics_coord* path, size_t* length) {
    const int distance = reantics_approx_dist(tile, goal);
    int rest = distance;
    path[0] = tile;
    *length = 1;
    if (distance == 0 || movement <= 0) return rest;
    for (int i = 0; i < 4; ++i) {
        const reantics_coord near = reantics_beside(tile, steps[i]);
        const int left = reantics_left(ground, near, movement, ignores_grass);
        if (left < 0) continue;
        reantics_coord further[REANTICS_BOARD_LENGTH * REANTICS_BOARD_LENGTH];
        size_t count;
        const int remains = reantics_toward(ground, near, goal, left, ignores_grass, further, &count);
        if (remains >= rest) continue;
        rest = remains;
        memcpy(path + 1, further, count * sizeof(reantics_coord));
        *length = count + 1;
        if (rest == 0 || rest == distance - movement) break;
    }
    return rest;
}

reantics_coord_list reantics_create_path_toward(referee_match* match, const reantics_game_state* state,
                                                reantics_coord from, reantics_coord to, int movement) {
    const reantics_ground ground = reantics_ground_of(state);
    const reantics_ant* ant = reantics_get_ant_at(state, from);
    reantics_coord_list path = reantics_new_coord_list(match, (size_t)(movement > 0 ? movement : 0) + 1);
    reantics_toward(&ground, from, to, movement, ant && reantics_stats_of(match, ant->type).ignores_grass, path.items,
                    &path.count);
    return path;
}

// Moves.

bool reantics_is_path_ok_for_queen(reantics_coord_list path) {
    for (size_t i = 0; i < path.count; ++i) {
        if (path.items[i].y == 4 || path.items[i].y == 5) return false;
    }
    return true;
}

static void reantics_add_move(referee_match* match, reantics_move_list* moves, reantics_move move) {
    moves->items = reantics_roomier(match, moves->items, moves->count, sizeof(reantics_move));
    moves->items[moves->count++] = move;
}

static void reantics_add_movement_moves(referee_match* match, const reantics_game_state* state,
                                        reantics_move_list* moves) {
    const reantics_ground ground = reantics_ground_of(state);
    const reantics_ant_list ants = reantics_get_curr_player_inventory(state)->ants;
    for (size_t i = 0; i < ants.count; ++i) {
        const reantics_ant* ant = &ants.items[i];
        if (ant->has_moved) continue;
        const reantics_unit_stats stats = reantics_stats_of(match, ant->type);
        const reantics_path_list paths =
            reantics_paths_from(match, &ground, ant->coords, stats.movement, stats.ignores_grass);
        for (size_t j = 0; j < paths.count; ++j) {
            if (ant->type == REANTICS_QUEEN && !reantics_is_path_ok_for_queen(paths.items[j])) continue;
            reantics_add_move(match, moves,
                              (reantics_move){.move_type = REANTICS_MOVE_ANT, .coord_list = paths.items[j]});
        }
    }
}

static void reantics_add_build_moves(referee_match* match, const reantics_game_state* state,
                                     reantics_move_list* moves) {
    const reantics_inventory* own = reantics_get_curr_player_inventory(state);
    const reantics_construction* hill = reantics_anthill_of(own);
    if (!hill || reantics_get_ant_at(state, hill->coords)) return;
    for (reantics_ant_type type = REANTICS_WORKER; type <= REANTICS_R_SOLDIER; ++type) {
        if (own->food_count < reantics_stats_of(match, type).cost) continue;
        reantics_coord_list tiles = reantics_new_coord_list(match, 1);
        tiles.items[tiles.count++] = hill->coords;
        const reantics_maybe_ant_type kind = referee_some(type);
        reantics_add_move(match, moves,
                          (reantics_move){.move_type = REANTICS_BUILD, .coord_list = tiles, .build_type = kind});
    }
}

reantics_move_list reantics_list_all_movement_moves(referee_match* match, const reantics_game_state* state) {
    reantics_move_list moves = {NULL, 0};
    reantics_add_movement_moves(match, state, &moves);
    return moves;
}

reantics_move_list reantics_list_all_build_moves(referee_match* match, const reantics_game_state* state) {
    reantics_move_list moves = {NULL, 0};
    reantics_add_build_moves(match, state, &moves);
    return moves;
}

reantics_move_list reantics_list_all_legal_moves(referee_match* match, const reantics_game_state* state) {
    reantics_move_list moves = {NULL, 0};
    reantics_add_movement_moves(match, state, &moves);
    reantics_add_build_moves(match, state, &moves);
    reantics_add_move(match, &moves, (reantics_move){.move_type = REANTICS_END});
    return moves;
}

// Looking ahead.

reantics_game_state* reantics_clone(referee_match* match, const reantics_game_state* state) {
    reantics_game_state* copy = referee_allocate(match, sizeof *copy);
    const size_t count = state->inventories.count;
    *copy = (reantics_game_state){.phase = state->phase, .whose_turn = state->whose_turn};
    copy->inventories = (reantics_inventory_list){referee_allocate(match, count * sizeof(reantics_inventory)), count};
    for (size_t i = 0; i < count; ++i) {
        const reantics_inventory* from = &state->inventories.items[i];
        reantics_inventory* to = &copy->inventories.items[i];
        *to = *from;
        to->ants.items = referee_allocate(match, (from->ants.count + 1) * sizeof(reantics_ant));
        to->constrs.items = referee_allocate(match, (from->constrs.count + 1) * sizeof(reantics_construction));
        if (from->ants.count) memcpy(to->ants.items, from->ants.items, from->ants.count * sizeof(reantics_ant));
        if (from->constrs.count) {
            memcpy(to->constrs.items, from->constrs.items, from->constrs.count * sizeof(reantics_construction));
        }
    }
    return copy;
}

static int reantics_next_id(const reantics_game_state* state) {
    int most = -1;
    for (size_t i = 0; i < state->inventories.count; ++i) {
        const reantics_ant_list ants = state->inventories.items[i].ants;
        for (size_t j = 0; j < ants.count; ++j) {
            if (ants.items[j].id > most) most = ants.items[j].id;
        }
    }
    return most + 1;
}

static void reantics_carry(const reantics_game_state* state, reantics_inventory* own, reantics_ant* ant) {
    const reantics_construction* under = reantics_get_constr_at(state, ant->coords);
    if (!under) return;
    const bool is_home = under->type == REANTICS_ANTHILL || under->type == REANTICS_TUNNEL;
    if (ant->carrying && is_home && under->player.present && under->player.value == own->player) {
        ant->carrying = false;
        ++own->food_count;
    }
    if (!ant->carrying && ant->type == REANTICS_WORKER && under->type == REANTICS_FOOD) ant->carrying = true;
}

static void reantics_attack_from(referee_match* match, reantics_inventory* enemy, const reantics_ant* ant) {
    const reantics_unit_stats stats = reantics_stats_of(match, ant->type);
    const reantics_coord_list tiles = reantics_list_attackable(match, ant->coords, stats.range);
    for (size_t i = 0; i < tiles.count; ++i) {
        reantics_ant* target = reantics_ant_of(enemy, tiles.items[i]);
        if (!target) continue;
        target->health -= stats.attack;
        if (target->health <= 0) {
            const size_t behind = enemy->ants.count - 1 - (size_t)(target - enemy->ants.items);
            memmove(target, target + 1, behind * sizeof(reantics_ant));
            --enemy->ants.count;
        }
        return;
    }
}

reantics_game_state* reantics_get_next_state(referee_match* match, const reantics_game_state* state,
                                             const reantics_move* move) {
    reantics_game_state* after = reantics_clone(match, state);
    reantics_inventory* own = reantics_get_curr_player_inventory(after);
    reantics_inventory* enemy = reantics_get_enemy_inv(after);
    for (size_t i = 0; i < own->constrs.count; ++i) {
        reantics_construction* hill = &own->constrs.items[i];
        if (hill->type == REANTICS_ANTHILL && reantics_ant_of(enemy, hill->coords)) --hill->capture_health.value;
    }
    const reantics_coord_list path = move->coord_list;
    if (path.count == 0) return after;
    if (move->move_type == REANTICS_BUILD && move->build_type.present) {
        const reantics_ant_type type = move->build_type.value;
        const reantics_unit_stats stats = reantics_stats_of(match, type);
        const reantics_ant built = {.id = reantics_next_id(after),
                                    .coords = path.items[0],
                                    .type = type,
                                    .player = after->whose_turn,
                                    .health = stats.health};
        own->ants.items[own->ants.count++] = built;
        own->food_count -= stats.cost;
    } else if (move->move_type == REANTICS_MOVE_ANT) {
        reantics_ant* ant = reantics_ant_of(own, path.items[0]);
        if (!ant) return after;
        ant->coords = path.items[path.count - 1];
        ant->has_moved = false;
        reantics_carry(after, own, ant);
        reantics_attack_from(match, enemy, ant);
    }
    return after;
}

reantics_game_state* reantics_get_next_state_adversarial(referee_match* match, const reantics_game_state* state,
                                                         const reantics_move* move) {
    reantics_game_state* after = reantics_get_next_state(match, state, move);
    reantics_inventory* own = reantics_get_curr_player_inventory(after);
    if (move->move_type == REANTICS_MOVE_ANT && move->coord_list.count) {
        reantics_ant* ant = reantics_ant_of(own, move->coord_list.items[move->coord_list.count - 1]);
        if (ant) ant->has_moved = true;
    } else if (move->move_type == REANTICS_END) {
        for (size_t i = 0; i < own->ants.count; ++i) own->ants.items[i].has_moved = false;
        after->whose_turn = 1 - after->whose_turn;
    }
    return after;
}
