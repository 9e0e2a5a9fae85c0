// Forager: two workers carry food home by the quickest way, the queen waits next to the anthill, and soldiers are
// built when enemies come near.
//
// It keeps nothing between calls. Each get_move looks at the state afresh and gives one order to one ant that has not
// moved yet; when there is nothing left to order, the turn ends.

#include <referee/reantics.h>
#include <stdlib.h>

static const int MOVES[] = {2, 2, 3, 2, 1};  // by type of ant
static const int RANGE[] = {1, 0, 1, 1, 3};
static const int ATTACK[] = {4, 0, 2, 4, 3};
static const int COST[] = {0, 1, 2, 2, 2};
enum {
    WORKERS = 2,
    NEAR = 5,   // an enemy is near when its y is at most this: our side and the middle
    FRAIL = 4,  // a queen with so little health left runs away
    NEVER = 1000
};

static int distance(reantics_coord a, reantics_coord b) { return abs(a.x - b.x) + abs(a.y - b.y); }
static bool on_board(reantics_coord tile) {
    return tile.x >= 0 && tile.x < REANTICS_BOARD_LENGTH && tile.y >= 0 && tile.y < REANTICS_BOARD_LENGTH;
}
static bool is_queen(const reantics_ant* ant) { return ant->type == REANTICS_QUEEN; }
static bool is_worker(const reantics_ant* ant) { return ant->type == REANTICS_WORKER; }
static bool is_fighter(const reantics_ant* ant) { return !is_queen(ant) && !is_worker(ant); }

static void add(reantics_coord_list* tiles, reantics_coord tile) { tiles->items[tiles->count++] = tile; }

// The state, laid out by tile.
typedef struct {
    const reantics_inventory* mine;
    const reantics_inventory* theirs;
    reantics_construction_list neutral;
    int constr[REANTICS_BOARD_LENGTH][REANTICS_BOARD_LENGTH];  // the construction's type, 0 = none
    bool ants[REANTICS_BOARD_LENGTH][REANTICS_BOARD_LENGTH];
} layout;

static layout board_of(const reantics_game_state* state) {
    const reantics_inventory* inventories = state->inventories.items;
    layout board = {.mine = &inventories[state->whose_turn],
                    .theirs = &inventories[1 - state->whose_turn],
                    .neutral = inventories[2].constrs};
    for (int player = 0; player < 3; ++player) {
        const reantics_construction_list constrs = inventories[player].constrs;
        for (size_t i = 0; i < constrs.count; ++i) {
            board.constr[constrs.items[i].coords.x][constrs.items[i].coords.y] = constrs.items[i].type;
        }
        const reantics_ant_list ants = inventories[player].ants;
        for (size_t i = 0; i < ants.count; ++i) board.ants[ants.items[i].coords.x][ants.items[i].coords.y] = true;
    }
    return board;
}

static int at(const layout* board, reantics_coord tile) { return board->constr[tile.x][tile.y]; }
static bool has_ant(const layout* board, reantics_coord tile) { return board->ants[tile.x][tile.y]; }
static bool is_grass(const layout* board, reantics_coord tile) { return at(board, tile) == REANTICS_GRASS; }

// The tiles of these constructions of one type, or of either of two.
static reantics_coord_list find(referee_match* match, reantics_construction_list constrs,
                                reantics_construction_type type, reantics_construction_type other) {
    reantics_coord_list tiles = reantics_new_coord_list(match, constrs.count);
    for (size_t i = 0; i < constrs.count; ++i) {
        if (constrs.items[i].type == type || constrs.items[i].type == other) add(&tiles, constrs.items[i].coords);
    }
    return tiles;
}

static reantics_coord_list near_enemies(referee_match* match, const layout* board) {
    const reantics_ant_list ants = board->theirs->ants;
    reantics_coord_list tiles = reantics_new_coord_list(match, ants.count);
    for (size_t i = 0; i < ants.count; ++i) {
        if (ants.items[i].coords.y <= NEAR) add(&tiles, ants.items[i].coords);
    }
    return tiles;
}

// What decides between tiles, the first number first; the least is the best.
typedef struct {
    int by[4];
} rank;

