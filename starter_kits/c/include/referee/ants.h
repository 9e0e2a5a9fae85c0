// What a bot asks of a position of ReAntics, under the names that the original gave its agents (rules, section 11.3):
// listAllLegalMoves is referee_list_all_legal_moves.
//
// The functions look at the inventories and never at `board`. Orders, and paths that come twice, are part of what is
// promised. All memory is the call's.

#pragma once

#include <referee/reantics.h>
#include <stdlib.h>

// What an ant of a type can do.
typedef struct {
    int movement, health, attack, range;
    int cost;  // in food; a queen cannot be built
    bool ignoresGrass;
} UnitStats;

// By type of ant: QUEEN, WORKER, DRONE, SOLDIER, R_SOLDIER.
static const UnitStats UNIT_STATS[] = {
    {2, 10, 4, 1, 0, false}, {2, 4, 0, 1, 1, false}, {3, 4, 2, 1, 2, true},
    {2, 8, 4, 1, 2, false},  {1, 2, 3, 3, 2, true},
};

// The index of the inventory that holds grass and food.
enum { NEUTRAL = 2 };

typedef struct {
    CoordList* items;
    size_t count;
} PathList;

typedef struct {
    Move* items;
    size_t count;
} MoveList;

// What stands where.

// Whether that is a tile of the board.
static inline bool referee_legal_coord(Coord tile) {
    return tile.x >= 0 && tile.x < BOARD_LENGTH && tile.y >= 0 && tile.y < BOARD_LENGTH;
}

// The ant of a player on a tile; NULL: there is none.
static inline Ant* referee_ant_of(const Inventory* inventory, Coord tile) {
    for (size_t i = 0; i < inventory->ants.count; ++i) {
        if (equalCoord(inventory->ants.items[i].coords, tile)) return &inventory->ants.items[i];
    }
    return NULL;
}

// The ant on a tile; NULL: there is none.
static inline const Ant* referee_get_ant_at(const GameState* state, Coord tile) {
    for (size_t i = 0; i < state->inventories.count; ++i) {
        const Ant* ant = referee_ant_of(&state->inventories.items[i], tile);
        if (ant) return ant;
    }
    return NULL;
}

// The construction on a tile; NULL: there is none.
static inline const Construction* referee_get_constr_at(const GameState* state, Coord tile) {
    for (size_t i = 0; i < state->inventories.count; ++i) {
        const ConstructionList constrs = state->inventories.items[i].constrs;
        for (size_t j = 0; j < constrs.count; ++j) {
            if (equalCoord(constrs.items[j].coords, tile)) return &constrs.items[j];
        }
    }
    return NULL;
}

// What the player to move has.
static inline Inventory* referee_get_curr_player_inventory(const GameState* state) {
    return &state->inventories.items[state->whoseTurn];
}

// What the opponent of the player to move has.
static inline Inventory* referee_get_enemy_inv(const GameState* state) {
    return &state->inventories.items[1 - state->whoseTurn];
}

static inline const Ant* referee_queen_of(const Inventory* inventory) {
    for (size_t i = 0; i < inventory->ants.count; ++i) {
        if (inventory->ants.items[i].type == QUEEN) return &inventory->ants.items[i];
    }
    return NULL;
}

static inline const Construction* referee_anthill_of(const Inventory* inventory) {
    for (size_t i = 0; i < inventory->constrs.count; ++i) {
        if (inventory->constrs.items[i].type == ANTHILL) return &inventory->constrs.items[i];
    }
    return NULL;
}

// The queen of the player to move; NULL: it has none.
static inline const Ant* referee_get_curr_player_queen(const GameState* state) {
    return referee_queen_of(referee_get_curr_player_inventory(state));
}

static inline bool referee_has_won(const GameState* state, int player) {
    const Inventory* own = &state->inventories.items[player];
    const Inventory* enemy = &state->inventories.items[1 - player];
    const Construction* hill = referee_anthill_of(enemy);
    if (!referee_queen_of(enemy)) return true;
    if (hill && hill->captureHealth.present && hill->captureHealth.value <= 0) return true;
    return own->foodCount >= FOOD_GOAL || (enemy->foodCount == 0 && enemy->ants.count == 1);
}

