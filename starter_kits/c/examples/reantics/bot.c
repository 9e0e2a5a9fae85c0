// Forager: two workers carry food home by the quickest way, the queen stands beside the anthill, and soldiers are
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

static int distance(Coord a, Coord b) { return abs(a.x - b.x) + abs(a.y - b.y); }
static bool onBoard(Coord tile) { return tile.x >= 0 && tile.x < BOARD_LENGTH && tile.y >= 0 && tile.y < BOARD_LENGTH; }
static bool isQueen(const Ant* ant) { return ant->type == QUEEN; }
static bool isWorker(const Ant* ant) { return ant->type == WORKER; }
static bool isFighter(const Ant* ant) { return !isQueen(ant) && !isWorker(ant); }

static void add(CoordList* tiles, Coord tile) { tiles->items[tiles->count++] = tile; }

// The state, laid out by tile.
typedef struct {
    const Inventory* mine;
    const Inventory* theirs;
    ConstructionList neutral;
    int constr[BOARD_LENGTH][BOARD_LENGTH];  // the construction's type, 0 = none
    bool ants[BOARD_LENGTH][BOARD_LENGTH];
} Board;

static Board boardOf(const GameState* state) {
    const Inventory* inventories = state->inventories.items;
    Board board = {.mine = &inventories[state->whoseTurn],
                   .theirs = &inventories[1 - state->whoseTurn],
                   .neutral = inventories[2].constrs};
    for (int player = 0; player < 3; ++player) {
        const ConstructionList constrs = inventories[player].constrs;
        for (size_t i = 0; i < constrs.count; ++i) {
            board.constr[constrs.items[i].coords.x][constrs.items[i].coords.y] = constrs.items[i].type;
        }
        const AntList ants = inventories[player].ants;
        for (size_t i = 0; i < ants.count; ++i) board.ants[ants.items[i].coords.x][ants.items[i].coords.y] = true;
    }
    return board;
}

static int at(const Board* board, Coord tile) { return board->constr[tile.x][tile.y]; }
static bool hasAnt(const Board* board, Coord tile) { return board->ants[tile.x][tile.y]; }
static bool isGrass(const Board* board, Coord tile) { return at(board, tile) == GRASS; }

// The tiles of these constructions of one type, or of either of two.
static CoordList find(Match* match, ConstructionList constrs, int type, int other) {
    CoordList tiles = referee_new_coord_list(match, constrs.count);
    for (size_t i = 0; i < constrs.count; ++i) {
        if (constrs.items[i].type == type || constrs.items[i].type == other) add(&tiles, constrs.items[i].coords);
    }
    return tiles;
}

