// The board of AIBG 5 to walk and to shoot on: distances, neighbours, rings, lines of fire, and what stands where.
//
// A cell is (q, r). r is the row and grows downwards, q grows to the right along a row; the third coordinate of a
// hexagon is -q-r. The board holds the cells at most AIBG5_RADIUS from the centre, (0, 0). All memory is the call's.

#pragma once

#include <referee/aibg5.h>
#include <stdio.h>
#include <stdlib.h>

// A place, or the way from one to another.
typedef struct {
    int q, r;
} aibg5_cell;

typedef struct {
    aibg5_cell* items;
    size_t count;
} aibg5_cell_list;

static const aibg5_cell AIBG5_CENTRE = {0, 0};

// East, south-east, south-west, west, north-west, north-east.
static const aibg5_cell AIBG5_DIRECTIONS[6] = {{1, 0}, {0, 1}, {-1, 1}, {-1, 0}, {0, -1}, {1, -1}};

static inline bool aibg5_equal_cell(aibg5_cell one, aibg5_cell other) { return one.q == other.q && one.r == other.r; }

static inline aibg5_cell aibg5_plus(aibg5_cell cell, aibg5_cell way) {
    return (aibg5_cell){cell.q + way.q, cell.r + way.r};
}

// A list with room for so many, of which none is there yet.
static inline aibg5_cell_list aibg5_new_cells(referee_match* match, int most) {
    return (aibg5_cell_list){referee_allocate(match, (size_t)most * sizeof(aibg5_cell)), 0};
}

static inline bool aibg5_contains(aibg5_cell_list cells, aibg5_cell cell) {
    for (size_t i = 0; i < cells.count; ++i) {
        if (aibg5_equal_cell(cells.items[i], cell)) return true;
    }
    return false;
}

// Steps from one cell to the other; from AIBG5_CENTRE, the cell's ring.
static inline int aibg5_distance(aibg5_cell one, aibg5_cell other) {
    const int q = abs(other.q - one.q), r = abs(other.r - one.r), s = abs(other.q - one.q + other.r - one.r);
    return q > r ? (q > s ? q : s) : (r > s ? r : s);
}

static inline bool aibg5_is_on_board(aibg5_cell cell) { return aibg5_distance(AIBG5_CENTRE, cell) <= AIBG5_RADIUS; }

// The cells of the board at most so far from this one, row by row; with AIBG5_CENTRE and AIBG5_RADIUS, all of them.
static inline aibg5_cell_list aibg5_within(referee_match* match, aibg5_cell middle, int steps) {
    aibg5_cell_list cells = aibg5_new_cells(match, steps < 0 ? 0 : (2 * steps + 1) * (2 * steps + 1));
    for (int r = middle.r - steps; r <= middle.r + steps; ++r) {
        for (int q = middle.q - steps; q <= middle.q + steps; ++q) {
            const aibg5_cell cell = {q, r};
            if (aibg5_is_on_board(cell) && aibg5_distance(middle, cell) <= steps) cells.items[cells.count++] = cell;
        }
    }
    return cells;
}

// The neighbouring cells on the board, in the order of AIBG5_DIRECTIONS.
static inline aibg5_cell_list aibg5_neighbours(referee_match* match, aibg5_cell cell) {
    aibg5_cell_list cells = aibg5_new_cells(match, 6);
    for (int i = 0; i < 6; ++i) {
        const aibg5_cell beside = aibg5_plus(cell, AIBG5_DIRECTIONS[i]);
        if (aibg5_is_on_board(beside)) cells.items[cells.count++] = beside;
    }
    return cells;
}