// 1 if the player to move has won, 0 if its opponent has, else -1 (section 6).
static inline int referee_get_winner(const GameState* state) {
    if (referee_has_won(state, state->whoseTurn)) return 1;
    return referee_has_won(state, 1 - state->whoseTurn) ? 0 : -1;
}

// Distances and ways.

// Left, right, above, below.
static const Coord REFEREE_STEPS[4] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};

static inline Coord referee_beside(Coord tile, Coord step) { return (Coord){tile.x + step.x, tile.y + step.y}; }

// Columns plus rows between two tiles.
static inline int referee_approx_dist(Coord one, Coord other) { return abs(one.x - other.x) + abs(one.y - other.y); }

// The tiles left, right, above and below, in this order, as far as they are on the board.
static inline CoordList referee_list_adjacent(Match* match, Coord tile) {
    CoordList found = referee_new_coord_list(match, 4);
    if (!referee_legal_coord(tile)) return found;
    for (int i = 0; i < 4; ++i) {
        const Coord near = referee_beside(tile, REFEREE_STEPS[i]);
        if (referee_legal_coord(near)) found.items[found.count++] = near;
    }
    return found;
}

// The tiles at a distance of 1 to `reach`, by column and then by row.
static inline CoordList referee_list_attackable(Match* match, Coord tile, int reach) {
    CoordList found = referee_new_coord_list(match, (size_t)(2 * reach + 1) * (size_t)(2 * reach + 1));
    for (int dx = -reach; dx <= reach; ++dx) {
        const int rest = reach - abs(dx);
        for (int dy = -rest; dy <= rest; ++dy) {
            const Coord near = {tile.x + dx, tile.y + dy};
            if ((dx || dy) && referee_legal_coord(near)) found.items[found.count++] = near;
        }
    }
    return found;
}

// What a walker has to know of a state, gathered once for many questions.
typedef struct {
    bool occupied[BOARD_LENGTH][BOARD_LENGTH];
    int costs[BOARD_LENGTH][BOARD_LENGTH];
} Ground;

static inline Ground referee_ground_of(const GameState* state) {
    Ground ground = {0};
    for (int x = 0; x < BOARD_LENGTH; ++x) {
        for (int y = 0; y < BOARD_LENGTH; ++y) ground.costs[x][y] = 1;
    }
    for (size_t i = 0; i < state->inventories.count; ++i) {
        const Inventory* inventory = &state->inventories.items[i];
        for (size_t j = 0; j < inventory->ants.count; ++j) {
            const Coord at = inventory->ants.items[j].coords;
            ground.occupied[at.x][at.y] = true;
        }
        for (size_t j = 0; j < inventory->constrs.count; ++j) {
            const Coord at = inventory->constrs.items[j].coords;
            ground.costs[at.x][at.y] = inventory->constrs.items[j].movementCost;
        }
    }
    return ground;
}

// What is left of the movement when a tile has been entered; negative: it cannot be.
static inline int referee_left(const Ground* ground, Coord tile, int movement, bool ignoresGrass) {
    if (!referee_legal_coord(tile) || ground->occupied[tile.x][tile.y]) return -1;
    return movement - (ignoresGrass ? 1 : ground->costs[tile.x][tile.y]);
}

// Doubles the room of a list that is full.
static inline void* referee_roomier(Match* match, void* items, size_t count, size_t size) {
    if (count & (count - 1) || count == 1) return items;  // 0, 2, 4, 8, …: full
    void* more = referee_allocate(match, (count ? 2 * count : 2) * size);
    if (count) memcpy(more, items, count * size);
    return more;
}

static inline void referee_keep_path(Match* match, PathList* found, const Coord* way, size_t length) {
    CoordList path = {referee_allocate(match, length * sizeof(Coord)), length};
    memcpy(path.items, way, length * sizeof(Coord));
    found->items = referee_roomier(match, found->items, found->count, sizeof(CoordList));
    found->items[found->count++] = path;
}