static bool is_less(rank a, rank b) {
    for (int i = 0; i < 4; ++i) {
        if (a.by[i] != b.by[i]) return a.by[i] < b.by[i];
    }
    return false;
}

// The tile with the least rank; the first of equals. `tiles` is not empty.
static reantics_coord best(reantics_coord_list tiles, rank (*rank_of)(const void* context, reantics_coord tile),
                           const void* context) {
    reantics_coord found = tiles.items[0];
    for (size_t i = 1; i < tiles.count; ++i) {
        if (is_less(rank_of(context, tiles.items[i]), rank_of(context, found))) found = tiles.items[i];
    }
    return found;
}

// When an ant can be somewhere: after how many more ENDs, and how many of its moves it has then spent.
typedef struct {
    int turns;
    int spent;
} arrival_time;

static bool is_sooner(arrival_time a, arrival_time b) {
    return a.turns != b.turns ? a.turns < b.turns : a.spent < b.spent;
}

// The quickest ways of one kind of ant from one tile to all others. A tile with an ant on it can be entered a turn
// later at the earliest, so the part of a way that is walked in this turn is always free.
typedef struct {
    const layout* board;
    reantics_coord from;
    reantics_ant_type type;
    arrival_time arrival[REANTICS_BOARD_LENGTH][REANTICS_BOARD_LENGTH];
    reantics_coord before[REANTICS_BOARD_LENGTH][REANTICS_BOARD_LENGTH];
} way_map;

static arrival_time arrival_at(const way_map* ways, reantics_coord tile) { return ways->arrival[tile.x][tile.y]; }

static bool may_enter(const way_map* ways, reantics_coord tile) {
    return on_board(tile) && !(ways->type == REANTICS_QUEEN && (tile.y == 4 || tile.y == 5));
}

static arrival_time enter(const way_map* ways, reantics_coord tile, arrival_time before) {
    const bool slow = is_grass(ways->board, tile) && ways->type != REANTICS_DRONE && ways->type != REANTICS_R_SOLDIER;
    const int cost = slow ? 2 : 1, moves = MOVES[ways->type];
    if (has_ant(ways->board, tile)) return (arrival_time){before.turns + 1, cost};
    if (before.spent + cost <= moves) return (arrival_time){before.turns, before.spent + cost};
    return (arrival_time){before.turns + 1, cost < moves ? cost : moves};
}

// The tile to go on from: the soonest of those that are not done. False: there is none.
static bool next_open(const way_map* ways, bool done[REANTICS_BOARD_LENGTH][REANTICS_BOARD_LENGTH],
                      reantics_coord* next) {
    arrival_time soonest = {NEVER, 0};
    for (int x = 0; x < REANTICS_BOARD_LENGTH; ++x) {
        for (int y = 0; y < REANTICS_BOARD_LENGTH; ++y) {
            if (done[x][y] || !is_sooner(ways->arrival[x][y], soonest)) continue;
            soonest = ways->arrival[x][y];
            *next = (reantics_coord){x, y};
        }
    }
    if (soonest.turns < NEVER) done[next->x][next->y] = true;
    return soonest.turns < NEVER;
}

static way_map ways_of(const layout* board, reantics_coord from, reantics_ant_type type) {
    way_map ways = {.board = board, .from = from, .type = type};
    bool done[REANTICS_BOARD_LENGTH][REANTICS_BOARD_LENGTH] = {{false}};
    for (int x = 0; x < REANTICS_BOARD_LENGTH; ++x) {
        for (int y = 0; y < REANTICS_BOARD_LENGTH; ++y) ways.arrival[x][y] = (arrival_time){NEVER, 0};
    }
    ways.arrival[from.x][from.y] = (arrival_time){0, 0};
    for (reantics_coord tile; next_open(&ways, done, &tile);) {
        const reantics_coord beside[] = {
            {tile.x - 1, tile.y}, {tile.x + 1, tile.y}, {tile.x, tile.y - 1}, {tile.x, tile.y + 1}};
        for (int i = 0; i < 4; ++i) {
            const reantics_coord next = beside[i];
            if (!may_enter(&ways, next)) continue;
            const arrival_time then = enter(&ways, next, arrival_at(&ways, tile));
            if (!is_sooner(then, arrival_at(&ways, next))) continue;
            ways.arrival[next.x][next.y] = then;
            ways.before[next.x][next.y] = tile;
        }
    }
    return ways;
}

