// The board of AIBG 5 to walk and to shoot on: distances, neighbours, rings, lines of fire, and what stands where.
//
// A cell is (q, r). r is the row and grows downwards, q grows to the right along a row; the third coordinate of a
// hexagon is -q-r. The board holds the cells at most AIBG5_RADIUS from the centre, (0, 0). All memory is the call's.

#pragma once

#include <referee/aibg5.h>

// A place, or the way from one to another.
typedef struct {
    int q, r;
} aibg5_cell;

typedef struct {
    aibg5_cell* items;
    size_t count;
} aibg5_cell_list;

extern const aibg5_cell AIBG5_CENTRE;  // {0, 0}

// East, south-east, south-west, west, north-west, north-east.
extern const aibg5_cell AIBG5_DIRECTIONS[6];

bool aibg5_equal_cell(aibg5_cell one, aibg5_cell other);

aibg5_cell aibg5_plus(aibg5_cell cell, aibg5_cell way);

// A list with room for so many, of which none is there yet.
aibg5_cell_list aibg5_new_cells(referee_match* match, int most);

bool aibg5_contains(aibg5_cell_list cells, aibg5_cell cell);

// Steps from one cell to the other; from AIBG5_CENTRE, the cell's ring.
int aibg5_distance(aibg5_cell one, aibg5_cell other);

bool aibg5_is_on_board(aibg5_cell cell);

// The cells of the board at most so far from this one, row by row; with AIBG5_CENTRE and AIBG5_RADIUS, all of them.
aibg5_cell_list aibg5_within(referee_match* match, aibg5_cell middle, int steps);

// The neighbouring cells on the board, in the order of AIBG5_DIRECTIONS.
aibg5_cell_list aibg5_neighbours(referee_match* match, aibg5_cell cell);

// The cells of a ring around the centre, clockwise from (0, -radius).
aibg5_cell_list aibg5_ring(referee_match* match, int radius);

// The cells strictly between, nearest first.
aibg5_cell_list aibg5_line_of_fire(referee_match* match, aibg5_cell shooter, aibg5_cell target);

aibg5_action aibg5_move_to(referee_match* match, aibg5_cell cell);

aibg5_action aibg5_attack_at(referee_match* match, aibg5_cell cell);

// What a call shows.

// The player of that number, from 1; NULL if it is disqualified.
const aibg5_player* aibg5_player_of(const aibg5_game_state* state, int player_idx);

// The player on this cell, or NULL.
const aibg5_player* aibg5_player_on(const aibg5_game_state* state, aibg5_cell cell);

// `cell` is on the board.
const aibg5_tile* aibg5_tile_on(const aibg5_game_state* state, aibg5_cell cell);

// Whether the tile's entity is of that type.
bool aibg5_is_type(const aibg5_game_state* state, aibg5_cell cell, aibg5_entity_type type);

// Nobody and nothing is in the way; false for a wormhole too, whose exit may be blocked, and off the board.
bool aibg5_may_enter(const aibg5_game_state* state, aibg5_cell cell);

// A player, an asteroid or the boss is there; false off the board, too.
bool aibg5_is_target(const aibg5_game_state* state, aibg5_cell cell);

// Whether an attack on `target` is legal; `hit` is then the cell that it really hits.
bool aibg5_find_hit(referee_match* match, const aibg5_game_state* state, aibg5_cell shooter, aibg5_cell target,
                    aibg5_cell* hit);

// The cells that may be attacked, row by row.
aibg5_cell_list aibg5_targets_from(referee_match* match, const aibg5_game_state* state, aibg5_cell shooter);
