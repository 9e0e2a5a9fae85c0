#include <referee/hexgrid.h>
#include <stdio.h>
#include <stdlib.h>

const aibg5_cell AIBG5_CENTRE = {0, 0};

const aibg5_cell AIBG5_DIRECTIONS[6] = {{1, 0}, {0, 1}, {-1, 1}, {-1, 0}, {0, -1}, {1, -1}};

bool aibg5_equal_cell(aibg5_cell one, aibg5_cell other) { return one.q == other.q && one.r == other.r; }

aibg5_cell aibg5_plus(aibg5_cell cell, aibg5_cell way) { return (aibg5_cell){cell.q + way.q, cell.r + way.r}; }

aibg5_cell_list aibg5_new_cells(referee_match* match, int most) {
    return (aibg5_cell_list){referee_allocate(match, (size_t)most * sizeof(aibg5_cell)), 0};
}

bool aibg5_contains(aibg5_cell_list cells, aibg5_cell cell) {
    for (size_t i = 0; i < cells.count; ++i) {
        if (aibg5_equal_cell(cells.items[i], cell)) return true;
    }
    return false;
}

int aibg5_distance(aibg5_cell one, aibg5_cell other) {
    const int q = abs(other.q - one.q), r = abs(other.r - one.r), s = abs(other.q - one.q + other.r - one.r);
    return q > r ? (q > s ? q : s) : (r > s ? r : s);
}

bool aibg5_is_on_board(aibg5_cell cell) { return aibg5_distance(AIBG5_CENTRE, cell) <= AIBG5_RADIUS; }

aibg5_cell_list aibg5_within(referee_match* match, aibg5_cell middle, int steps) {
    aibg5_cell_list cells = aibg5_new_cells(match, steps < 0 ? 0 : (2 * steps + 1) * (2 * steps + 1));
    for (int r = middle.r - steps; r <= middle.r + steps; ++r) {
        for (int q = middle.q - steps; q <= middle.q + steps; ++q) {
            const aibg5_cell cell = {q, r};
            if (aibg5_is_on_board(cell) && aibg5_distance(middle, cell) <= steps) cells.items[cells.count++] = cell;
        }
    }
    return cells;
}

aibg5_cell_list aibg5_neighbours(referee_match* match, aibg5_cell cell) {
    aibg5_cell_list cells = aibg5_new_cells(match, 6);
    for (int i = 0; i < 6; ++i) {
        const aibg5_cell beside = aibg5_plus(cell, AIBG5_DIRECTIONS[i]);
        if (aibg5_is_on_board(beside)) cells.items[cells.count++] = beside;
    }
    return cells;
}

aibg5_cell_list aibg5_ring(referee_match* match, int radius) {
    aibg5_cell_list cells = aibg5_new_cells(match, radius < 0 ? 0 : 6 * radius + 1);
    aibg5_cell cell = {0, -radius};
    if (radius == 0) cells.items[cells.count++] = cell;
    for (int i = 0; i < 6; ++i) {
        for (int step = 0; step < radius; ++step) {
            cells.items[cells.count++] = cell;
            cell = aibg5_plus(cell, AIBG5_DIRECTIONS[i]);
        }
    }
    return cells;
}

// part / steps as a whole number, halves upwards.
static int aibg5_rounded_part(int part, int steps) {
    const div_t quotient = div(2 * part + steps, 2 * steps);
    return quotient.rem < 0 ? quotient.quot - 1 : quotient.quot;  // division here rounds towards 0
}

// The cell nearest to (q / steps, r / steps): halves go up, and the worst rounded coordinate is corrected.
static aibg5_cell aibg5_rounded_cell(int q, int r, int steps) {
    const aibg5_cell near = {aibg5_rounded_part(q, steps), aibg5_rounded_part(r, steps)};
    const int s = aibg5_rounded_part(-q - r, steps);
    const int q_error = abs(near.q * steps - q), r_error = abs(near.r * steps - r), s_error = abs(s * steps + q + r);
    if (q_error > r_error && q_error > s_error) return (aibg5_cell){-near.r - s, near.r};
    return r_error > s_error ? (aibg5_cell){near.q, -near.q - s} : near;
}

