// Helpers for ReAntics, with the names that the original gave its agents (rules, section 11.3): listAllLegalMoves is
// reantics_list_all_legal_moves.
//
// The functions read the inventories and never `board`. The order of a list, and paths that it holds twice, are part
// of the interface. Results live until the call is answered.

#pragma once

#include <referee/reantics.h>

// What an ant of a type can do.
typedef struct {
    int movement, health, attack, range;
    int cost;  // in food; a queen cannot be built
    bool ignores_grass;
} reantics_unit_stats;

// What an ant of a type can do in this match: a worker's health is the option `worker_health`.
reantics_unit_stats reantics_stats_of(referee_match* match, reantics_ant_type type);

// The index of the inventory that holds grass and food.
enum { REANTICS_NEUTRAL = 2 };

typedef struct {
    reantics_coord_list* items;
    size_t count;
} reantics_path_list;

typedef struct {
    reantics_move* items;
    size_t count;
} reantics_move_list;

// What stands where.

// Whether that is a tile of the board.
bool reantics_legal_coord(reantics_coord tile);

// The ant on a tile; NULL if there is none.
const reantics_ant* reantics_get_ant_at(const reantics_game_state* state, reantics_coord tile);

// The construction on a tile; NULL if there is none.
const reantics_construction* reantics_get_constr_at(const reantics_game_state* state, reantics_coord tile);

// What the player to move has.
reantics_inventory* reantics_get_curr_player_inventory(const reantics_game_state* state);

// What the opponent of the player to move has.
reantics_inventory* reantics_get_enemy_inv(const reantics_game_state* state);

// A player's queen; NULL if she is dead or not yet placed.
const reantics_ant* reantics_queen_of(const reantics_inventory* inventory);

// A player's anthill; NULL before it is placed.
const reantics_construction* reantics_anthill_of(const reantics_inventory* inventory);

// The queen of the player to move; NULL if there is none.
const reantics_ant* reantics_get_curr_player_queen(const reantics_game_state* state);

// 1 if the player to move has won, 0 if its opponent has, else -1 (section 6).
int reantics_get_winner(const reantics_game_state* state);

// Distances and ways.

// Columns plus rows between two tiles.
int reantics_approx_dist(reantics_coord one, reantics_coord other);

// The tiles left, right, above and below, in this order, as far as they are on the board.
reantics_coord_list reantics_list_adjacent(referee_match* match, reantics_coord tile);

// The tiles at a distance of 1 to `reach`, by column and then by row.
reantics_coord_list reantics_list_attackable(referee_match* match, reantics_coord tile, int reach);

// The neighbours without an ant that cost at most `movement` to enter.
reantics_coord_list reantics_list_reachable_adjacent(referee_match* match, const reantics_game_state* state,
                                                     reantics_coord tile, int movement, bool ignores_grass);

// Every path from a tile: first those of one step, then each of them with what may follow, at last staying. Shorter
// paths come more than once, since each step may be followed by staying. A queen's may leave her home.
reantics_path_list reantics_list_all_movement_paths(referee_match* match, const reantics_game_state* state,
                                                    reantics_coord tile, int movement, bool ignores_grass);

// About what it costs to walk from one tile to another, grass at 2, ants not counted; -1 for no tile. Each tile is
// looked at once, in the order found: the way that is found first through grass may not be the cheapest.
int reantics_steps_to_reach(const reantics_game_state* state, reantics_coord from, reantics_coord to);

// The path that brings the ant on a tile nearest to another within `movement`, the first of equals. Each step is taken
// for the distance alone, so that it may stay where a way round would help.
reantics_coord_list reantics_create_path_toward(referee_match* match, const reantics_game_state* state,
                                                reantics_coord from, reantics_coord to, int movement);

// Moves.

// Whether a path keeps out of the two rows in the middle.
bool reantics_is_path_ok_for_queen(reantics_coord_list path);

// A REANTICS_MOVE_ANT for every path of every ant of the player to move that has not moved yet.
reantics_move_list reantics_list_all_movement_moves(referee_match* match, const reantics_game_state* state);

// A REANTICS_BUILD for every ant that the player to move can pay, if its anthill is free.
reantics_move_list reantics_list_all_build_moves(referee_match* match, const reantics_game_state* state);

// All that the player to move may do: its ants' paths, what it can build, and REANTICS_END.
reantics_move_list reantics_list_all_legal_moves(referee_match* match, const reantics_game_state* state);

// Looking ahead.

// A copy whose ants, constructions and inventories are its own, without `board`. There is room for one more ant each.
reantics_game_state* reantics_clone(referee_match* match, const reantics_game_state* state);

// About what a move leads to, in a new state: an ant may move again, food is taken and dropped at once, and an ant
// attacks the first enemy that it finds. REANTICS_END changes nothing.
reantics_game_state* reantics_get_next_state(referee_match* match, const reantics_game_state* state,
                                             const reantics_move* move);

// As `reantics_get_next_state`, for searches over several turns: an ant that moves has moved, and REANTICS_END passes
// the turn on. The board is not turned: coordinates stay those of the player whose turn it was.
reantics_game_state* reantics_get_next_state_adversarial(referee_match* match, const reantics_game_state* state,
                                                         const reantics_move* move);
