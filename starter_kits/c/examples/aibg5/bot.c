// Does what brings most points a turn: shoots the boss as long as it lives, for who dies comes back healed; shoots
// players and takes items, which is experience; and keeps out of the boss's next pattern.

#include <referee/hexgrid.h>

enum { ROUNDS = 300 };      // how long a match is expected to be if nothing is said
enum { LEVEL_WORTH = 14 };  // points a turn: half of what a level brings, which must be reached first
enum { HIT_XP = 30, KILL_XP = 100, EXPERIENCE_XP = 100, ASTEROID_XP = 20, KILL_SCORE = 50 };
enum { DIRECT_RING = 4 };     // up to here the boss hits in every round; only from here can it be hit
enum { SHORTEST_PAUSE = 3 };  // rounds without a pattern
enum { DETOUR = 3 };          // steps that it is worth going to keep out of a pattern
enum { CELL_COUNT = 631 };    // of the board

// The boss's patterns come in turn: three steps of pattern 1, a pause, a ring, a pause.
typedef struct {
    int step;  // of the next one: 0, 1 or 2 of pattern 1, or 3, the ring
    int ring;
    int wait;  // rounds that are sure to have no pattern
    int roundsLeft;
} Duellist;

// What can be done now, and how many points a turn it brings.
typedef struct {
    referee_match* match;
    const aibg5_game_state* state;
    const aibg5_player* me;
    aibg5_cell here;
    aibg5_cell_list struck;
    double xpWorth;
    int turns[AIBG5_SIZE][AIBG5_SIZE];         // to each cell, by row and column from the least on; 0 = no way is known
    aibg5_cell first[AIBG5_SIZE][AIBG5_SIZE];  // the first cell of the way there
} Turn;

static void begin(referee_match* match) {
    Duellist* self = match->memory;
    self->ring = 6;
    self->wait = 2;  // a match begins with a round without a pattern, and none is over yet
    if (!referee_read_int(match, referee_member(match->options, "rounds"), &self->roundsLeft))
        self->roundsLeft = ROUNDS;
}

