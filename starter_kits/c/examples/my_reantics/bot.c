// Your ReAntics bot: it plays random legal moves as it stands; make it win. It places its pieces anywhere, and any ant
// takes any step until the turn ends. The types are in <referee/reantics.h>.

#include <referee/reantics.h>
#include <stdlib.h>

// The same match gives the same luck.
static void begin(Match* match) { srand((unsigned)match->seed); }

static bool isFree(const GameState* state, Coord tile) {
    for (size_t i = 0; i < state->inventories.count; ++i) {
        const ConstructionList constrs = state->inventories.items[i].constrs;
        for (size_t j = 0; j < constrs.count; ++j) {
            if (equalCoord(constrs.items[j].coords, tile)) return false;
        }
    }
    return true;
}

// The queen stays on our side, and every ant on the board and off the others' tiles.
static bool mayEnter(const GameState* state, const Ant* ant, Coord tile) {
    const int last = ant->type == QUEEN ? 3 : BOARD_LENGTH - 1;
    for (size_t i = 0; i < state->inventories.count; ++i) {
        const AntList ants = state->inventories.items[i].ants;
        for (size_t j = 0; j < ants.count; ++j) {
            if (equalCoord(ants.items[j].coords, tile)) return false;
        }
    }
    return tile.x >= 0 && tile.x < BOARD_LENGTH && tile.y >= 0 && tile.y <= last;
}

// The anthill, the tunnel and nine grass on our side; later two foods on the enemy's.
static CoordList getPlacement(Match* match, const GameState* currentState) {
    const int top = currentState->phase == SETUP_PHASE_1 ? 0 : 6;
    CoordList tiles = referee_new_coord_list(match, 40);
    for (int i = 0; i < 40; ++i) {
        const Coord tile = {i % 10, top + i / 10};
        if (!isFree(currentState, tile)) continue;
        const size_t place = (size_t)rand() % ++tiles.count;  // a shuffle: it goes anywhere among those before it
        tiles.items[tiles.count - 1] = tiles.items[place];
        tiles.items[place] = tile;
    }
    return tiles;  // the first eleven count, later the first two
}

static Move getMove(Match* match, const GameState* currentState) {
    // Move an ant: `CoordList path = referee_new_coord_list(match, 3);`, fill it, (Move){MOVE_ANT, .coordList = path}.
    // Build one: a list that holds the anthill alone, (Move){BUILD, .coordList = hill, .buildType = referee_some(WORKER)}.
    const AntList ants = currentState->inventories.items[currentState->whoseTurn].ants;
    CoordList steps = referee_new_coord_list(match, 2 * 4 * ants.count);  // pairs: from, to
    for (size_t i = 0; i < ants.count; ++i) {
        const Coord from = ants.items[i].coords;
        const Coord around[] = {{from.x - 1, from.y}, {from.x + 1, from.y}, {from.x, from.y - 1}, {from.x, from.y + 1}};
        for (int j = 0; j < 4; ++j) {
            if (ants.items[i].hasMoved || !mayEnter(currentState, &ants.items[i], around[j])) continue;
            steps.items[steps.count++] = from;
            steps.items[steps.count++] = around[j];
        }
    }
    const size_t step = (size_t)rand() % (steps.count / 2 + 1);
    if (step == steps.count / 2) return (Move){.moveType = END};
    return (Move){.moveType = MOVE_ANT, .coordList = {&steps.items[2 * step], 2}};
}

static Coord getAttack(Match* match, const GameState* currentState, const Ant* attackingAnt, CoordList enemyLocations) {
    (void)match, (void)currentState, (void)attackingAnt;
    return enemyLocations.items[(size_t)rand() % enemyLocations.count];
}

int main(void) {
    return referee_run(&(ReAnticsBot){.name = "My ReAntics bot",
                              .begin = begin,
                              .getPlacement = getPlacement,
                              .getMove = getMove,
                              .getAttack = getAttack});
}
