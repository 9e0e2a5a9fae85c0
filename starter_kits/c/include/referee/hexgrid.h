// The board of AIBG 5 to walk and to shoot on: distances, neighbours, rings, lines of fire, and what stands where.
//
// A cell is (q, r). r is the row and grows downwards, q grows to the right along a row; the third coordinate of a
// hexagon is -q-r. The board holds the cells at most RADIUS from the centre, (0, 0). All memory is the call's.

#pragma once

#include <referee/aibg5.h>
#include <stdio.h>
#include <stdlib.h>

// A place, or the way from one to another.
typedef struct {
    int q, r;
} Cell;

typedef struct {
    Cell* items;
    size_t count;
} CellList;

static const Cell CENTRE = {0, 0};

// East, south-east, south-west, west, north-west, north-east.
static const Cell DIRECTIONS[6] = {{1, 0}, {0, 1}, {-1, 1}, {-1, 0}, {0, -1}, {1, -1}};

static inline bool equalCell(Cell one, Cell other) { return one.q == other.q && one.r == other.r; }

static inline Cell plus(Cell cell, Cell way) { return (Cell){cell.q + way.q, cell.r + way.r}; }

// A list with room for so many, of which none is there yet.
static inline CellList referee_new_cells(Match* match, int most) {
    return (CellList){referee_allocate(match, (size_t)most * sizeof(Cell)), 0};
}

static inline bool contains(CellList cells, Cell cell) {
    for (size_t i = 0; i < cells.count; ++i) {
        if (equalCell(cells.items[i], cell)) return true;
    }
    return false;
}

// Steps from one cell to the other; from CENTRE, the cell's ring.
static inline int distance(Cell one, Cell other) {
    const int q = abs(other.q - one.q), r = abs(other.r - one.r), s = abs(other.q - one.q + other.r - one.r);
    return q > r ? (q > s ? q : s) : (r > s ? r : s);
}

static inline bool isOnBoard(Cell cell) { return distance(CENTRE, cell) <= RADIUS; }

// The cells of the board at most so far from this one, row by row; with CENTRE and RADIUS, all of them.
static inline CellList within(Match* match, Cell middle, int steps) {
    CellList cells = referee_new_cells(match, (2 * steps + 1) * (2 * steps + 1));
    for (int r = middle.r - steps; r <= middle.r + steps; ++r) {
        for (int q = middle.q - steps; q <= middle.q + steps; ++q) {
            const Cell cell = {q, r};
            if (isOnBoard(cell) && distance(middle, cell) <= steps) cells.items[cells.count++] = cell;
        }
    }
    return cells;
}

// The cells of the board beside this one, in the order of DIRECTIONS.
static inline CellList neighbours(Match* match, Cell cell) {
    CellList cells = referee_new_cells(match, 6);
    for (int i = 0; i < 6; ++i) {
        const Cell beside = plus(cell, DIRECTIONS[i]);
        if (isOnBoard(beside)) cells.items[cells.count++] = beside;
    }
    return cells;
}

// The cells of a ring around the centre, clockwise from (0, -radius).
static inline CellList ring(Match* match, int radius) {
    CellList cells = referee_new_cells(match, 6 * radius + 1);
    Cell cell = {0, -radius};
    if (radius == 0) cells.items[cells.count++] = cell;
    for (int i = 0; i < 6; ++i) {
        for (int step = 0; step < radius; ++step) {
            cells.items[cells.count++] = cell;
            cell = plus(cell, DIRECTIONS[i]);
        }
    }
    return cells;
}

// part / steps as a whole number, halves upwards. SIZE keeps the dividend positive: division here rounds towards 0.
static inline int roundedPart(int part, int steps) { return (2 * (part + SIZE * steps) + steps) / (2 * steps) - SIZE; }

