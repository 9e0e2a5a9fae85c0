// Answers each position with the results of the kit's functions for AI Arena 21, like grids.py.

#include <referee/grid.h>
#include <stdio.h>

static char text[1 << 16];
static size_t length;

static void say(const char* word) { length += (size_t)sprintf(text + length, "%s", word); }

static void say_cells(referee_match* match, aiarena21_location_list cells) {
    say(";");
    for (size_t i = 0; i < cells.count; ++i) {
        say(i ? " " : "");
        say(aiarena21_name_of(match, cells.items[i]));
    }
}

static const char* play_turn(referee_match* match, const aiarena21_map* game_map, const aiarena21_player* me,
                             const aiarena21_player* opponent, aiarena21_int_list_list items,
                             aiarena21_item_list_list_list new_items, aiarena21_float_list_list heatmap,
                             int remaining_turns) {
    (void)items, (void)new_items, (void)heatmap, (void)remaining_turns;
    const aiarena21_grid grid = aiarena21_new_grid(match, game_map);
    const aiarena21_location here = me->location, there = opponent->location;
    aiarena21_location starts[] = {here, there, here};
    length = 0;
    say(aiarena21_is_free(&grid, here) ? "yes " : "no ");
    say(aiarena21_is_free(&grid, there) ? "yes " : "no ");
    say_cells(match, grid.free);
    aiarena21_neighbour_list beside = aiarena21_neighbours(&grid, here);
    say_cells(match, (aiarena21_location_list){beside.items, beside.count});
    const aiarena21_int_list_list table = aiarena21_distances(match, &grid, (aiarena21_location_list){starts, 3});
    for (size_t row = 0; row < table.count; ++row) {
        say(row ? "/" : ";");
        for (size_t col = 0; col < table.items[row].count; ++col) {
            length += (size_t)sprintf(text + length, "%s%d", col ? " " : "", table.items[row].items[col]);
        }
    }
    say_cells(match, aiarena21_path_to(match, &grid, here, there));
    say_cells(match, aiarena21_reach(match, &grid, me));
    return text;
}

int main(void) { return aiarena21_run(&(aiarena21_bot){.name = "Grids", .play_turn = play_turn}); }
