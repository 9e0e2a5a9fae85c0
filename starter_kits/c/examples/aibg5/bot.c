// Does what brings most points a turn: shoots the boss as long as it lives, for who dies comes back healed; shoots
// players and takes items, which is experience; and keeps out of the boss's next pattern.

#include <referee/hexgrid.h>

enum { ROUNDS = 300 };      // how long a match is expected to be if nothing is said
enum { LEVEL_WORTH = 14 };  // points a turn: half of what a level brings, which must be reached first
enum { HIT_XP = 30, KILL_XP = 100, EXPERIENCE_XP = 100, ASTEROID_XP = 20, KILL_SCORE = 50 };
enum { DIRECT_RING = 4 };     // up to here the boss hits in every round; only from here can it be hit
enum { SHORTEST_PAUSE = 3 };  // rounds without a pattern
enum { DETOUR = 3 };          // steps that it is worth going to keep out of a pattern
enum { CELL_COUNT = 631 };  // of the board

// The boss's patterns come in turn: three steps of pattern 1, a pause, a ring, a pause.
typedef struct {
    int step;  // of the next one: 0, 1 or 2 of pattern 1, or 3, the ring
    int ring;
    int wait;  // rounds that are sure to have no pattern
    int roundsLeft;
} Duellist;

// What can be done now, and how many points a turn it brings.
typedef struct {
    Match* match;
    const GameState* state;
    const Player* me;
    Cell here;
    CellList struck;
    double xpWorth;
    int turns[SIZE][SIZE];   // to each cell, by row and column from the least on; 0 = no way is known
    Cell first[SIZE][SIZE];  // the first cell of the way there
} Turn;

static void begin(Match* match) {
    Duellist* self = match->memory;
    self->ring = 6;
    self->wait = 2;  // a match begins with a round without a pattern, and none is over yet
    if (!referee_read_int(match, referee_member(match->options, "rounds"), &self->roundsLeft)) self->roundsLeft = ROUNDS;
}

// Sees the boss's last turn: to be called once in every round.
static void watch(Duellist* self, AttackedTileList attacked) {
    int count = 0, row = 0;
    for (size_t i = 0; i < attacked.count; ++i) {
        const Cell cell = {attacked.items[i].q, attacked.items[i].r};
        if (distance(CENTRE, cell) > DIRECT_RING && count++ == 0) row = cell.r;
    }
    if (count == 0) {
        --self->wait;
        return;
    }
    if (count > 8) {
        self->ring = self->ring == 10 ? 6 : self->ring + 2;
        self->step = 0;
    } else {
        self->step = -row / 2;  // of pattern 1 the first cell is in row -2, -4 or -6
    }
    self->wait = self->step == 0 || self->step == 3 ? SHORTEST_PAUSE : 0;
}

// The cells that the boss may strike after this round, beside those near it.
static CellList struckNext(Match* match, const Duellist* self) {
    if (self->wait > 0) return referee_new_cells(match, 0);
    if (self->step == 3) return ring(match, self->ring);
    CellList cells = referee_new_cells(match, 8);
    cells.items[0] = (Cell){-6 + 2 * self->step, -2 - 2 * self->step};
    cells.items[1] = (Cell){-5 + 2 * self->step, -3 - 2 * self->step};
    for (int i = 0; i < 2; ++i) cells.items[2 + i] = (Cell){-cells.items[i].q, -cells.items[i].r};
    for (int i = 0; i < 4; ++i) cells.items[4 + i] = (Cell){-cells.items[i].q - cells.items[i].r, cells.items[i].r};
    cells.count = 8;
    return cells;
}

// How many shots an asteroid takes, if there is one.
static int shotsAt(const Turn* turn, Cell cell) {
    const MaybeInt health = tileOn(turn->state, cell)->entity.health;
    return health.present ? (health.value + turn->me->power - 1) / turn->me->power : 0;
}

static double worthOfHitting(const Turn* turn, Cell cell) {
    const Player* player = playerOn(turn->state, cell);
    if (player && player->health <= turn->me->power) return (HIT_XP + KILL_XP) * turn->xpWorth + KILL_SCORE;
    if (player) return HIT_XP * turn->xpWorth;
    const int shots = shotsAt(turn, cell);
    return shots > 0 ? ASTEROID_XP * turn->xpWorth / shots : turn->me->power;  // an asteroid, or the boss
}

static bool canHitBoss(const Turn* turn, Cell cell) {
    if (distance(CENTRE, cell) > DIRECT_RING) return false;
    for (int i = 0; i < 6; ++i) {
        Cell hit;
        const bool legal = findHit(turn->match, turn->state, cell, DIRECTIONS[i], &hit);
        if (legal && isType(turn->state, hit, "BOSS")) return true;
    }
    return false;
}

