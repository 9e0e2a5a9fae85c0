// Forager: two workers carry food home by the quickest way, the queen waits next to the anthill, and soldiers are
// built when enemies come near.
//
// It keeps nothing between calls. Each getMove looks at the state afresh and gives one order to one ant that has not
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
static bool onBoard(reantics_coord tile) {
    return tile.x >= 0 && tile.x < REANTICS_BOARD_LENGTH && tile.y >= 0 && tile.y < REANTICS_BOARD_LENGTH;
}
static bool isQueen(const reantics_ant* ant) { return ant->type == REANTICS_QUEEN; }
static bool isWorker(const reantics_ant* ant) { return ant->type == REANTICS_WORKER; }
static bool isFighter(const reantics_ant* ant) { return !isQueen(ant) && !isWorker(ant); }

static void add(reantics_coord_list* tiles, reantics_coord tile) { tiles->items[tiles->count++] = tile; }

// The state, laid out by tile.
typedef struct {
    const reantics_inventory* mine;
    const reantics_inventory* theirs;
    reantics_construction_list neutral;
    int constr[REANTICS_BOARD_LENGTH][REANTICS_BOARD_LENGTH];  // the construction's type, 0 = none
    bool ants[REANTICS_BOARD_LENGTH][REANTICS_BOARD_LENGTH];
} Board;

