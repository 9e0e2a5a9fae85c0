// A map of AI Arena 21 to walk on: free cells, distances, paths, and where a player may go.
//
// A table is a list of rows: table.items[row].items[col], as `items` and `heatmap` are. All memory is the call's.

#pragma once

#include <referee/aiarena21.h>

// The distance of a cell to which no path leads.
enum { AIARENA21_FAR = 1000000 };

typedef struct {
    aiarena21_location* items;
    size_t count;
} aiarena21_location_list;

typedef struct {
    const aiarena21_map* map;
    aiarena21_location_list free;  // all free cells, row by row
} aiarena21_grid;

// False off the map, too.
bool aiarena21_is_free(const aiarena21_grid* grid, aiarena21_location cell);

// Takes the game_map of this call, which is the same throughout a match.
aiarena21_grid aiarena21_new_grid(referee_match* match, const aiarena21_map* map);

typedef struct {
    aiarena21_location items[4];
    size_t count;
} aiarena21_neighbour_list;

// The free cells above, to the left, to the right and below.
aiarena21_neighbour_list aiarena21_neighbours(const aiarena21_grid* grid, aiarena21_location cell);

// A table: how many steps each cell is from the nearest of `starts`, or AIARENA21_FAR. A start that is not free counts
// for nothing.
aiarena21_int_list_list aiarena21_distances(referee_match* match, const aiarena21_grid* grid,
                                            aiarena21_location_list starts);

// The same from one cell.
aiarena21_int_list_list aiarena21_distances_from(referee_match* match, const aiarena21_grid* grid,
                                                 aiarena21_location start);

// A shortest path, both ends included; empty if there is none.
aiarena21_location_list aiarena21_path_to(referee_match* match, const aiarena21_grid* grid, aiarena21_location start,
                                          aiarena21_location target);

// How many steps it may take in a turn.
int aiarena21_speed_of(const aiarena21_player* player);

// Where play_turn may go, row by row; to stay is allowed.
aiarena21_location_list aiarena21_reach(referee_match* match, const aiarena21_grid* grid,
                                        const aiarena21_player* player);

// The cell as an answer: "row,col".
const char* aiarena21_name_of(referee_match* match, aiarena21_location cell);