static rank by_arrival(const void* context, reantics_coord tile) {
    const arrival_time arrival = arrival_at(context, tile);
    return (rank){{arrival.turns, arrival.spent}};
}

// All tiles where the ant can be in this turn, its own first.
static reantics_coord_list now(referee_match* match, const way_map* ways) {
    reantics_coord_list tiles = reantics_new_coord_list(match, REANTICS_BOARD_LENGTH * REANTICS_BOARD_LENGTH);
    add(&tiles, ways->from);
    for (int x = 0; x < REANTICS_BOARD_LENGTH; ++x) {
        for (int y = 0; y < REANTICS_BOARD_LENGTH; ++y) {
            const reantics_coord tile = {x, y};
            if (!reantics_equal_coord(tile, ways->from) && arrival_at(ways, tile).turns == 0) add(&tiles, tile);
        }
    }
    return tiles;
}

// This turn's part of the way to `to`, the ant's own tile first.
static reantics_coord_list path_to(referee_match* match, const way_map* ways, reantics_coord to) {
    reantics_coord_list back = reantics_new_coord_list(match, REANTICS_BOARD_LENGTH * REANTICS_BOARD_LENGTH),
                        path = reantics_new_coord_list(match, REANTICS_BOARD_LENGTH);
    if (arrival_at(ways, to).turns < NEVER) {
        for (reantics_coord tile = to; !reantics_equal_coord(tile, ways->from); tile = ways->before[tile.x][tile.y]) {
            if (arrival_at(ways, tile).turns == 0) add(&back, tile);
        }
    }
    add(&path, ways->from);
    while (back.count > 0) add(&path, back.items[--back.count]);
    return path;
}

// Each of the following gives an order to an ant: true, and `move` is it; false: it has none.

static bool walk(referee_match* match, const way_map* ways, reantics_coord to, reantics_move* move) {
    *move = (reantics_move){.move_type = REANTICS_MOVE_ANT, .coord_list = path_to(match, ways, to)};
    return move->coord_list.count > 1;
}

// A move that attacks one of `targets` in this turn: from the tile that is quickest to reach.
static bool attack_now(referee_match* match, const way_map* ways, const reantics_ant* ant, reantics_coord_list targets,
                       reantics_move* move) {
    const reantics_coord_list tiles = now(match, ways);
    reantics_coord_list stands = reantics_new_coord_list(match, tiles.count);
    for (size_t i = 0; i < tiles.count; ++i) {
        bool in_range = false;
        for (size_t j = 0; j < targets.count; ++j) {
            in_range = in_range || distance(tiles.items[i], targets.items[j]) <= RANGE[ant->type];
        }
        if (in_range) add(&stands, tiles.items[i]);
    }
    if (stands.count == 0) return false;
    walk(match, ways, best(stands, by_arrival, ways), move);
    return true;  // to stay is an order too: the ant attacks from where it is
}

// A worker goes for food, or home with it, to whichever is reached first.
static bool work(referee_match* match, const layout* board, const reantics_ant* worker, reantics_move* move) {
    const reantics_coord_list goals = worker->carrying
                                          ? find(match, board->mine->constrs, REANTICS_ANTHILL, REANTICS_TUNNEL)
                                          : find(match, board->neutral, REANTICS_FOOD, REANTICS_FOOD);
    if (goals.count == 0) return false;
    const way_map ways = ways_of(board, worker->coords, REANTICS_WORKER);
    return walk(match, &ways, best(goals, by_arrival, &ways), move);
}

static rank by_leaving(const void* context, reantics_coord tile) {
    const way_map* ways = context;
    const arrival_time arrival = arrival_at(ways, tile);
    return (rank){{reantics_equal_coord(tile, ways->from), arrival.turns, arrival.spent}};
}