// Adds every path that goes on from the end of `way`, which has room for all of it, to `found`.
static inline void referee_add_paths(Match* match, const Ground* ground, Coord* way, size_t length, int movement,
                                     bool ignoresGrass, PathList* found) {
    if (movement <= 0) return;
    Coord near[4];
    int left[4], count = 0;
    for (int i = 0; i < 4; ++i) {
        near[count] = referee_beside(way[length - 1], REFEREE_STEPS[i]);
        left[count] = referee_left(ground, near[count], movement, ignoresGrass);
        if (left[count] < 0) continue;
        way[length] = near[count++];
        referee_keep_path(match, found, way, length + 1);
    }
    for (int i = 0; i < count; ++i) {
        way[length] = near[i];
        referee_add_paths(match, ground, way, length + 1, left[i], ignoresGrass, found);
    }
    referee_keep_path(match, found, way, length);
}

static inline PathList referee_paths_from(Match* match, const Ground* ground, Coord tile, int movement,
                                          bool ignoresGrass) {
    PathList found = {NULL, 0};
    if (movement <= 0) return found;
    Coord* way = referee_allocate(match, (size_t)(movement + 2) * sizeof(Coord));
    way[0] = tile;
    referee_add_paths(match, ground, way, 1, movement, ignoresGrass, &found);
    return found;
}

// The neighbours without an ant that cost at most `movement` to enter.
static inline CoordList referee_list_reachable_adjacent(Match* match, const GameState* state, Coord tile, int movement,
                                                        bool ignoresGrass) {
    const Ground ground = referee_ground_of(state);
    const CoordList near = referee_list_adjacent(match, tile);
    CoordList found = {near.items, 0};
    for (size_t i = 0; i < near.count; ++i) {
        if (referee_left(&ground, near.items[i], movement, ignoresGrass) < 0) continue;
        found.items[found.count++] = near.items[i];
    }
    return found;
}

// Every path from a tile: first those of one step, then each of them with what may follow, at last staying. Shorter
// paths come more than once, since each step may be followed by staying. A queen's may leave her home.
static inline PathList referee_list_all_movement_paths(Match* match, const GameState* state, Coord tile, int movement,
                                                       bool ignoresGrass) {
    const Ground ground = referee_ground_of(state);
    return referee_paths_from(match, &ground, tile, movement, ignoresGrass);
}

// About what it costs to walk from one tile to another, grass at 2, ants not counted; -1 for no tile. Each tile is
// looked at once, in the order found: the way that is found first through grass may not be the cheapest.
static inline int referee_steps_to_reach(const GameState* state, Coord from, Coord to) {
    if (!referee_legal_coord(from) || !referee_legal_coord(to)) return -1;
    const Ground ground = referee_ground_of(state);
    int costs[BOARD_LENGTH][BOARD_LENGTH] = {{0}};  // 1 more than the way costs; 0 = not found yet
    Coord queue[BOARD_LENGTH * BOARD_LENGTH] = {from};
    costs[from.x][from.y] = 1;
    for (size_t next = 0, count = 1; next < count; ++next) {
        const Coord here = queue[next];
        if (equalCoord(here, to)) break;
        for (int i = 0; i < 4; ++i) {
            const Coord near = referee_beside(here, REFEREE_STEPS[i]);
            if (!referee_legal_coord(near)) continue;
            const int cost = costs[here.x][here.y] + ground.costs[near.x][near.y];
            int* known = &costs[near.x][near.y];
            if (!*known) queue[count++] = near;
            if (!*known || cost < *known) *known = cost;
        }
    }
    return costs[to.x][to.y] - 1;
}

// Writes the path into `path`, which has room for `movement` + 1 tiles; the distance that is left.
static inline int referee_toward(const Ground* ground, Coord tile, Coord goal, int movement, bool ignoresGrass,
                                 Coord* path, size_t* length) {
    const int distance = referee_approx_dist(tile, goal);
    int rest = distance;
    path[0] = tile;
    *length = 1;
    if (distance == 0 || movement <= 0) return rest;
    for (int i = 0; i < 4; ++i) {
        const Coord near = referee_beside(tile, REFEREE_STEPS[i]);
        const int left = referee_left(ground, near, movement, ignoresGrass);
        if (left < 0) continue;
        Coord further[BOARD_LENGTH * BOARD_LENGTH];
        size_t count;
        const int remains = referee_toward(ground, near, goal, left, ignoresGrass, further, &count);
        if (remains >= rest) continue;
        rest = remains;
        memcpy(path + 1, further, count * sizeof(Coord));
        *length = count + 1;
        if (rest == 0 || rest == distance - movement) break;
    }
    return rest;
}

