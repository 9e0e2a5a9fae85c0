// Walks to the fruit that brings most points a turn, the way included; between equals, and where no fruit lies, to the
// heat of what comes next. Buys a bike when it collects more than it costs, and bids what lies on the cell.

#include <referee/grid.h>

static int least(int one, int two) { return one < two ? one : two; }

// Where to go on a board on which `worth` lies: a table of points, or of heat.
typedef struct {
    aiarena21_grid grid;
    aiarena21_float_list_list worth;
    aiarena21_float_list_list heat;
} Plan;

static aiarena21_float_list_list points(referee_match* match, aiarena21_int_list_list items) {
    aiarena21_float_list_list worth = {referee_allocate(match, items.count * sizeof(aiarena21_float_list)),
                                       items.count};
    for (size_t row = 0; row < items.count; ++row) {
        const aiarena21_int_list cells = items.items[row];
        worth.items[row] = (aiarena21_float_list){referee_allocate(match, cells.count * sizeof(double)), cells.count};
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
static bool findTarget(referee_match* match, const Plan* plan, aiarena21_location start, int stepsATurn,
                       aiarena21_location* best) {
    const aiarena21_int_list_list table = aiarena21_distances_from(match, &plan->grid, start);
    bool found = false;
    Key most = {0};
    for (size_t i = 0; i < plan->grid.free.count; ++i) {
        const aiarena21_location cell = plan->grid.free.items[i];
        const double worth = plan->worth.items[cell.row].items[cell.col];
        const int steps = table.items[cell.row].items[cell.col];
        if (worth == 0 || steps == AIARENA21_FAR) continue;
        const Key key = {worth / turnsFor(steps, stepsATurn), plan->heat.items[cell.row].items[cell.col], steps};
        if (found && !isAbove(key, most)) continue;
        found = true;
        most = key;
        *best = cell;
    }
    return found;
}

// What going from target to target brings in so many turns; of one that is too far, the part of the way.
static double harvest(referee_match* match, const aiarena21_grid* grid, aiarena21_int_list_list items,
                      aiarena21_float_list_list heat, aiarena21_location start, int turns, int stepsATurn) {
    const Plan plan = {*grid, points(match, items), heat};
    double brought = 0;
    aiarena21_location target;
    while (turns > 0 && findTarget(match, &plan, start, stepsATurn, &target)) {
        const aiarena21_int_list_list table = aiarena21_distances_from(match, grid, start);
        const int needed = turnsFor(table.items[target.row].items[target.col], stepsATurn);
        double* worth = &plan.worth.items[target.row].items[target.col];
        brought += *worth * least(turns, needed) / needed;
        *worth = 0;
        start = target;
        turns -= needed;
    }
    return brought;
}

static const char* play_powerup(referee_match* match, const aiarena21_map* game_map, const aiarena21_player* me,
                                const aiarena21_player* opponent, aiarena21_int_list_list items,
                                aiarena21_text_list_list_list new_items, aiarena21_float_list_list heatmap,
                                int remaining_turns) {
    (void)opponent, (void)new_items;
    if (me->bike || me->score < AIARENA21_BIKE_COST) return "";
    const aiarena21_grid grid = aiarena21_new_grid(match, game_map);
    const int turns = least(AIARENA21_BIKE_TURNS, remaining_turns);
    const double gain = harvest(match, &grid, items, heatmap, me->location, turns, AIARENA21_BIKE_STEPS) -
                        harvest(match, &grid, items, heatmap, me->location, turns, 1);
    return gain > AIARENA21_BIKE_COST ? AIARENA21_BIKE : "";
}

static const char* play_turn(referee_match* match, const aiarena21_map* game_map, const aiarena21_player* me,
                             const aiarena21_player* opponent, aiarena21_int_list_list items,
                             aiarena21_text_list_list_list new_items, aiarena21_float_list_list heatmap,
                             int remaining_turns) {
    (void)opponent, (void)new_items, (void)remaining_turns;
    const aiarena21_grid grid = aiarena21_new_grid(match, game_map);
    const Plan fruit = {grid, points(match, items), heatmap}, heat = {grid, heatmap, heatmap};
    const int speed = aiarena21_speed_of(me);
    aiarena21_location target = me->location;
    if (!findTarget(match, &fruit, me->location, speed, &target)) {
        findTarget(match, &heat, me->location, speed, &target);
    }
    const aiarena21_location_list path = aiarena21_path_to(match, &grid, me->location, target);
    return aiarena21_name_of(match, path.items[least(speed, (int)path.count - 1)]);
}

// What lies here, and one more for the place: the winner pays half of both bids.
static int play_auction(referee_match* match, const aiarena21_map* game_map, const aiarena21_player* me,
                        const aiarena21_player* opponent, aiarena21_int_list_list items,
                        aiarena21_text_list_list_list new_items, aiarena21_float_list_list heatmap,
                        int remaining_turns) {
    (void)match, (void)game_map, (void)opponent, (void)new_items, (void)heatmap, (void)remaining_turns;
    return least(me->score, items.items[me->location.row].items[me->location.col] + 1);
}

// The cell that is the longest walk from any fruit; where none lies, from us.
static const char* play_transport(referee_match* match, const aiarena21_map* game_map, const aiarena21_player* me,
                                  const aiarena21_player* opponent, aiarena21_int_list_list items,
                                  aiarena21_text_list_list_list new_items, aiarena21_float_list_list heatmap,
                                  int remaining_turns) {
    (void)opponent, (void)new_items, (void)heatmap, (void)remaining_turns;
    const aiarena21_grid grid = aiarena21_new_grid(match, game_map);
    aiarena21_location_list fruit = aiarena21_new_cells(match, game_map);
    for (size_t i = 0; i < grid.free.count; ++i) {
        const aiarena21_location cell = grid.free.items[i];
        if (items.items[cell.row].items[cell.col] > 0) fruit.items[fruit.count++] = cell;
    }
    if (fruit.count == 0) fruit.items[fruit.count++] = me->location;
    const aiarena21_int_list_list steps = aiarena21_distances(match, &grid, fruit);
    aiarena21_location farthest = grid.free.items[0];
    for (size_t i = 1; i < grid.free.count; ++i) {
        const aiarena21_location cell = grid.free.items[i];
        if (steps.items[cell.row].items[cell.col] > steps.items[farthest.row].items[farthest.col]) farthest = cell;
    }
    return aiarena21_name_of(match, farthest);
}

int main(void) {
    return aiarena21_run(&(aiarena21_bot){.name = "Picker (C)",
                                          .play_powerup = play_powerup,
                                          .play_turn = play_turn,
                                          .play_auction = play_auction,
                                          .play_transport = play_transport});
}
