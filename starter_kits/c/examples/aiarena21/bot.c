// Walks to the fruit that brings most points a turn, the way included; between equals, and where no fruit lies, to the
// heat of what comes next. Buys a bike when it collects more than it costs, and bids what lies on the cell.

#include <referee/grid.h>

static int least(int one, int two) { return one < two ? one : two; }

// Where to go on a board on which `worth` lies: a table of points, or of heat.
typedef struct {
    Grid grid;
    FloatListList worth;
    FloatListList heat;
} Plan;

static FloatListList points(Match* match, IntListList items) {
    FloatListList worth = {referee_allocate(match, items.count * sizeof(FloatList)), items.count};
    for (size_t row = 0; row < items.count; ++row) {
        const IntList cells = items.items[row];
        worth.items[row] = (FloatList){referee_allocate(match, cells.count * sizeof(double)), cells.count};
        for (size_t col = 0; col < cells.count; ++col) worth.items[row].items[col] = cells.items[col];
    }
    return worth;
}

// How long the way takes; to stay takes a turn too.
static int turnsFor(int steps, int stepsATurn) { return steps == 0 ? 1 : (steps + stepsATurn - 1) / stepsATurn; }

// What decides between a cell and others.
typedef struct {
    double rate, heat;
    int steps;
} Key;

static bool isAbove(Key key, Key other) {
    if (key.rate != other.rate) return key.rate > other.rate;
    if (key.heat != other.heat) return key.heat > other.heat;
    return key.steps < other.steps;
}

// The cell that brings most a turn; then the hotter, the nearer, the first one. False: nothing is in reach.
static bool findTarget(Match* match, const Plan* plan, Location start, int stepsATurn, Location* best) {
    const IntListList table = distancesFrom(match, &plan->grid, start);
    bool found = false;
    Key most = {0};
    for (size_t i = 0; i < plan->grid.free.count; ++i) {
        const Location cell = plan->grid.free.items[i];
        const double worth = plan->worth.items[cell.row].items[cell.col];
        const int steps = table.items[cell.row].items[cell.col];
        if (worth == 0 || steps == FAR) continue;
        const Key key = {worth / turnsFor(steps, stepsATurn), plan->heat.items[cell.row].items[cell.col], steps};
        if (found && !isAbove(key, most)) continue;
        found = true;
        most = key;
        *best = cell;
    }
    return found;
}

// What going from target to target brings in so many turns; of one that is too far, the part of the way.
static double harvest(Match* match, const Grid* grid, IntListList items, FloatListList heat, Location start, int turns,
                      int stepsATurn) {
    const Plan plan = {*grid, points(match, items), heat};
    double brought = 0;
    Location target;
    while (turns > 0 && findTarget(match, &plan, start, stepsATurn, &target)) {
        const IntListList table = distancesFrom(match, grid, start);
        const int needed = turnsFor(table.items[target.row].items[target.col], stepsATurn);
        double* worth = &plan.worth.items[target.row].items[target.col];
        brought += *worth * least(turns, needed) / needed;
        *worth = 0;
        start = target;
        turns -= needed;
    }
    return brought;
}

static const char* play_powerup(Match* match, const Map* game_map, const Player* me, const Player* opponent,
                                IntListList items, TextListListList new_items, FloatListList heatmap,
                                int remaining_turns) {
    (void)opponent, (void)new_items;
    if (me->bike || me->score < BIKE_COST) return "";
    const Grid grid = referee_new_grid(match, game_map);
    const int turns = least(BIKE_TURNS, remaining_turns);
    const double gain = harvest(match, &grid, items, heatmap, me->location, turns, BIKE_STEPS) -
                        harvest(match, &grid, items, heatmap, me->location, turns, 1);
    return gain > BIKE_COST ? BIKE : "";
}

static const char* play_turn(Match* match, const Map* game_map, const Player* me, const Player* opponent,
                             IntListList items, TextListListList new_items, FloatListList heatmap,
                             int remaining_turns) {
    (void)opponent, (void)new_items, (void)remaining_turns;
    const Grid grid = referee_new_grid(match, game_map);
    const Plan fruit = {grid, points(match, items), heatmap}, heat = {grid, heatmap, heatmap};
    const int speed = speedOf(me);
    Location target = me->location;
    if (!findTarget(match, &fruit, me->location, speed, &target)) {
        findTarget(match, &heat, me->location, speed, &target);
    }
    const LocationList path = pathTo(match, &grid, me->location, target);
    return nameOf(match, path.items[least(speed, (int)path.count - 1)]);
}

// What lies here, and one more for the place: the winner pays half of both bids.
static int play_auction(Match* match, const Map* game_map, const Player* me, const Player* opponent, IntListList items,
                        TextListListList new_items, FloatListList heatmap, int remaining_turns) {
    (void)match, (void)game_map, (void)opponent, (void)new_items, (void)heatmap, (void)remaining_turns;
    return least(me->score, items.items[me->location.row].items[me->location.col] + 1);
}

// The cell that is the longest walk from any fruit; where none lies, from us.
static const char* play_transport(Match* match, const Map* game_map, const Player* me, const Player* opponent,
                                  IntListList items, TextListListList new_items, FloatListList heatmap,
                                  int remaining_turns) {
    (void)opponent, (void)new_items, (void)heatmap, (void)remaining_turns;
    const Grid grid = referee_new_grid(match, game_map);
    LocationList fruit = referee_new_cells(match, game_map);
    for (size_t i = 0; i < grid.free.count; ++i) {
        const Location cell = grid.free.items[i];
        if (items.items[cell.row].items[cell.col] > 0) fruit.items[fruit.count++] = cell;
    }
    if (fruit.count == 0) fruit.items[fruit.count++] = me->location;
    const IntListList steps = distances(match, &grid, fruit);
    Location farthest = grid.free.items[0];
    for (size_t i = 1; i < grid.free.count; ++i) {
        const Location cell = grid.free.items[i];
        if (steps.items[cell.row].items[cell.col] > steps.items[farthest.row].items[farthest.col]) farthest = cell;
    }
    return nameOf(match, farthest);
}

int main(void) {
    return referee_run(&(AIArena21Bot){.name = "Picker (C)",
                               .play_powerup = play_powerup,
                               .play_turn = play_turn,
                               .play_auction = play_auction,
                               .play_transport = play_transport});
}