// Two workers that got no work and block each other: the first steps aside.
static bool step_aside(referee_match* match, const layout* board, reantics_move* move) {
    const reantics_ant_list ants = board->mine->ants;
    const reantics_ant* first = NULL;
    size_t waiting = 0;
    for (size_t i = 0; i < ants.count; ++i) {
        if (!is_worker(&ants.items[i]) || ants.items[i].has_moved) continue;
        if (waiting++ == 0) first = &ants.items[i];
    }
    if (waiting < 2) return false;
    const way_map ways = ways_of(board, first->coords, REANTICS_WORKER);
    return walk(match, &ways, best(now(match, &ways), by_leaving, &ways), move);
}

// A fighter attacks whom it can, else walks towards the enemy that it reaches first, else leaves the tiles that the
// workers need.
static bool fight(referee_match* match, const layout* board, const reantics_ant* fighter, reantics_coord_list enemies,
                  reantics_move* move) {
    const way_map ways = ways_of(board, fighter->coords, fighter->type);
    if (attack_now(match, &ways, fighter, enemies, move)) return true;
    if (enemies.count > 0) return walk(match, &ways, best(enemies, by_arrival, &ways), move);
    if (at(board, fighter->coords) == 0 && fighter->coords.y >= 3) return false;
    reantics_coord_list posts = reantics_new_coord_list(match, 2 * REANTICS_BOARD_LENGTH);
    for (int x = 0; x < REANTICS_BOARD_LENGTH; ++x) {
        for (int y = 3; y <= 4; ++y) {
            if (at(board, (reantics_coord){x, y}) == 0) add(&posts, (reantics_coord){x, y});
        }
    }
    return posts.count > 0 && walk(match, &ways, best(posts, by_arrival, &ways), move);
}

static int danger(const layout* board, reantics_coord tile) {
    int sum = 0;
    for (size_t i = 0; i < board->theirs->ants.count; ++i) {
        const reantics_ant* enemy = &board->theirs->ants.items[i];
        const int far = distance(tile, enemy->coords);
        if (is_fighter(enemy) && far < 8) sum += 8 - far;
    }
    return sum;
}

typedef struct {
    const layout* board;
    bool frail;
} queen_context;

static rank by_safety(const void* context, reantics_coord tile) {
    const queen_context* queen = context;
    const bool in_the_way = at(queen->board, tile) != 0 && !is_grass(queen->board, tile);
    return (rank){{in_the_way, queen->frail ? danger(queen->board, tile) : 0, tile.y}};
}

// The queen strikes at who comes near, runs when she is frail, and otherwise keeps off the tiles that others need.
static bool rule(referee_match* match, const layout* board, const reantics_ant* queen, reantics_coord_list enemies,
                 reantics_move* move) {
    const way_map ways = ways_of(board, queen->coords, REANTICS_QUEEN);
    const reantics_coord_list tiles = now(match, &ways);
    const bool frail = queen->health <= FRAIL;
    if ((!frail || tiles.count == 1) && attack_now(match, &ways, queen, enemies, move)) return true;
    return walk(match, &ways, best(tiles, by_safety, &(queen_context){board, frail}), move);
}

static size_t count_of(reantics_ant_list ants, bool (*is)(const reantics_ant* ant)) {
    size_t count = 0;
    for (size_t i = 0; i < ants.count; ++i) count += is(&ants.items[i]);
    return count;
}

// What the anthill should make now: soldiers against enemies that are near, else the second worker. False: nothing.
static bool wanted(const layout* board, size_t enemies, reantics_ant_type* type) {
    const size_t workers = count_of(board->mine->ants, is_worker), fighters = count_of(board->mine->ants, is_fighter);
    *type = workers > 0 && fighters < enemies ? REANTICS_SOLDIER : REANTICS_WORKER;
    return *type == REANTICS_SOLDIER || workers < WORKERS;
}

