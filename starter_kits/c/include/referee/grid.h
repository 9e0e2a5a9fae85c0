// A map of AI Arena 21 to walk on: free cells, distances, paths, and where a player may go.
//
// A table is a list of rows: table.items[row].items[col], as `items` and `heatmap` are. All memory is the call's.

#pragma once

#include <referee/aiarena21.h>
#include <stdio.h>

// The distance of a cell to which no path leads.
enum { FAR = 1000000 };

typedef struct {
    Location* items;
    size_t count;
} LocationList;

typedef struct {
    const Map* map;
    LocationList free;  // all free cells, row by row
} Grid;

// False off the map, too.
static inline bool isFree(const Grid* grid, Location cell) {
    return 0 <= cell.row && cell.row < grid->map->rows && 0 <= cell.col && cell.col < grid->map->cols &&
           grid->map->cells.items[cell.row][cell.col] != *BLOCK_CHAR;
}

// A list with room for all cells, of which none is there yet.
static inline LocationList referee_new_cells(Match* match, const Map* map) {
    return (LocationList){referee_allocate(match, (size_t)map->rows * (size_t)map->cols * sizeof(Location)), 0};
}

// Takes the game_map of this call, which is the same throughout a match.
static inline Grid referee_new_grid(Match* match, const Map* map) {
    Grid grid = {map, referee_new_cells(match, map)};
    for (int row = 0; row < map->rows; ++row) {
        for (int col = 0; col < map->cols; ++col) {
            const Location cell = {row, col};
            if (isFree(&grid, cell)) grid.free.items[grid.free.count++] = cell;
        }
    }
    return grid;
}

typedef struct {
    Location items[4];
    size_t count;
} Neighbours;

// The free cells above, to the left, to the right and below.
static inline Neighbours neighbours(const Grid* grid, Location cell) {
    const Location around[] = {
        {cell.row - 1, cell.col}, {cell.row, cell.col - 1}, {cell.row, cell.col + 1}, {cell.row + 1, cell.col}};
    Neighbours found = {.count = 0};
    for (int i = 0; i < 4; ++i) {
        if (isFree(grid, around[i])) found.items[found.count++] = around[i];
    }
    return found;
}

// A table: how many steps each cell is from the nearest of `starts`, or FAR.
static inline IntListList distances(Match* match, const Grid* grid, LocationList starts) {
    const size_t rows = (size_t)grid->map->rows, cols = (size_t)grid->map->cols;
    IntListList table = {referee_allocate(match, rows * sizeof(IntList)), rows};
    for (size_t row = 0; row < rows; ++row) {
        table.items[row] = (IntList){referee_allocate(match, cols * sizeof(int)), cols};
        for (size_t col = 0; col < cols; ++col) table.items[row].items[col] = FAR;
    }
    LocationList queue = referee_new_cells(match, grid->map);
    for (size_t i = 0; i < starts.count; ++i) {
        int* steps = &table.items[starts.items[i].row].items[starts.items[i].col];
        if (*steps == FAR) queue.items[queue.count++] = starts.items[i];
        *steps = 0;
    }
    for (size_t next = 0; next < queue.count; ++next) {
        const Location cell = queue.items[next];
        const Neighbours found = neighbours(grid, cell);
        for (size_t i = 0; i < found.count; ++i) {
            int* steps = &table.items[found.items[i].row].items[found.items[i].col];
            if (*steps != FAR) continue;
            *steps = table.items[cell.row].items[cell.col] + 1;
            queue.items[queue.count++] = found.items[i];
        }
    }
    return table;
}

// The same from one cell.
static inline IntListList distancesFrom(Match* match, const Grid* grid, Location start) {
    return distances(match, grid, (LocationList){&start, 1});
}

// A shortest path, both ends included; empty if there is none.
static inline LocationList pathTo(Match* match, const Grid* grid, Location start, Location target) {
    const IntListList steps = distancesFrom(match, grid, start);
    LocationList path = referee_new_cells(match, grid->map);
    const int length = steps.items[target.row].items[target.col];
    if (length == FAR) return path;
    path.count = (size_t)length + 1;
    path.items[length] = target;
    for (int left = length - 1; left >= 0; --left) {
        const Neighbours found = neighbours(grid, path.items[left + 1]);
        size_t i = 0;
        while (steps.items[found.items[i].row].items[found.items[i].col] != left) ++i;
        path.items[left] = found.items[i];
    }
    return path;
}

// How many steps it may take in a turn.
static inline int speedOf(const Player* player) { return player->bike ? BIKE_STEPS : 1; }

// Where play_turn may go, row by row; to stay is allowed.
static inline LocationList reach(Match* match, const Grid* grid, const Player* player) {
    if (player->portal_gun) return grid->free;
    const IntListList steps = distancesFrom(match, grid, player->location);
    LocationList found = referee_new_cells(match, grid->map);
    for (size_t i = 0; i < grid->free.count; ++i) {
        const Location cell = grid->free.items[i];
        if (steps.items[cell.row].items[cell.col] <= speedOf(player)) found.items[found.count++] = cell;
    }
    return found;
}

// The cell as an answer: "row,col".
static inline const char* nameOf(Match* match, Location cell) {
    char* name = referee_allocate(match, 24);
    snprintf(name, 24, "%d,%d", cell.row, cell.col);
    return name;
}
