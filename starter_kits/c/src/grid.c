#include <referee/grid.h>
#include <stdio.h>

bool aiarena21_is_free(const aiarena21_grid* grid, aiarena21_location cell) {
    return 0 <= cell.row && cell.row < grid->map->rows && 0 <= cell.col && cell.col < grid->map->cols &&
           grid->map->cells.items[cell.row][cell.col] != *AIARENA21_BLOCK_CHAR;
}

// A list with room for all cells, of which none is there yet.
static aiarena21_location_list aiarena21_new_cells(referee_match* match, const aiarena21_map* map) {
    return (aiarena21_location_list){
        referee_allocate(match, (size_t)map->rows * (size_t)map->cols * sizeof(aiarena21_location)), 0};
}

aiarena21_grid aiarena21_new_grid(referee_match* match, const aiarena21_map* map) {
    aiarena21_grid grid = {map, aiarena21_new_cells(match, map)};
    for (int row = 0; row < map->rows; ++row) {
        for (int col = 0; col < map->cols; ++col) {
            const aiarena21_location cell = {row, col};
            if (aiarena21_is_free(&grid, cell)) grid.free.items[grid.free.count++] = cell;
        }
    }
    return grid;
}

aiarena21_neighbour_list aiarena21_neighbours(const aiarena21_grid* grid, aiarena21_location cell) {
    const aiarena21_location around[] = {
        {cell.row - 1, cell.col}, {cell.row, cell.col - 1}, {cell.row, cell.col + 1}, {cell.row + 1, cell.col}};
    aiarena21_neighbour_list found = {.count = 0};
    for (int i = 0; i < 4; ++i) {
        if (aiarena21_is_free(grid, around[i])) found.items[found.count++] = around[i];
    }
    return found;
}

aiarena21_int_list_list aiarena21_distances(referee_match* match, const aiarena21_grid* grid,
                                            aiarena21_location_list starts) {
    const size_t rows = (size_t)grid->map->rows, cols = (size_t)grid->map->cols;
    aiarena21_int_list_list table = {referee_allocate(match, rows * sizeof(aiarena21_int_list)), rows};
    for (size_t row = 0; row < rows; ++row) {
        table.items[row] = (aiarena21_int_list){referee_allocate(match, cols * sizeof(int)), cols};
        for (size_t col = 0; col < cols; ++col) table.items[row].items[col] = AIARENA21_FAR;
    }
    aiarena21_location_list queue = aiarena21_new_cells(match, grid->map);
    for (size_t i = 0; i < starts.count; ++i) {
        if (!aiarena21_is_free(grid, starts.items[i])) continue;
        int* steps = &table.items[starts.items[i].row].items[starts.items[i].col];
        if (*steps == AIARENA21_FAR) queue.items[queue.count++] = starts.items[i];
        *steps = 0;
    }
    for (size_t next = 0; next < queue.count; ++next) {
        const aiarena21_location cell = queue.items[next];
        const aiarena21_neighbour_list found = aiarena21_neighbours(grid, cell);
        for (size_t i = 0; i < found.count; ++i) {
            int* steps = &table.items[found.items[i].row].items[found.items[i].col];
            if (*steps != AIARENA21_FAR) continue;
            *steps = table.items[cell.row].items[cell.col] + 1;
            queue.items[queue.count++] = found.items[i];
        }
    }
    return table;
}

aiarena21_int_list_list aiarena21_distances_from(referee_match* match, const aiarena21_grid* grid,
                                                 aiarena21_location start) {
    return aiarena21_distances(match, grid, (aiarena21_location_list){&start, 1});
}

aiarena21_location_list aiarena21_path_to(referee_match* match, const aiarena21_grid* grid, aiarena21_location start,
                                          aiarena21_location target) {
    const aiarena21_int_list_list steps = aiarena21_distances_from(match, grid, start);
    aiarena21_location_list path = aiarena21_new_cells(match, grid->map);
    if (!aiarena21_is_free(grid, target)) return path;
    const int length = steps.items[target.row].items[target.col];
    if (length == AIARENA21_FAR) return path;
    path.count = (size_t)length + 1;
    path.items[length] = target;
    for (int left = length - 1; left >= 0; --left) {
        const aiarena21_neighbour_list found = aiarena21_neighbours(grid, path.items[left + 1]);
        size_t i = 0;
        while (steps.items[found.items[i].row].items[found.items[i].col] != left) ++i;
        path.items[left] = found.items[i];
    }
    return path;
}

int aiarena21_speed_of(const aiarena21_player* player) { return player->bike ? AIARENA21_BIKE_STEPS : 1; }

aiarena21_location_list aiarena21_reach(referee_match* match, const aiarena21_grid* grid,
                                        const aiarena21_player* player) {
    if (player->portal_gun) return grid->free;
    const aiarena21_int_list_list steps = aiarena21_distances_from(match, grid, player->location);
    aiarena21_location_list found = aiarena21_new_cells(match, grid->map);
    for (size_t i = 0; i < grid->free.count; ++i) {
        const aiarena21_location cell = grid->free.items[i];
        if (steps.items[cell.row].items[cell.col] <= aiarena21_speed_of(player)) found.items[found.count++] = cell;
    }
    return found;
}

const char* aiarena21_name_of(referee_match* match, aiarena21_location cell) {
    char* name = referee_allocate(match, 24);
    snprintf(name, 24, "%d,%d", cell.row, cell.col);
    return name;
}