static CoordList nearEnemies(Match* match, const Board* board) {
    const AntList ants = board->theirs->ants;
    CoordList tiles = referee_new_coord_list(match, ants.count);
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
static Coord best(CoordList tiles, Rank (*rankOf)(const void* context, Coord tile), const void* context) {
    Coord found = tiles.items[0];
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

// The quickest ways of one kind of ant from one tile to all others. What an ant stands on now can be entered a turn
// later at the earliest, so the part of a way that is walked in this turn is always free.
typedef struct {
    const Board* board;
    Coord from;
    int type;
    Arrival arrival[BOARD_LENGTH][BOARD_LENGTH];
    Coord before[BOARD_LENGTH][BOARD_LENGTH];
} Ways;

static Arrival arrivalAt(const Ways* ways, Coord tile) { return ways->arrival[tile.x][tile.y]; }

static bool mayEnter(const Ways* ways, Coord tile) {
    return onBoard(tile) && !(ways->type == QUEEN && (tile.y == 4 || tile.y == 5));
}

static Arrival enter(const Ways* ways, Coord tile, Arrival before) {
    const bool slow = isGrass(ways->board, tile) && ways->type != DRONE && ways->type != R_SOLDIER;
    const int cost = slow ? 2 : 1, moves = MOVES[ways->type];
    if (hasAnt(ways->board, tile)) return (Arrival){before.turns + 1, cost};
    if (before.spent + cost <= moves) return (Arrival){before.turns, before.spent + cost};
    return (Arrival){before.turns + 1, cost < moves ? cost : moves};
}

// The tile to go on from: the soonest of those that are not done. False: there is none.
static bool nextOpen(const Ways* ways, bool done[BOARD_LENGTH][BOARD_LENGTH], Coord* next) {
    Arrival soonest = {NEVER, 0};
    for (int x = 0; x < BOARD_LENGTH; ++x) {
        for (int y = 0; y < BOARD_LENGTH; ++y) {
            if (done[x][y] || !isSooner(ways->arrival[x][y], soonest)) continue;
            soonest = ways->arrival[x][y];
            *next = (Coord){x, y};
        }
    }
    if (soonest.turns < NEVER) done[next->x][next->y] = true;
    return soonest.turns < NEVER;
}

static Ways waysOf(const Board* board, Coord from, int type) {
    Ways ways = {.board = board, .from = from, .type = type};
    bool done[BOARD_LENGTH][BOARD_LENGTH] = {{false}};
    for (int x = 0; x < BOARD_LENGTH; ++x) {
        for (int y = 0; y < BOARD_LENGTH; ++y) ways.arrival[x][y] = (Arrival){NEVER, 0};
    }
    ways.arrival[from.x][from.y] = (Arrival){0, 0};
    for (Coord tile; nextOpen(&ways, done, &tile);) {
        const Coord beside[] = {
            {tile.x - 1, tile.y}, {tile.x + 1, tile.y}, {tile.x, tile.y - 1}, {tile.x, tile.y + 1}};
        for (int i = 0; i < 4; ++i) {
            const Coord next = beside[i];
            if (!mayEnter(&ways, next)) continue;
            const Arrival then = enter(&ways, next, arrivalAt(&ways, tile));
            if (!isSooner(then, arrivalAt(&ways, next))) continue;
            ways.arrival[next.x][next.y] = then;
            ways.before[next.x][next.y] = tile;
        }
    }
    return ways;
}

static Rank byArrival(const void* context, Coord tile) {
    const Arrival arrival = arrivalAt(context, tile);
    return (Rank){{arrival.turns, arrival.spent}};
}

// All tiles where the ant can be in this turn, its own first.
static CoordList now(Match* match, const Ways* ways) {
    CoordList tiles = referee_new_coord_list(match, BOARD_LENGTH * BOARD_LENGTH);
    add(&tiles, ways->from);
    for (int x = 0; x < BOARD_LENGTH; ++x) {
        for (int y = 0; y < BOARD_LENGTH; ++y) {
            const Coord tile = {x, y};
            if (!equalCoord(tile, ways->from) && arrivalAt(ways, tile).turns == 0) add(&tiles, tile);
        }
    }
    return tiles;
}

// This turn's part of the way to `to`, the ant's own tile first.
static CoordList pathTo(Match* match, const Ways* ways, Coord to) {
    CoordList back = referee_new_coord_list(match, BOARD_LENGTH * BOARD_LENGTH), path = referee_new_coord_list(match, BOARD_LENGTH);
    if (arrivalAt(ways, to).turns < NEVER) {
        for (Coord tile = to; !equalCoord(tile, ways->from); tile = ways->before[tile.x][tile.y]) {
            if (arrivalAt(ways, tile).turns == 0) add(&back, tile);
        }
    }
    add(&path, ways->from);
    while (back.count > 0) add(&path, back.items[--back.count]);
    return path;
}

// Each of the following gives an order to an ant: true, and `move` is it; false: it has none.

static bool walk(Match* match, const Ways* ways, Coord to, Move* move) {
    *move = (Move){.moveType = MOVE_ANT, .coordList = pathTo(match, ways, to)};
    return move->coordList.count > 1;
}

// A move that attacks one of `targets` in this turn: from the tile that is quickest to reach.
static bool attackNow(Match* match, const Ways* ways, const Ant* ant, CoordList targets, Move* move) {
    const CoordList tiles = now(match, ways);
    CoordList stands = referee_new_coord_list(match, tiles.count);
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
static bool work(Match* match, const Board* board, const Ant* worker, Move* move) {
    const CoordList goals = worker->carrying ? find(match, board->mine->constrs, ANTHILL, TUNNEL)
                                             : find(match, board->neutral, FOOD, FOOD);
    if (goals.count == 0) return false;
    const Ways ways = waysOf(board, worker->coords, WORKER);
    return walk(match, &ways, best(goals, byArrival, &ways), move);
}

static Rank byLeaving(const void* context, Coord tile) {
    const Ways* ways = context;
    const Arrival arrival = arrivalAt(ways, tile);
    return (Rank){{equalCoord(tile, ways->from), arrival.turns, arrival.spent}};
}

// Two workers that could not be given work stand in each other's way: the first steps aside.
static bool stepAside(Match* match, const Board* board, Move* move) {
    const AntList ants = board->mine->ants;
    const Ant* first = NULL;
    size_t waiting = 0;
    for (size_t i = 0; i < ants.count; ++i) {
        if (!isWorker(&ants.items[i]) || ants.items[i].hasMoved) continue;
        if (waiting++ == 0) first = &ants.items[i];
    }
    if (waiting < 2) return false;
    const Ways ways = waysOf(board, first->coords, WORKER);
    return walk(match, &ways, best(now(match, &ways), byLeaving, &ways), move);
}

// A fighter attacks whom it can, else walks towards the enemy that it reaches first, else leaves the tiles that the
// workers need.
static bool fight(Match* match, const Board* board, const Ant* fighter, CoordList enemies, Move* move) {
    const Ways ways = waysOf(board, fighter->coords, fighter->type);
    if (attackNow(match, &ways, fighter, enemies, move)) return true;
    if (enemies.count > 0) return walk(match, &ways, best(enemies, byArrival, &ways), move);
    if (at(board, fighter->coords) == 0 && fighter->coords.y >= 3) return false;
    CoordList posts = referee_new_coord_list(match, 2 * BOARD_LENGTH);
    for (int x = 0; x < BOARD_LENGTH; ++x) {
        for (int y = 3; y <= 4; ++y) {
            if (at(board, (Coord){x, y}) == 0) add(&posts, (Coord){x, y});
        }
    }
    return posts.count > 0 && walk(match, &ways, best(posts, byArrival, &ways), move);
}

static int danger(const Board* board, Coord tile) {
    int sum = 0;
    for (size_t i = 0; i < board->theirs->ants.count; ++i) {
        const Ant* enemy = &board->theirs->ants.items[i];
        const int far = distance(tile, enemy->coords);
        if (isFighter(enemy) && far < 8) sum += 8 - far;
    }
    return sum;
}

typedef struct {
    const Board* board;
    bool frail;
} Queen;

static Rank bySafety(const void* context, Coord tile) {
    const Queen* queen = context;
    const bool inTheWay = at(queen->board, tile) != 0 && !isGrass(queen->board, tile);
    return (Rank){{inTheWay, queen->frail ? danger(queen->board, tile) : 0, tile.y}};
}

// The queen strikes at who comes near, runs when she is frail, and otherwise keeps off the tiles that others need.
static bool rule(Match* match, const Board* board, const Ant* queen, CoordList enemies, Move* move) {
    const Ways ways = waysOf(board, queen->coords, QUEEN);
    const CoordList tiles = now(match, &ways);
    const bool frail = queen->health <= FRAIL;
    if ((!frail || tiles.count == 1) && attackNow(match, &ways, queen, enemies, move)) return true;
    return walk(match, &ways, best(tiles, bySafety, &(Queen){board, frail}), move);
}

static size_t countOf(AntList ants, bool (*is)(const Ant* ant)) {
    size_t count = 0;
    for (size_t i = 0; i < ants.count; ++i) count += is(&ants.items[i]);
    return count;
}

// What the anthill should make now: soldiers against enemies that are near, else the second worker. False: nothing.
static bool wanted(const Board* board, size_t enemies, int* type) {
    const size_t workers = countOf(board->mine->ants, isWorker), fighters = countOf(board->mine->ants, isFighter);
    *type = workers > 0 && fighters < enemies ? SOLDIER : WORKER;
    return *type == SOLDIER || workers < WORKERS;
}

// The free tile of the enemy's side, other than `taken`, that is the longest way from its anthill and its tunnel.
static Coord farFromHome(Match* match, const Board* board, Coord taken) {
    const CoordList homes = find(match, board->theirs->constrs, ANTHILL, TUNNEL);
    Ways* ways = referee_allocate(match, homes.count * sizeof(Ways));
    for (size_t i = 0; i < homes.count; ++i) ways[i] = waysOf(board, homes.items[i], WORKER);
    Coord found = taken;
    Arrival farthest = {-1, 0};
    for (int x = 0; x < BOARD_LENGTH; ++x) {
        for (int y = 6; y < BOARD_LENGTH; ++y) {
            const Coord tile = {x, y};
            if (at(board, tile) != 0 || equalCoord(tile, taken)) continue;
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
static CoordList getPlacement(Match* match, const GameState* currentState) {
    static Coord ours[] = {{2, 1}, {7, 1}, {0, 3}, {4, 3}, {5, 3}, {9, 3}, {0, 0}, {9, 0}, {4, 0}, {5, 0}, {1, 3}};
    if (currentState->phase == SETUP_PHASE_1) return (CoordList){ours, 11};
    const Board board = boardOf(currentState);
    CoordList food = referee_new_coord_list(match, 2);
    add(&food, farFromHome(match, &board, (Coord){-1, -1}));
    add(&food, farFromHome(match, &board, food.items[0]));
    return food;
}

static Move getMove(Match* match, const GameState* currentState) {
    const Board board = boardOf(currentState);
    const CoordList enemies = nearEnemies(match, &board);
    Move move;
    for (size_t i = 0; i < board.mine->ants.count; ++i) {
        const Ant* ant = &board.mine->ants.items[i];
        if (ant->hasMoved) continue;
        const bool ordered = isQueen(ant)    ? rule(match, &board, ant, enemies, &move)
                             : isWorker(ant) ? work(match, &board, ant, &move)
                                             : fight(match, &board, ant, enemies, &move);
        if (ordered) return move;
    }
    if (stepAside(match, &board, &move)) return move;
    CoordList hill = find(match, board.mine->constrs, ANTHILL, ANTHILL);
    int type;
    if (wanted(&board, enemies.count, &type) && !hasAnt(&board, hill.items[0]) &&
        board.mine->foodCount >= COST[type]) {
        return (Move){BUILD, .coordList = hill, .buildType = referee_some(type)};
    }
    return (Move){.moveType = END};
}

typedef struct {
    const Board* board;
    int attack;
} Blow;

static Rank byNeed(const void* context, Coord tile) {
    const Blow* blow = context;
    const AntList ants = blow->board->theirs->ants;
    const Ant* enemy = ants.items;
    while (!equalCoord(enemy->coords, tile)) ++enemy;
    const bool survives = enemy->health > blow->attack, harmless = at(blow->board, tile) != ANTHILL;
    return (Rank){{!isQueen(enemy), survives, harmless, enemy->health}};
}

// The queen, then whom one blow kills, then who stands on an anthill, then the weakest.
static Coord getAttack(Match* match, const GameState* currentState, const Ant* attackingAnt, CoordList enemyLocations) {
    (void)match;
    const Board board = boardOf(currentState);
    return best(enemyLocations, byNeed, &(Blow){&board, ATTACK[attackingAnt->type]});
}

int main(void) {
    return referee_run(&(ReAnticsBot){
        .name = "Forager (C)", .getPlacement = getPlacement, .getMove = getMove, .getAttack = getAttack});
}