static Board boardOf(const reantics_game_state* state) {
    const reantics_inventory* inventories = state->inventories.items;
    Board board = {.mine = &inventories[state->whoseTurn],
                   .theirs = &inventories[1 - state->whoseTurn],
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

static int at(const Board* board, reantics_coord tile) { return board->constr[tile.x][tile.y]; }
static bool hasAnt(const Board* board, reantics_coord tile) { return board->ants[tile.x][tile.y]; }
static bool isGrass(const Board* board, reantics_coord tile) { return at(board, tile) == REANTICS_GRASS; }

// The tiles of these constructions of one type, or of either of two.
static reantics_coord_list find(referee_match* match, reantics_construction_list constrs, int type, int other) {
    reantics_coord_list tiles = reantics_new_coord_list(match, constrs.count);
    for (size_t i = 0; i < constrs.count; ++i) {
        if (constrs.items[i].type == type || constrs.items[i].type == other) add(&tiles, constrs.items[i].coords);
    }
    return tiles;
}

static reantics_coord_list nearEnemies(referee_match* match, const Board* board) {
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
} Rank;

static bool isLess(Rank a, Rank b) {
    for (int i = 0; i < 4; ++i) {
        if (a.by[i] != b.by[i]) return a.by[i] < b.by[i];
    }
    return false;
}

// The tile with the least rank; the first of equals. `tiles` is not empty.
static reantics_coord best(reantics_coord_list tiles, Rank (*rankOf)(const void* context, reantics_coord tile),
                           const void* context) {
    reantics_coord found = tiles.items[0];
    for (size_t i = 1; i < tiles.count; ++i) {
        if (isLess(rankOf(context, tiles.items[i]), rankOf(context, found))) found = tiles.items[i];
    }
    return found;
}

// When an ant can be somewhere: after how many more ENDs, and how many of its moves it has then spent.
typedef struct {
    int turns;
    int spent;
} Arrival;

static bool isSooner(Arrival a, Arrival b) { return a.turns != b.turns ? a.turns < b.turns : a.spent < b.spent; }

// The quickest ways of one kind of ant from one tile to all others. A tile with an ant on it can be entered a turn
// later at the earliest, so the part of a way that is walked in this turn is always free.
typedef struct {
    const Board* board;
    reantics_coord from;
    int type;
    Arrival arrival[REANTICS_BOARD_LENGTH][REANTICS_BOARD_LENGTH];
    reantics_coord before[REANTICS_BOARD_LENGTH][REANTICS_BOARD_LENGTH];
} Ways;

static Arrival arrivalAt(const Ways* ways, reantics_coord tile) { return ways->arrival[tile.x][tile.y]; }

static bool mayEnter(const Ways* ways, reantics_coord tile) {
    return onBoard(tile) && !(ways->type == REANTICS_QUEEN && (tile.y == 4 || tile.y == 5));
}

static Arrival enter(const Ways* ways, reantics_coord tile, Arrival before) {
    const bool slow = isGrass(ways->board, tile) && ways->type != REANTICS_DRONE && ways->type != REANTICS_R_SOLDIER;
    const int cost = slow ? 2 : 1, moves = MOVES[ways->type];
    if (hasAnt(ways->board, tile)) return (Arrival){before.turns + 1, cost};
    if (before.spent + cost <= moves) return (Arrival){before.turns, before.spent + cost};
    return (Arrival){before.turns + 1, cost < moves ? cost : moves};
}

// The tile to go on from: the soonest of those that are not done. False: there is none.
static bool nextOpen(const Ways* ways, bool done[REANTICS_BOARD_LENGTH][REANTICS_BOARD_LENGTH], reantics_coord* next) {
    Arrival soonest = {NEVER, 0};
    for (int x = 0; x < REANTICS_BOARD_LENGTH; ++x) {
        for (int y = 0; y < REANTICS_BOARD_LENGTH; ++y) {
            if (done[x][y] || !isSooner(ways->arrival[x][y], soonest)) continue;
            soonest = ways->arrival[x][y];
            *next = (reantics_coord){x, y};
        }
    }
    if (soonest.turns < NEVER) done[next->x][next->y] = true;
    return soonest.turns < NEVER;
}

static Ways waysOf(const Board* board, reantics_coord from, int type) {
    Ways ways = {.board = board, .from = from, .type = type};
    bool done[REANTICS_BOARD_LENGTH][REANTICS_BOARD_LENGTH] = {{false}};
    for (int x = 0; x < REANTICS_BOARD_LENGTH; ++x) {
        for (int y = 0; y < REANTICS_BOARD_LENGTH; ++y) ways.arrival[x][y] = (Arrival){NEVER, 0};
    }
    ways.arrival[from.x][from.y] = (Arrival){0, 0};
    for (reantics_coord tile; nextOpen(&ways, done, &tile);) {
        const reantics_coord beside[] = {
            {tile.x - 1, tile.y}, {tile.x + 1, tile.y}, {tile.x, tile.y - 1}, {tile.x, tile.y + 1}};
        for (int i = 0; i < 4; ++i) {
            const reantics_coord next = beside[i];
            if (!mayEnter(&ways, next)) continue;
            const Arrival then = enter(&ways, next, arrivalAt(&ways, tile));
            if (!isSooner(then, arrivalAt(&ways, next))) continue;
            ways.arrival[next.x][next.y] = then;
            ways.before[next.x][next.y] = tile;
        }
    }
    return ways;
}

static Rank byArrival(const void* context, reantics_coord tile) {
    const Arrival arrival = arrivalAt(context, tile);
    return (Rank){{arrival.turns, arrival.spent}};
}

// All tiles where the ant can be in this turn, its own first.
static reantics_coord_list now(referee_match* match, const Ways* ways) {
    reantics_coord_list tiles = reantics_new_coord_list(match, REANTICS_BOARD_LENGTH * REANTICS_BOARD_LENGTH);
    add(&tiles, ways->from);
    for (int x = 0; x < REANTICS_BOARD_LENGTH; ++x) {
        for (int y = 0; y < REANTICS_BOARD_LENGTH; ++y) {
            const reantics_coord tile = {x, y};
            if (!reantics_equal_coord(tile, ways->from) && arrivalAt(ways, tile).turns == 0) add(&tiles, tile);
        }
    }
    return tiles;
}

// This turn's part of the way to `to`, the ant's own tile first.
static reantics_coord_list pathTo(referee_match* match, const Ways* ways, reantics_coord to) {
    reantics_coord_list back = reantics_new_coord_list(match, REANTICS_BOARD_LENGTH * REANTICS_BOARD_LENGTH),
                        path = reantics_new_coord_list(match, REANTICS_BOARD_LENGTH);
    if (arrivalAt(ways, to).turns < NEVER) {
        for (reantics_coord tile = to; !reantics_equal_coord(tile, ways->from); tile = ways->before[tile.x][tile.y]) {
            if (arrivalAt(ways, tile).turns == 0) add(&back, tile);
        }
    }
    add(&path, ways->from);
    while (back.count > 0) add(&path, back.items[--back.count]);
    return path;
}

// Each of the following gives an order to an ant: true, and `move` is it; false: it has none.

static bool walk(referee_match* match, const Ways* ways, reantics_coord to, reantics_move* move) {
    *move = (reantics_move){.moveType = REANTICS_MOVE_ANT, .coordList = pathTo(match, ways, to)};
    return move->coordList.count > 1;
}

// A move that attacks one of `targets` in this turn: from the tile that is quickest to reach.
static bool attackNow(referee_match* match, const Ways* ways, const reantics_ant* ant, reantics_coord_list targets,
                      reantics_move* move) {
    const reantics_coord_list tiles = now(match, ways);
    reantics_coord_list stands = reantics_new_coord_list(match, tiles.count);
    for (size_t i = 0; i < tiles.count; ++i) {
        bool inRange = false;
        for (size_t j = 0; j < targets.count; ++j) {
            inRange = inRange || distance(tiles.items[i], targets.items[j]) <= RANGE[ant->type];
        }
        if (inRange) add(&stands, tiles.items[i]);
    }
    if (stands.count == 0) return false;
    walk(match, ways, best(stands, byArrival, ways), move);
    return true;  // to stay is an order too: the ant attacks from where it is
}

// A worker goes for food, or home with it, to whichever is reached first.
static bool work(referee_match* match, const Board* board, const reantics_ant* worker, reantics_move* move) {
    const reantics_coord_list goals = worker->carrying
                                          ? find(match, board->mine->constrs, REANTICS_ANTHILL, REANTICS_TUNNEL)
                                          : find(match, board->neutral, REANTICS_FOOD, REANTICS_FOOD);
    if (goals.count == 0) return false;
    const Ways ways = waysOf(board, worker->coords, REANTICS_WORKER);
    return walk(match, &ways, best(goals, byArrival, &ways), move);
}

static Rank byLeaving(const void* context, reantics_coord tile) {
    const Ways* ways = context;
    const Arrival arrival = arrivalAt(ways, tile);
    return (Rank){{reantics_equal_coord(tile, ways->from), arrival.turns, arrival.spent}};
}

// Two workers that got no work and block each other: the first steps aside.
static bool stepAside(referee_match* match, const Board* board, reantics_move* move) {
    const reantics_ant_list ants = board->mine->ants;
    const reantics_ant* first = NULL;
    size_t waiting = 0;
    for (size_t i = 0; i < ants.count; ++i) {
        if (!isWorker(&ants.items[i]) || ants.items[i].hasMoved) continue;
        if (waiting++ == 0) first = &ants.items[i];
    }
    if (waiting < 2) return false;
    const Ways ways = waysOf(board, first->coords, REANTICS_WORKER);
    return walk(match, &ways, best(now(match, &ways), byLeaving, &ways), move);
}

// A fighter attacks whom it can, else walks towards the enemy that it reaches first, else leaves the tiles that the
// workers need.
static bool fight(referee_match* match, const Board* board, const reantics_ant* fighter, reantics_coord_list enemies,
                  reantics_move* move) {
    const Ways ways = waysOf(board, fighter->coords, fighter->type);
    if (attackNow(match, &ways, fighter, enemies, move)) return true;
    if (enemies.count > 0) return walk(match, &ways, best(enemies, byArrival, &ways), move);
    if (at(board, fighter->coords) == 0 && fighter->coords.y >= 3) return false;
    reantics_coord_list posts = reantics_new_coord_list(match, 2 * REANTICS_BOARD_LENGTH);
    for (int x = 0; x < REANTICS_BOARD_LENGTH; ++x) {
        for (int y = 3; y <= 4; ++y) {
            if (at(board, (reantics_coord){x, y}) == 0) add(&posts, (reantics_coord){x, y});
        }
    }
    return posts.count > 0 && walk(match, &ways, best(posts, byArrival, &ways), move);
}

static int danger(const Board* board, reantics_coord tile) {
    int sum = 0;
    for (size_t i = 0; i < board->theirs->ants.count; ++i) {
        const reantics_ant* enemy = &board->theirs->ants.items[i];
        const int far = distance(tile, enemy->coords);
        if (isFighter(enemy) && far < 8) sum += 8 - far;
    }
    return sum;
}

typedef struct {
    const Board* board;
    bool frail;
} Queen;

static Rank bySafety(const void* context, reantics_coord tile) {
    const Queen* queen = context;
    const bool inTheWay = at(queen->board, tile) != 0 && !isGrass(queen->board, tile);
    return (Rank){{inTheWay, queen->frail ? danger(queen->board, tile) : 0, tile.y}};
}

// The queen strikes at who comes near, runs when she is frail, and otherwise keeps off the tiles that others need.
static bool rule(referee_match* match, const Board* board, const reantics_ant* queen, reantics_coord_list enemies,
                 reantics_move* move) {
    const Ways ways = waysOf(board, queen->coords, REANTICS_QUEEN);
    const reantics_coord_list tiles = now(match, &ways);
    const bool frail = queen->health <= FRAIL;
    if ((!frail || tiles.count == 1) && attackNow(match, &ways, queen, enemies, move)) return true;
    return walk(match, &ways, best(tiles, bySafety, &(Queen){board, frail}), move);
}

static size_t countOf(reantics_ant_list ants, bool (*is)(const reantics_ant* ant)) {
    size_t count = 0;
    for (size_t i = 0; i < ants.count; ++i) count += is(&ants.items[i]);
    return count;
}

// What the anthill should make now: soldiers against enemies that are near, else the second worker. False: nothing.
static bool wanted(const Board* board, size_t enemies, int* type) {
    const size_t workers = countOf(board->mine->ants, isWorker), fighters = countOf(board->mine->ants, isFighter);
    *type = workers > 0 && fighters < enemies ? REANTICS_SOLDIER : REANTICS_WORKER;
    return *type == REANTICS_SOLDIER || workers < WORKERS;
}

// The free tile of the enemy's side, other than `taken`, that is the longest way from its anthill and its tunnel.
static reantics_coord farFromHome(referee_match* match, const Board* board, reantics_coord taken) {
    const reantics_coord_list homes = find(match, board->theirs->constrs, REANTICS_ANTHILL, REANTICS_TUNNEL);
    Ways* ways = referee_allocate(match, homes.count * sizeof(Ways));
    for (size_t i = 0; i < homes.count; ++i) ways[i] = waysOf(board, homes.items[i], REANTICS_WORKER);
    reantics_coord found = taken;
    Arrival farthest = {-1, 0};
    for (int x = 0; x < REANTICS_BOARD_LENGTH; ++x) {
        for (int y = 6; y < REANTICS_BOARD_LENGTH; ++y) {
            const reantics_coord tile = {x, y};
            if (at(board, tile) != 0 || reantics_equal_coord(tile, taken)) continue;
            Arrival nearest = {NEVER, 0};
            for (size_t i = 0; i < homes.count; ++i) {
                if (isSooner(arrivalAt(&ways[i], tile), nearest)) nearest = arrivalAt(&ways[i], tile);
            }
            if (!isSooner(farthest, nearest)) continue;
            farthest = nearest;
            found = tile;
        }
    }
    return found;
}

// Anthill and tunnel share our side, so that no tile of it is far from both; the grass lies where food would be
// farthest.
static reantics_coord_list getPlacement(referee_match* match, const reantics_game_state* currentState) {
    static reantics_coord ours[] = {{2, 1}, {7, 1}, {0, 3}, {4, 3}, {5, 3}, {9, 3},
                                    {0, 0}, {9, 0}, {4, 0}, {5, 0}, {1, 3}};
    if (currentState->phase == REANTICS_SETUP_PHASE_1) return (reantics_coord_list){ours, 11};
    const Board board = boardOf(currentState);
    reantics_coord_list food = reantics_new_coord_list(match, 2);
    add(&food, farFromHome(match, &board, (reantics_coord){-1, -1}));
    add(&food, farFromHome(match, &board, food.items[0]));
    return food;
}

static reantics_move getMove(referee_match* match, const reantics_game_state* currentState) {
    const Board board = boardOf(currentState);
    const reantics_coord_list enemies = nearEnemies(match, &board);
    reantics_move move;
    for (size_t i = 0; i < board.mine->ants.count; ++i) {
        const reantics_ant* ant = &board.mine->ants.items[i];
        if (ant->hasMoved) continue;
        const bool ordered = isQueen(ant)    ? rule(match, &board, ant, enemies, &move)
                             : isWorker(ant) ? work(match, &board, ant, &move)
                                             : fight(match, &board, ant, enemies, &move);
        if (ordered) return move;
    }
    if (stepAside(match, &board, &move)) return move;
    reantics_coord_list hill = find(match, board.mine->constrs, REANTICS_ANTHILL, REANTICS_ANTHILL);
    int type;
    if (wanted(&board, enemies.count, &type) && !hasAnt(&board, hill.items[0]) && board.mine->foodCount >= COST[type]) {
        return (reantics_move){REANTICS_BUILD, .coordList = hill, .buildType = referee_some(type)};
    }
    return (reantics_move){.moveType = REANTICS_END};
}

typedef struct {
    const Board* board;
    int attack;
} Blow;

static Rank byNeed(const void* context, reantics_coord tile) {
    const Blow* blow = context;
    const reantics_ant_list ants = blow->board->theirs->ants;
    const reantics_ant* enemy = ants.items;
    while (!reantics_equal_coord(enemy->coords, tile)) ++enemy;
    const bool survives = enemy->health > blow->attack, harmless = at(blow->board, tile) != REANTICS_ANTHILL;
    return (Rank){{!isQueen(enemy), survives, harmless, enemy->health}};
}

// The queen, then an ant that one blow kills, then one on an anthill, then the weakest.
static reantics_coord getAttack(referee_match* match, const reantics_game_state* currentState,
                                const reantics_ant* attackingAnt, reantics_coord_list enemyLocations) {
    (void)match;
    const Board board = boardOf(currentState);
    return best(enemyLocations, byNeed, &(Blow){&board, ATTACK[attackingAnt->type]});
}

int main(void) {
    return reantics_run(&(reantics_bot){
        .name = "Forager (C)", .getPlacement = getPlacement, .getMove = getMove, .getAttack = getAttack});
}