// The cells of a ring around the centre, clockwise from (0, -radius).
static inline aibg5_cell_list aibg5_ring(referee_match* match, int radius) {
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
static inline int aibg5_rounded_part(int part, int steps) {
    const div_t quotient = div(2 * part + steps, 2 * steps);
    return quotient.rem < 0 ? quotient.quot - 1 : quotient.quot;  // division here rounds towards 0
}

// The cell nearest to (q / steps, r / steps): halves go up, and the worst rounded coordinate is corrected.
static inline aibg5_cell aibg5_rounded_cell(int q, int r, int steps) {
    const aibg5_cell near = {aibg5_rounded_part(q, steps), aibg5_rounded_part(r, steps)};
    const int s = aibg5_rounded_part(-q - r, steps);
    const int qError = abs(near.q * steps - q), rError = abs(near.r * steps - r), sError = abs(s * steps + q + r);
    if (qError > rError && qError > sError) return (aibg5_cell){-near.r - s, near.r};
    return rError > sError ? (aibg5_cell){near.q, -near.q - s} : near;
}

// The cells strictly between, nearest first.
static inline aibg5_cell_list aibg5_line_of_fire(referee_match* match, aibg5_cell shooter, aibg5_cell target) {
    const int steps = aibg5_distance(shooter, target);
    aibg5_cell_list line = aibg5_new_cells(match, steps);
    for (int i = 1; i < steps; ++i) {
        const aibg5_cell offset = aibg5_rounded_cell((target.q - shooter.q) * i, (target.r - shooter.r) * i, steps);
        line.items[line.count++] = aibg5_plus(shooter, offset);
    }
    return line;
}

static inline aibg5_action aibg5_action_at(referee_match* match, const char* word, aibg5_cell cell) {
    char* text = referee_allocate(match, 40);
    snprintf(text, 40, "%s,%d,%d", word, cell.q, cell.r);
    return (aibg5_action){text};
}

static inline aibg5_action aibg5_move_to(referee_match* match, aibg5_cell cell) {
    return aibg5_action_at(match, "move", cell);
}
static inline aibg5_action aibg5_attack_at(referee_match* match, aibg5_cell cell) {
    return aibg5_action_at(match, "attack", cell);
}

// What a call shows.

// The player of that number; NULL: it is disqualified, or there is no such number.
static inline const aibg5_player* aibg5_player_of(const aibg5_game_state* state, int playerIdx) {
    const aibg5_player* players[AIBG5_SEATS] = {state->player1, state->player2, state->player3, state->player4};
    return 1 <= playerIdx && playerIdx <= AIBG5_SEATS ? players[playerIdx - 1] : NULL;
}

// The player on this cell, or NULL.
static inline const aibg5_player* aibg5_player_on(const aibg5_game_state* state, aibg5_cell cell) {
    for (int playerIdx = 1; playerIdx <= AIBG5_SEATS; ++playerIdx) {
        const aibg5_player* player = aibg5_player_of(state, playerIdx);
        if (player && player->q == cell.q && player->r == cell.r) return player;
    }
    return NULL;
}

// `cell` is on the board.
static inline const aibg5_tile* aibg5_tile_on(const aibg5_game_state* state, aibg5_cell cell) {
    const int first = cell.r < 0 ? -AIBG5_RADIUS - cell.r : -AIBG5_RADIUS;
    return &state->map.tiles.items[cell.r + AIBG5_RADIUS].items[cell.q - first];
}

// Whether the tile's entity is of that type.
static inline bool aibg5_is_type(const aibg5_game_state* state, aibg5_cell cell, const char* type) {
    return strcmp(aibg5_tile_on(state, cell)->entity.type, type) == 0;
}

// Nobody and nothing is in the way; false for a wormhole too, whose exit may be blocked, and off the board.
static inline bool aibg5_may_enter(const aibg5_game_state* state, aibg5_cell cell) {
    return aibg5_is_on_board(cell) && strcmp(aibg5_tile_on(state, cell)->tileType, "NORMAL") == 0 &&
           !aibg5_is_type(state, cell, "WORMHOLE") && !aibg5_player_on(state, cell);
}

// A player, an asteroid or the boss is there; false off the board, too.
static inline bool aibg5_is_target(const aibg5_game_state* state, aibg5_cell cell) {
    return aibg5_is_on_board(cell) && (aibg5_player_on(state, cell) || aibg5_is_type(state, cell, "ASTEROID") ||
                                       aibg5_is_type(state, cell, "BOSS"));
}

// Whether an attack on `target` is legal; `hit` is then the cell that it really hits.
static inline bool aibg5_find_hit(referee_match* match, const aibg5_game_state* state, aibg5_cell shooter,
                                  aibg5_cell target, aibg5_cell* hit) {
    const int steps = aibg5_distance(shooter, target);
    if (!aibg5_is_on_board(shooter) || steps == 0 || steps > AIBG5_ATTACK_RANGE || !aibg5_is_target(state, target)) {
        return false;
    }
    const aibg5_cell_list line = aibg5_line_of_fire(match, shooter, target);
    for (size_t i = 0; i < line.count; ++i) {
        *hit = line.items[i];
        if (aibg5_is_target(state, *hit)) return true;
        if (aibg5_is_type(state, *hit, "BLACKHOLE") || aibg5_is_type(state, *hit, "WORMHOLE")) return false;
    }
    *hit = target;
    return true;
}

// The cells that may be attacked, row by row.
static inline aibg5_cell_list aibg5_targets_from(referee_match* match, const aibg5_game_state* state,
                                                 aibg5_cell shooter) {
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