// The path that brings the ant on a tile nearest to another within `movement`, the first of equals. Each step is taken
// for the distance alone, so that it may stay where a way round would help.
static inline CoordList referee_create_path_toward(Match* match, const GameState* state, Coord from, Coord to,
                                                   int movement) {
    const Ground ground = referee_ground_of(state);
    const Ant* ant = referee_get_ant_at(state, from);
    CoordList path = referee_new_coord_list(match, (size_t)(movement > 0 ? movement : 0) + 1);
    referee_toward(&ground, from, to, movement, ant && UNIT_STATS[ant->type].ignoresGrass, path.items, &path.count);
    return path;
}

// Moves.

// Whether a path keeps out of the two rows in the middle.
static inline bool referee_is_path_ok_for_queen(CoordList path) {
    for (size_t i = 0; i < path.count; ++i) {
        if (path.items[i].y == 4 || path.items[i].y == 5) return false;
    }
    return true;
}

static inline void referee_add_move(Match* match, MoveList* moves, Move move) {
    moves->items = referee_roomier(match, moves->items, moves->count, sizeof(Move));
    moves->items[moves->count++] = move;
}

static inline void referee_add_movement_moves(Match* match, const GameState* state, MoveList* moves) {
    const Ground ground = referee_ground_of(state);
    const AntList ants = referee_get_curr_player_inventory(state)->ants;
    for (size_t i = 0; i < ants.count; ++i) {
        const Ant* ant = &ants.items[i];
        if (ant->hasMoved) continue;
        const UnitStats* stats = &UNIT_STATS[ant->type];
        const PathList paths = referee_paths_from(match, &ground, ant->coords, stats->movement, stats->ignoresGrass);
        for (size_t j = 0; j < paths.count; ++j) {
            if (ant->type == QUEEN && !referee_is_path_ok_for_queen(paths.items[j])) continue;
            referee_add_move(match, moves, (Move){.moveType = MOVE_ANT, .coordList = paths.items[j]});
        }
    }
}

static inline void referee_add_build_moves(Match* match, const GameState* state, MoveList* moves) {
    const Inventory* own = referee_get_curr_player_inventory(state);
    const Construction* hill = referee_anthill_of(own);
    if (!hill || referee_get_ant_at(state, hill->coords)) return;
    for (int type = WORKER; type <= R_SOLDIER; ++type) {
        if (own->foodCount < UNIT_STATS[type].cost) continue;
        CoordList tiles = referee_new_coord_list(match, 1);
        tiles.items[tiles.count++] = hill->coords;
        const MaybeInt kind = referee_some(type);
        referee_add_move(match, moves, (Move){.moveType = BUILD, .coordList = tiles, .buildType = kind});
    }
}

// A MOVE_ANT for every path of every ant of the player to move that has not moved yet.
static inline MoveList referee_list_all_movement_moves(Match* match, const GameState* state) {
    MoveList moves = {NULL, 0};
    referee_add_movement_moves(match, state, &moves);
    return moves;
}

// A BUILD for every ant that the player to move can pay, if nobody stands on its anthill.
static inline MoveList referee_list_all_build_moves(Match* match, const GameState* state) {
    MoveList moves = {NULL, 0};
    referee_add_build_moves(match, state, &moves);
    return moves;
}

// All that the player to move may do: its ants' paths, what it can build, and END.
static inline MoveList referee_list_all_legal_moves(Match* match, const GameState* state) {
    MoveList moves = {NULL, 0};
    referee_add_movement_moves(match, state, &moves);
    referee_add_build_moves(match, state, &moves);
    referee_add_move(match, &moves, (Move){.moveType = END});
    return moves;
}

// Looking ahead.

// A copy whose ants, constructions and inventories are its own, without `board`. There is room for one more ant each.
static inline GameState* referee_clone(Match* match, const GameState* state) {
    GameState* copy = referee_allocate(match, sizeof *copy);
    const size_t count = state->inventories.count;
    *copy = (GameState){.phase = state->phase, .whoseTurn = state->whoseTurn};
    copy->inventories = (InventoryList){referee_allocate(match, count * sizeof(Inventory)), count};
    for (size_t i = 0; i < count; ++i) {
        const Inventory* from = &state->inventories.items[i];
        Inventory* to = &copy->inventories.items[i];
        *to = *from;
        to->ants.items = referee_allocate(match, (from->ants.count + 1) * sizeof(Ant));
        to->constrs.items = referee_allocate(match, (from->constrs.count + 1) * sizeof(Construction));
        if (from->ants.count) memcpy(to->ants.items, from->ants.items, from->ants.count * sizeof(Ant));
        if (from->constrs.count) {
            memcpy(to->constrs.items, from->constrs.items, from->constrs.count * sizeof(Construction));
        }
    }
    return copy;
}