// The free tile of the enemy's side, other than `taken`, that is the longest way from its anthill and its tunnel.
static reantics_coord far_from_home(referee_match* match, const layout* board, reantics_coord taken) {
    const reantics_coord_list homes = find(match, board->theirs->constrs, REANTICS_ANTHILL, REANTICS_TUNNEL);
    way_map* ways = referee_allocate(match, homes.count * sizeof(way_map));
    for (size_t i = 0; i < homes.count; ++i) ways[i] = ways_of(board, homes.items[i], REANTICS_WORKER);
    reantics_coord found = taken;
    arrival_time farthest = {-1, 0};
    for (int x = 0; x < REANTICS_BOARD_LENGTH; ++x) {
        for (int y = 6; y < REANTICS_BOARD_LENGTH; ++y) {
            const reantics_coord tile = {x, y};
            if (at(board, tile) != 0 || reantics_equal_coord(tile, taken)) continue;
            arrival_time nearest = {NEVER, 0};
            for (size_t i = 0; i < homes.count; ++i) {
                if (is_sooner(arrival_at(&ways[i], tile), nearest)) nearest = arrival_at(&ways[i], tile);
            }
            if (!is_sooner(farthest, nearest)) continue;
            farthest = nearest;
            found = tile;
        }
    }
    return found;
}

// Anthill and tunnel share our side, so that no tile of it is far from both; the grass lies where food would be
// farthest.
static reantics_coord_list get_placement(referee_match* match, const reantics_game_state* current_state) {
    static reantics_coord ours[] = {{2, 1}, {7, 1}, {0, 3}, {4, 3}, {5, 3}, {9, 3},
                                    {0, 0}, {9, 0}, {4, 0}, {5, 0}, {1, 3}};
    if (current_state->phase == REANTICS_SETUP_PHASE_1) return (reantics_coord_list){ours, 11};
    const layout board = board_of(current_state);
    reantics_coord_list food = reantics_new_coord_list(match, 2);
    add(&food, far_from_home(match, &board, (reantics_coord){-1, -1}));
    add(&food, far_from_home(match, &board, food.items[0]));
    return food;
}

static reantics_move get_move(referee_match* match, const reantics_game_state* current_state) {
    const layout board = board_of(current_state);
    const reantics_coord_list enemies = near_enemies(match, &board);
    reantics_move move;
    for (size_t i = 0; i < board.mine->ants.count; ++i) {
        const reantics_ant* ant = &board.mine->ants.items[i];
        if (ant->has_moved) continue;
        const bool ordered = is_queen(ant)    ? rule(match, &board, ant, enemies, &move)
                             : is_worker(ant) ? work(match, &board, ant, &move)
                                              : fight(match, &board, ant, enemies, &move);
        if (ordered) return move;
    }
    if (step_aside(match, &board, &move)) return move;
    reantics_coord_list hill = find(match, board.mine->constrs, REANTICS_ANTHILL, REANTICS_ANTHILL);
    reantics_ant_type type;
    if (wanted(&board, enemies.count, &type) && !has_ant(&board, hill.items[0]) &&
        board.mine->food_count >= COST[type]) {
        return (reantics_move){REANTICS_BUILD, .coord_list = hill, .build_type = referee_some(type)};
    }
    return (reantics_move){.move_type = REANTICS_END};
}

typedef struct {
    const layout* board;
    int attack;
} blow_context;

static rank by_need(const void* context, reantics_coord tile) {
    const blow_context* blow = context;
    const reantics_ant_list ants = blow->board->theirs->ants;
    const reantics_ant* enemy = ants.items;
    while (!reantics_equal_coord(enemy->coords, tile)) ++enemy;
    const bool survives = enemy->health > blow->attack, harmless = at(blow->board, tile) != REANTICS_ANTHILL;
    return (rank){{!is_queen(enemy), survives, harmless, enemy->health}};
}

// The queen, then an ant that one blow kills, then one on an anthill, then the weakest.
static reantics_coord get_attack(referee_match* match, const reantics_game_state* current_state,
                                 const reantics_ant* attacking_ant, reantics_coord_list enemy_locations) {
    (void)match;
    const layout board = board_of(current_state);
    return best(enemy_locations, by_need, &(blow_context){&board, ATTACK[attacking_ant->type]});
}

int main(void) {
    return reantics_run(&(reantics_bot){
        .name = "Forager (C)", .get_placement = get_placement, .get_move = get_move, .get_attack = get_attack});
}