// For the item that is there, or to shoot the boss from there until the end.
static double worthOfGoing(const Turn* turn, Cell cell) {
    const Player* me = turn->me;
    const int turns = turn->turns[cell.r + RADIUS][cell.q + RADIUS];
    const double worth = isType(turn->state, cell, "EXPERIENCE") ? EXPERIENCE_XP * turn->xpWorth / turns : 0;
    int shots = isType(turn->state, cell, "HEALTH") ? (MAX_HEALTH[me->level - 1] - me->health) / BOSS_POWER : 0;
    if (canHitBoss(turn, cell) && shots < (me->health - 1) / BOSS_POWER) shots = (me->health - 1) / BOSS_POWER;
    const double fight = (double)(shots * me->power) / (turns + shots);
    return worth > fight ? worth : fight;
}

// A way may lead there. Asteroids can be shot.
static bool isOpen(const Turn* turn, Cell cell) {
    if (isType(turn->state, cell, "ASTEROID")) return true;
    return !isType(turn->state, cell, "BLACKHOLE") && mayEnter(turn->state, cell);
}

static int turnsInto(const Turn* turn, Cell cell, bool now) {
    return 1 + shotsAt(turn, cell) + (now && contains(turn->struck, cell) ? DETOUR : 0);
}

// Puts a cell behind the others, in more room where there is none left.
static void push(Match* match, CellList* cells, size_t* room, Cell cell) {
    if (cells->count == *room) {
        CellList larger = referee_new_cells(match, (int)(*room *= 2));
        memcpy(larger.items, cells->items, cells->count * sizeof(Cell));
        cells->items = larger.items;
    }
    cells->items[cells->count++] = cell;
}

// Fills `turns` and `first`. A cell comes again when a quicker way to it is found.
static void findWays(Turn* turn) {
    size_t room = CELL_COUNT;
    CellList queue = referee_new_cells(turn->match, CELL_COUNT);
    push(turn->match, &queue, &room, turn->here);
    for (size_t next = 0; next < queue.count; ++next) {
        const Cell cell = queue.items[next];
        const bool now = equalCell(cell, turn->here);
        const CellList beside = neighbours(turn->match, cell);
        for (size_t i = 0; i < beside.count; ++i) {
            const Cell to = beside.items[i];
            if (!isOpen(turn, to)) continue;
            const int turns = turn->turns[cell.r + RADIUS][cell.q + RADIUS] + turnsInto(turn, to, now);
            int* known = &turn->turns[to.r + RADIUS][to.q + RADIUS];
            if (*known > 0 && turns >= *known) continue;
            *known = turns;
            turn->first[to.r + RADIUS][to.q + RADIUS] = now ? to : turn->first[cell.r + RADIUS][cell.q + RADIUS];
            push(turn->match, &queue, &room, to);
        }
    }
}

static Action step(const Turn* turn, Cell cell) {
    return shotsAt(turn, cell) > 0 ? attackAt(turn->match, cell) : moveTo(turn->match, cell);
}

// A legal one, where there is one.
static Action anyAction(const Turn* turn) {
    const CellList beside = neighbours(turn->match, turn->here);
    for (size_t i = 0; i < beside.count; ++i) {
        if (mayEnter(turn->state, beside.items[i])) return moveTo(turn->match, beside.items[i]);
    }
    const CellList targets = targetsFrom(turn->match, turn->state, turn->here);
    return targets.count > 0 ? attackAt(turn->match, targets.items[0]) : moveTo(turn->match, turn->here);
}

static Action best(Turn* turn) {
    double worth = 0;
    Action action = anyAction(turn);
    const CellList targets = targetsFrom(turn->match, turn->state, turn->here);
    for (size_t i = 0; i < targets.count; ++i) {
        Cell hit = targets.items[i];
        findHit(turn->match, turn->state, turn->here, targets.items[i], &hit);
        double brings = worthOfHitting(turn, hit);
        // With as much health the boss could be shot once more.
        if (contains(turn->struck, turn->here)) brings -= turn->me->power;
        if (brings <= worth) continue;
        worth = brings;
        action = attackAt(turn->match, targets.items[i]);
    }
    findWays(turn);
    const CellList cells = within(turn->match, CENTRE, RADIUS);
    for (size_t i = 0; i < cells.count; ++i) {
        const Cell cell = cells.items[i];
        if (turn->turns[cell.r + RADIUS][cell.q + RADIUS] == 0 || worthOfGoing(turn, cell) <= worth) continue;
        worth = worthOfGoing(turn, cell);
        action = step(turn, turn->first[cell.r + RADIUS][cell.q + RADIUS]);
    }
    return action;
}

static Action doAction(Match* match, int playerIdx, const GameState* state, const char* message) {
    (void)message;
    Duellist* self = match->memory;
    watch(self, state->boss.bossAttackedTiles);
    if (self->roundsLeft > 0) --self->roundsLeft;
    Turn* turn = referee_allocate(match, sizeof *turn);
    turn->match = match;
    turn->state = state;
    turn->me = playerOf(state, playerIdx);
    turn->here = (Cell){turn->me->q, turn->me->r};
    turn->struck = struckNext(match, self);
    turn->xpWorth = turn->me->level < POWER_COUNT ? (double)(LEVEL_WORTH * self->roundsLeft) / LEVEL_XP : 0;
    return best(turn);
}

int main(void) {
    return referee_run(&(AIBG5Bot){
        .name = "Duellist (C)", .memory = sizeof(Duellist), .begin = begin, .doAction = doAction});
}