// Sees the boss's last turn: to be called once in every round.
static void watch(Duellist* self, aibg5_attacked_tile_list attacked) {
    int count = 0, row = 0;
    for (size_t i = 0; i < attacked.count; ++i) {
        const aibg5_cell cell = {attacked.items[i].q, attacked.items[i].r};
        if (aibg5_distance(AIBG5_CENTRE, cell) > DIRECT_RING && count++ == 0) row = cell.r;
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
static aibg5_cell_list struckNext(referee_match* match, const Duellist* self) {
    if (self->wait > 0) return aibg5_new_cells(match, 0);
    if (self->step == 3) return aibg5_ring(match, self->ring);
    aibg5_cell_list cells = aibg5_new_cells(match, 8);
    cells.items[0] = (aibg5_cell){-6 + 2 * self->step, -2 - 2 * self->step};
    cells.items[1] = (aibg5_cell){-5 + 2 * self->step, -3 - 2 * self->step};
    for (int i = 0; i < 2; ++i) cells.items[2 + i] = (aibg5_cell){-cells.items[i].q, -cells.items[i].r};
    for (int i = 0; i < 4; ++i)
        cells.items[4 + i] = (aibg5_cell){-cells.items[i].q - cells.items[i].r, cells.items[i].r};
    cells.count = 8;
    return cells;
}

// How many shots an asteroid takes, if there is one.
static int shotsAt(const Turn* turn, aibg5_cell cell) {
    const referee_maybe_int health = aibg5_tile_on(turn->state, cell)->entity.health;
    return health.present ? (health.value + turn->me->power - 1) / turn->me->power : 0;
}

static double worthOfHitting(const Turn* turn, aibg5_cell cell) {
    const aibg5_player* player = aibg5_player_on(turn->state, cell);
    if (player && player->health <= turn->me->power) return (HIT_XP + KILL_XP) * turn->xpWorth + KILL_SCORE;
    if (player) return HIT_XP * turn->xpWorth;
    const int shots = shotsAt(turn, cell);
    return shots > 0 ? ASTEROID_XP * turn->xpWorth / shots : turn->me->power;  // an asteroid, or the boss
}

static bool canHitBoss(const Turn* turn, aibg5_cell cell) {
    if (aibg5_distance(AIBG5_CENTRE, cell) > DIRECT_RING) return false;
    for (int i = 0; i < 6; ++i) {
        aibg5_cell hit;
        const bool legal = aibg5_find_hit(turn->match, turn->state, cell, AIBG5_DIRECTIONS[i], &hit);
        if (legal && aibg5_is_type(turn->state, hit, "BOSS")) return true;
    }
    return false;
}

// For the item that is there, or to shoot the boss from there until the end.
static double worthOfGoing(const Turn* turn, aibg5_cell cell) {
    const aibg5_player* me = turn->me;
    const int turns = turn->turns[cell.r + AIBG5_RADIUS][cell.q + AIBG5_RADIUS];
    const double worth = aibg5_is_type(turn->state, cell, "EXPERIENCE") ? EXPERIENCE_XP * turn->xpWorth / turns : 0;
    int shots = aibg5_is_type(turn->state, cell, "HEALTH")
                    ? (AIBG5_MAX_HEALTH[me->level - 1] - me->health) / AIBG5_BOSS_POWER
                    : 0;
    if (canHitBoss(turn, cell) && shots < (me->health - 1) / AIBG5_BOSS_POWER)
        shots = (me->health - 1) / AIBG5_BOSS_POWER;
    const double fight = (double)(shots * me->power) / (turns + shots);
    return worth > fight ? worth : fight;
}

// A way may lead there. Asteroids can be shot.
static bool isOpen(const Turn* turn, aibg5_cell cell) {
    if (aibg5_is_type(turn->state, cell, "ASTEROID")) return true;
    return !aibg5_is_type(turn->state, cell, "BLACKHOLE") && aibg5_may_enter(turn->state, cell);
}

static int turnsInto(const Turn* turn, aibg5_cell cell, bool now) {
    return 1 + shotsAt(turn, cell) + (now && aibg5_contains(turn->struck, cell) ? DETOUR : 0);
}

// Puts a cell behind the others, in more room where there is none left.
static void push(referee_match* match, aibg5_cell_list* cells, size_t* room, aibg5_cell cell) {
    if (cells->count == *room) {
        aibg5_cell_list larger = aibg5_new_cells(match, (int)(*room *= 2));
        memcpy(larger.items, cells->items, cells->count * sizeof(aibg5_cell));
        cells->items = larger.items;
    }
    cells->items[cells->count++] = cell;
}

// Fills `turns` and `first`. A cell comes again when a quicker way to it is found.
static void findWays(Turn* turn) {
    size_t room = CELL_COUNT;
    aibg5_cell_list queue = aibg5_new_cells(turn->match, CELL_COUNT);
    push(turn->match, &queue, &room, turn->here);
    for (size_t next = 0; next < queue.count; ++next) {
        const aibg5_cell cell = queue.items[next];
        const bool now = aibg5_equal_cell(cell, turn->here);
        const aibg5_cell_list beside = aibg5_neighbours(turn->match, cell);
        for (size_t i = 0; i < beside.count; ++i) {
            const aibg5_cell to = beside.items[i];
            if (!isOpen(turn, to)) continue;
            const int turns = turn->turns[cell.r + AIBG5_RADIUS][cell.q + AIBG5_RADIUS] + turnsInto(turn, to, now);
            int* known = &turn->turns[to.r + AIBG5_RADIUS][to.q + AIBG5_RADIUS];
            if (*known > 0 && turns >= *known) continue;
            *known = turns;
            turn->first[to.r + AIBG5_RADIUS][to.q + AIBG5_RADIUS] =
                now ? to : turn->first[cell.r + AIBG5_RADIUS][cell.q + AIBG5_RADIUS];
            push(turn->match, &queue, &room, to);
        }
    }
}

static aibg5_action step(const Turn* turn, aibg5_cell cell) {
    return shotsAt(turn, cell) > 0 ? aibg5_attack_at(turn->match, cell) : aibg5_move_to(turn->match, cell);
}

// A legal one, where there is one.
static aibg5_action anyAction(const Turn* turn) {
    const aibg5_cell_list beside = aibg5_neighbours(turn->match, turn->here);
    for (size_t i = 0; i < beside.count; ++i) {
        if (aibg5_may_enter(turn->state, beside.items[i])) return aibg5_move_to(turn->match, beside.items[i]);
    }
    const aibg5_cell_list targets = aibg5_targets_from(turn->match, turn->state, turn->here);
    return targets.count > 0 ? aibg5_attack_at(turn->match, targets.items[0]) : aibg5_move_to(turn->match, turn->here);
}

static aibg5_action best(Turn* turn) {
    double worth = 0;
    aibg5_action action = anyAction(turn);
    const aibg5_cell_list targets = aibg5_targets_from(turn->match, turn->state, turn->here);
    for (size_t i = 0; i < targets.count; ++i) {
        aibg5_cell hit = targets.items[i];
        aibg5_find_hit(turn->match, turn->state, turn->here, targets.items[i], &hit);
        double brings = worthOfHitting(turn, hit);
        // With as much health the boss could be shot once more.
        if (aibg5_contains(turn->struck, turn->here)) brings -= turn->me->power;
        if (brings <= worth) continue;
        worth = brings;
        action = aibg5_attack_at(turn->match, targets.items[i]);
    }
    findWays(turn);
    const aibg5_cell_list cells = aibg5_within(turn->match, AIBG5_CENTRE, AIBG5_RADIUS);
    for (size_t i = 0; i < cells.count; ++i) {
        const aibg5_cell cell = cells.items[i];
        if (turn->turns[cell.r + AIBG5_RADIUS][cell.q + AIBG5_RADIUS] == 0 || worthOfGoing(turn, cell) <= worth)
            continue;
        worth = worthOfGoing(turn, cell);
        action = step(turn, turn->first[cell.r + AIBG5_RADIUS][cell.q + AIBG5_RADIUS]);
    }
    return action;
}

static aibg5_action doAction(referee_match* match, int playerIdx, const aibg5_game_state* state, const char* message) {
    (void)message;
    Duellist* self = match->memory;
    watch(self, state->boss.bossAttackedTiles);
    if (self->roundsLeft > 0) --self->roundsLeft;
    Turn* turn = referee_allocate(match, sizeof *turn);
    turn->match = match;
    turn->state = state;
    turn->me = aibg5_player_of(state, playerIdx);
    turn->here = (aibg5_cell){turn->me->q, turn->me->r};
    turn->struck = struckNext(match, self);
    turn->xpWorth = turn->me->level < AIBG5_POWER_COUNT ? (double)(LEVEL_WORTH * self->roundsLeft) / AIBG5_LEVEL_XP : 0;
    return best(turn);
}

int main(void) {
    return aibg5_run(
        &(aibg5_bot){.name = "Duellist (C)", .memory = sizeof(Duellist), .begin = begin, .doAction = doAction});
}
