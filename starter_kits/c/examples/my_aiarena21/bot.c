// Your AI Arena 21 bot: it plays random legal moves as it stands, and buys nothing; make it win. The types are in
// <referee/aiarena21.h>, what helps on the map is in <referee/grid.h>.

#include <referee/grid.h>
#include <stdlib.h>

// The same match gives the same luck.
static void begin(referee_match* match) { srand((unsigned)match->seed); }

static aiarena21_power_up play_powerup(referee_match* match, const aiarena21_map* game_map, const aiarena21_player* me,
                                       const aiarena21_player* opponent, aiarena21_int_list_list items,
                                       aiarena21_item_list_list_list new_items, aiarena21_float_list_list heatmap,
                                       int remaining_turns) {
    (void)match, (void)game_map, (void)me, (void)opponent, (void)items, (void)new_items, (void)heatmap;
    (void)remaining_turns;
    return AIARENA21_POWER_UP_NONE;  // or AIARENA21_POWER_UP_BIKE, or AIARENA21_POWER_UP_PORTAL_GUN
}

static const char* play_turn(referee_match* match, const aiarena21_map* game_map, const aiarena21_player* me,
                             const aiarena21_player* opponent, aiarena21_int_list_list items,
                             aiarena21_item_list_list_list new_items, aiarena21_float_list_list heatmap,
                             int remaining_turns) {
    (void)opponent, (void)items, (void)new_items, (void)heatmap, (void)remaining_turns;
    const aiarena21_grid grid = aiarena21_new_grid(match, game_map);
    const aiarena21_location_list cells = aiarena21_reach(match, &grid, me);
    return aiarena21_name_of(match, cells.items[(size_t)rand() % cells.count]);
}

static int play_auction(referee_match* match, const aiarena21_map* game_map, const aiarena21_player* me,
                        const aiarena21_player* opponent, aiarena21_int_list_list items,
                        aiarena21_item_list_list_list new_items, aiarena21_float_list_list heatmap,
                        int remaining_turns) {
    (void)match, (void)game_map, (void)opponent, (void)items, (void)new_items, (void)heatmap, (void)remaining_turns;
    return rand() % (me->score + 1);
}

static const char* play_transport(referee_match* match, const aiarena21_map* game_map, const aiarena21_player* me,
                                  const aiarena21_player* opponent, aiarena21_int_list_list items,
                                  aiarena21_item_list_list_list new_items, aiarena21_float_list_list heatmap,
                                  int remaining_turns) {
    (void)me, (void)opponent, (void)items, (void)new_items, (void)heatmap, (void)remaining_turns;
    const aiarena21_grid grid = aiarena21_new_grid(match, game_map);
    return aiarena21_name_of(match, grid.free.items[(size_t)rand() % grid.free.count]);
}

int main(void) {
    return aiarena21_run(&(aiarena21_bot){.name = "My AI Arena 21 bot",
                                          .begin = begin,
                                          .play_powerup = play_powerup,
                                          .play_turn = play_turn,
                                          .play_auction = play_auction,
                                          .play_transport = play_transport});
}
