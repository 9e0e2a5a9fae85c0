// Your AI Arena 21 bot: it plays random legal moves as it stands, and buys nothing; make it win. The types are in
// <referee/aiarena21.h>, what helps on the map is in <referee/grid.h>.

#include <referee/grid.h>
#include <stdlib.h>

// The same match gives the same luck.
static void begin(Match* match) { srand((unsigned)match->seed); }

static const char* play_powerup(Match* match, const Map* game_map, const Player* me, const Player* opponent,
                                IntListList items, TextListListList new_items, FloatListList heatmap,
                                int remaining_turns) {
    (void)match, (void)game_map, (void)me, (void)opponent, (void)items, (void)new_items, (void)heatmap;
    (void)remaining_turns;
    return "";  // or BIKE, or PORTAL_GUN
}

static const char* play_turn(Match* match, const Map* game_map, const Player* me, const Player* opponent,
                             IntListList items, TextListListList new_items, FloatListList heatmap,
                             int remaining_turns) {
    (void)opponent, (void)items, (void)new_items, (void)heatmap, (void)remaining_turns;
    const Grid grid = referee_new_grid(match, game_map);
    const LocationList cells = reach(match, &grid, me);
    return nameOf(match, cells.items[(size_t)rand() % cells.count]);
}

static int play_auction(Match* match, const Map* game_map, const Player* me, const Player* opponent, IntListList items,
                        TextListListList new_items, FloatListList heatmap, int remaining_turns) {
    (void)match, (void)game_map, (void)opponent, (void)items, (void)new_items, (void)heatmap, (void)remaining_turns;
    return rand() % (me->score + 1);
}

static const char* play_transport(Match* match, const Map* game_map, const Player* me, const Player* opponent,
                                  IntListList items, TextListListList new_items, FloatListList heatmap,
                                  int remaining_turns) {
    (void)me, (void)opponent, (void)items, (void)new_items, (void)heatmap, (void)remaining_turns;
    const Grid grid = referee_new_grid(match, game_map);
    return nameOf(match, grid.free.items[(size_t)rand() % grid.free.count]);
}

int main(void) {
    return referee_run(&(AIArena21Bot){.name = "My AI Arena 21 bot",
                               .begin = begin,
                               .play_powerup = play_powerup,
                               .play_turn = play_turn,
                               .play_auction = play_auction,
                               .play_transport = play_transport});
}