// The cell nearest to (q / steps, r / steps); the worst rounded coordinate gives way.
static inline Cell roundedCell(int q, int r, int steps) {
    const Cell near = {roundedPart(q, steps), roundedPart(r, steps)};
    const int s = roundedPart(-q - r, steps);
    const int qError = abs(near.q * steps - q), rError = abs(near.r * steps - r), sError = abs(s * steps + q + r);
    if (qError > rError && qError > sError) return (Cell){-near.r - s, near.r};
    return rError > sError ? (Cell){near.q, -near.q - s} : near;
}

// The cells strictly between, nearest first.
static inline CellList lineOfFire(Match* match, Cell shooter, Cell target) {
    const int steps = distance(shooter, target);
    CellList line = referee_new_cells(match, steps);
    for (int i = 1; i < steps; ++i) {
        const Cell offset = roundedCell((target.q - shooter.q) * i, (target.r - shooter.r) * i, steps);
        line.items[line.count++] = plus(shooter, offset);
    }
    return line;
}

static inline Action actionAt(Match* match, const char* word, Cell cell) {
    char* text = referee_allocate(match, 40);
    snprintf(text, 40, "%s,%d,%d", word, cell.q, cell.r);
    return (Action){text};
}

static inline Action moveTo(Match* match, Cell cell) { return actionAt(match, "move", cell); }
static inline Action attackAt(Match* match, Cell cell) { return actionAt(match, "attack", cell); }

// What a call shows.

// The player of that number; NULL: it is disqualified.
static inline const Player* playerOf(const GameState* state, int playerIdx) {
    const Player* players[SEATS] = {state->player1, state->player2, state->player3, state->player4};
    return players[playerIdx - 1];
}

// Who stands there; NULL: nobody.
static inline const Player* playerOn(const GameState* state, Cell cell) {
    for (int playerIdx = 1; playerIdx <= SEATS; ++playerIdx) {
        const Player* player = playerOf(state, playerIdx);
        if (player && player->q == cell.q && player->r == cell.r) return player;
    }
    return NULL;
}

// `cell` is on the board.
static inline const Tile* tileOn(const GameState* state, Cell cell) {
    const int first = cell.r < 0 ? -RADIUS - cell.r : -RADIUS;
    return &state->map.tiles.items[cell.r + RADIUS].items[cell.q - first];
}

// Whether the tile's entity is of that type.
static inline bool isType(const GameState* state, Cell cell, const char* type) {
    return strcmp(tileOn(state, cell)->entity.type, type) == 0;
}

// Nobody and nothing is in the way; false for a wormhole too, whose exit may be blocked.
static inline bool mayEnter(const GameState* state, Cell cell) {
    return strcmp(tileOn(state, cell)->tileType, "NORMAL") == 0 && !isType(state, cell, "WORMHOLE") &&
           !playerOn(state, cell);
}

// A player, an asteroid or the boss is there.
static inline bool isTarget(const GameState* state, Cell cell) {
    return playerOn(state, cell) || isType(state, cell, "ASTEROID") || isType(state, cell, "BOSS");
}

// Whether an attack on `target` is legal; `hit` is then the cell that it really hits.
static inline bool findHit(Match* match, const GameState* state, Cell shooter, Cell target, Cell* hit) {
    const int steps = distance(shooter, target);
    if (steps == 0 || steps > ATTACK_RANGE || !isTarget(state, target)) return false;
    const CellList line = lineOfFire(match, shooter, target);
    for (size_t i = 0; i < line.count; ++i) {
        *hit = line.items[i];
        if (isTarget(state, *hit)) return true;
        if (isType(state, *hit, "BLACKHOLE") || isType(state, *hit, "WORMHOLE")) return false;
    }
    *hit = target;
    return true;
}

// The cells that may be attacked, row by row.
static inline CellList targetsFrom(Match* match, const GameState* state, Cell shooter) {
    CellList targets = within(match, shooter, ATTACK_RANGE);
    const size_t count = targets.count;
    targets.count = 0;
    for (size_t i = 0; i < count; ++i) {
        Cell hit;
        if (findHit(match, state, shooter, targets.items[i], &hit)) targets.items[targets.count++] = targets.items[i];
    }
    return targets;
}