aibg5_cell_list aibg5_line_of_fire(referee_match* match, aibg5_cell shooter, aibg5_cell target) {
    const int steps = aibg5_distance(shooter, target);
    aibg5_cell_list line = aibg5_new_cells(match, steps);
    for (int i = 1; i < steps; ++i) {
        const aibg5_cell offset = aibg5_rounded_cell((target.q - shooter.q) * i, (target.r - shooter.r) * i, steps);
        line.items[line.count++] = aibg5_plus(shooter, offset);
    }
    return line;
}

static aibg5_action aibg5_action_at(referee_match* match, const char* word, aibg5_cell cell) {
    char* text = referee_allocate(match, 40);
    snprintf(text, 40, "%s,%d,%d", word, cell.q, cell.r);
    return (aibg5_action){text};
}

aibg5_action aibg5_move_to(referee_match* match, aibg5_cell cell) { return aibg5_action_at(match, "move", cell); }

aibg5_action aibg5_attack_at(referee_match* match, aibg5_cell cell) { return aibg5_action_at(match, "attack", cell); }

// What a call shows.

const aibg5_player* aibg5_player_of(const aibg5_game_state* state, int player_idx) {
    const aibg5_player* players[AIBG5_SEATS] = {state->player1, state->player2, state->player3, state->player4};
    return 1 <= player_idx && player_idx <= AIBG5_SEATS ? players[player_idx - 1] : NULL;
}

const aibg5_player* aibg5_player_on(const aibg5_game_state* state, aibg5_cell cell) {
    for (int player_idx = 1; player_idx <= AIBG5_SEATS; ++player_idx) {
        const aibg5_player* player = aibg5_player_of(state, player_idx);
        if (player && player->q == cell.q && player->r == cell.r) return player;
    }
    return NULL;
}

const aibg5_tile* aibg5_tile_on(const aibg5_game_state* state, aibg5_cell cell) {
    const int first = cell.r < 0 ? -AIBG5_RADIUS - cell.r : -AIBG5_RADIUS;
    return &state->map.tiles.items[cell.r + AIBG5_RADIUS].items[cell.q - first];
}

bool aibg5_is_type(const aibg5_game_state* state, aibg5_cell cell, aibg5_entity_type type) {
    return aibg5_tile_on(state, cell)->entity.type == type;
}

bool aibg5_may_enter(const aibg5_game_state* state, aibg5_cell cell) {
    return aibg5_is_on_board(cell) && aibg5_tile_on(state, cell)->tile_type == AIBG5_TILE_TYPE_NORMAL &&
           !aibg5_is_type(state, cell, AIBG5_ENTITY_TYPE_WORMHOLE) && !aibg5_player_on(state, cell);
}

bool aibg5_is_target(const aibg5_game_state* state, aibg5_cell cell) {
    return aibg5_is_on_board(cell) &&
           (aibg5_player_on(state, cell) || aibg5_is_type(state, cell, AIBG5_ENTITY_TYPE_ASTEROID) ||
            aibg5_is_type(state, cell, AIBG5_ENTITY_TYPE_BOSS));
}

bool aibg5_find_hit(referee_match* match, const aibg5_game_state* state, aibg5_cell shooter, aibg5_cell target,
                    aibg5_cell* hit) {
    const int steps = aibg5_distance(shooter, target);
    if (!aibg5_is_on_board(shooter) || steps == 0 || steps > AIBG5_ATTACK_RANGE || !aibg5_is_target(state, target)) {
        return false;
    }
    const aibg5_cell_list line = aibg5_line_of_fire(match, shooter, target);
    for (size_t i = 0; i < line.count; ++i) {
        *hit = line.items[i];
        if (aibg5_is_target(state, *hit)) return true;
        if (aibg5_is_type(state, *hit, AIBG5_ENTITY_TYPE_BLACKHOLE) ||
            aibg5_is_type(state, *hit, AIBG5_ENTITY_TYPE_WORMHOLE))
            return false;
    }
    *hit = target;
    return true;
}

aibg5_cell_list aibg5_targets_from(referee_match* match, const aibg5_game_state* state, aibg5_cell shooter) {
    aibg5_cell_list targets = aibg5_within(match, shooter, AIBG5_ATTACK_RANGE);
    const size_t count = targets.count;
    targets.count = 0;
    for (size_t i = 0; i < count; ++i) {
        aibg5_cell hit;
        if (aibg5_find_hit(match, state, shooter, targets.items[i], &hit))
            targets.items[targets.count++] = targets.items[i];
    }
    return targets;
}