static inline int referee_next_id(const GameState* state) {
    int most = -1;
    for (size_t i = 0; i < state->inventories.count; ++i) {
        const AntList ants = state->inventories.items[i].ants;
        for (size_t j = 0; j < ants.count; ++j) {
            if (ants.items[j].id > most) most = ants.items[j].id;
        }
    }
    return most + 1;
}

static inline void referee_carry(const GameState* state, Inventory* own, Ant* ant) {
    const Construction* under = referee_get_constr_at(state, ant->coords);
    if (!under) return;
    const bool isHome = under->type == ANTHILL || under->type == TUNNEL;
    if (ant->carrying && isHome && under->player.present && under->player.value == own->player) {
        ant->carrying = false;
        ++own->foodCount;
    }
    if (!ant->carrying && ant->type == WORKER && under->type == FOOD) ant->carrying = true;
}

static inline void referee_attack_from(Match* match, Inventory* enemy, const Ant* ant) {
    const CoordList tiles = referee_list_attackable(match, ant->coords, UNIT_STATS[ant->type].range);
    for (size_t i = 0; i < tiles.count; ++i) {
        Ant* target = referee_ant_of(enemy, tiles.items[i]);
        if (!target) continue;
        target->health -= UNIT_STATS[ant->type].attack;
        if (target->health <= 0) {
            const size_t behind = enemy->ants.count - 1 - (size_t)(target - enemy->ants.items);
            memmove(target, target + 1, behind * sizeof(Ant));
            --enemy->ants.count;
        }
        return;
    }
}

// About what a move leads to, in a new state: an ant may move again, food is taken and dropped at once, and an ant
// attacks the first enemy that it finds. END changes nothing.
static inline GameState* referee_get_next_state(Match* match, const GameState* state, const Move* move) {
    GameState* after = referee_clone(match, state);
    Inventory* own = referee_get_curr_player_inventory(after);
    Inventory* enemy = referee_get_enemy_inv(after);
    for (size_t i = 0; i < own->constrs.count; ++i) {
        Construction* hill = &own->constrs.items[i];
        if (hill->type == ANTHILL && referee_ant_of(enemy, hill->coords)) --hill->captureHealth.value;
    }
    const CoordList path = move->coordList;
    if (path.count == 0) return after;
    if (move->moveType == BUILD && move->buildType.present) {
        const int type = move->buildType.value;
        const Ant built = {.id = referee_next_id(after),
                           .coords = path.items[0],
                           .type = type,
                           .player = after->whoseTurn,
                           .health = UNIT_STATS[type].health};
        own->ants.items[own->ants.count++] = built;
        own->foodCount -= UNIT_STATS[type].cost;
    } else if (move->moveType == MOVE_ANT) {
        Ant* ant = referee_ant_of(own, path.items[0]);
        if (!ant) return after;
        ant->coords = path.items[path.count - 1];
        ant->hasMoved = false;
        referee_carry(after, own, ant);
        referee_attack_from(match, enemy, ant);
    }
    return after;
}

// As `referee_get_next_state`, for searches over several turns: an ant that moves has moved, and END passes the turn
// on. The board is not turned: coordinates stay those of the player whose turn it was.
static inline GameState* referee_get_next_state_adversarial(Match* match, const GameState* state, const Move* move) {
    GameState* after = referee_get_next_state(match, state, move);
    Inventory* own = referee_get_curr_player_inventory(after);
    if (move->moveType == MOVE_ANT && move->coordList.count) {
        Ant* ant = referee_ant_of(own, move->coordList.items[move->coordList.count - 1]);
        if (ant) ant->hasMoved = true;
    } else if (move->moveType == END) {
        for (size_t i = 0; i < own->ants.count; ++i) own->ants.items[i].hasMoved = false;
        after->whoseTurn = 1 - after->whoseTurn;
    }
    return after;
}
