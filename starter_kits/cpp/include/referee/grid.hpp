// A map of AI Arena 21 to walk on: free cells, distances, paths, and where a player may go.
//
// A table is a vector of rows: table[row][col], as items and heatmap are.

#pragma once

#include <algorithm>
#include <referee/aiarena21.hpp>

namespace referee::aiarena21 {

template <class Value>
using Table = std::vector<std::vector<Value>>;

// The distance of a cell to which no path leads.
constexpr int FAR = 1000000;

// How many steps it may take in a turn.
inline int speed(const Player& player) { return player.bike ? BIKE_STEPS : 1; }

// The cell as an answer: "row,col".
inline std::string name(Location cell) { return std::to_string(cell.row) + "," + std::to_string(cell.col); }

// Made from the game_map of any call: it is the same throughout a match.
class Grid {
   public:
    explicit Grid(const Map& map) : rows(map.rows), cols(map.cols), cells_(map.cells) {
        for (int row = 0; row < rows; ++row) {
            for (int col = 0; col < cols; ++col) {
                if (isFree({row, col})) free.push_back({row, col});
            }
        }
    }

    int rows, cols;
    std::vector<Location> free;  // all free cells, row by row

    // False off the map, too.
    bool isFree(Location cell) const {
        return 0 <= cell.row && cell.row < rows && 0 <= cell.col && cell.col < cols &&
               cells_[cell.row][cell.col] != *BLOCK_CHAR;
    }

    // The free cells above, to the left, to the right and below.
    std::vector<Location> neighbours(Location cell) const {
        std::vector<Location> found;
        for (const auto [down, right] : {Location{-1, 0}, {0, -1}, {0, 1}, {1, 0}}) {
            const Location beside{cell.row + down, cell.col + right};
            if (isFree(beside)) found.push_back(beside);
        }
        return found;
    }

    // A table: how many steps each cell is from the nearest of `starts`, or FAR. A start that is not free counts for
    // nothing.
    Table<int> distances(const std::vector<Location>& starts) const {
        Table<int> table(rows, std::vector<int>(cols, FAR));
        std::vector<Location> queue;
        for (const auto cell : starts) {
            if (!isFree(cell)) continue;
            table[cell.row][cell.col] = 0;
            queue.push_back(cell);
        }
        for (std::size_t next = 0; next < queue.size(); ++next) {
            const auto cell = queue[next];
            for (const auto beside : neighbours(cell)) {
                if (table[beside.row][beside.col] != FAR) continue;
                table[beside.row][beside.col] = table[cell.row][cell.col] + 1;
                queue.push_back(beside);
            }
        }
        return table;
    }

    // A shortest path, both ends included; empty if there is none.
    std::vector<Location> path(Location start, Location target) const {
        const auto steps = distances({start});
        if (!isFree(target) || steps[target.row][target.col] == FAR) return {};
        std::vector<Location> path{target};
        while (path.back() != start) {
            const auto cell = path.back();
            for (const auto beside : neighbours(cell)) {
                if (steps[beside.row][beside.col] < steps[cell.row][cell.col]) {
                    path.push_back(beside);
                    break;
                }
            }
        }
        std::reverse(path.begin(), path.end());
        return path;
    }

    // Where play_turn may go, row by row; to stay is allowed.
    std::vector<Location> reach(const Player& player) const {
        if (player.portal_gun) return free;
        const auto steps = distances({player.location});
        std::vector<Location> found;
        for (const auto cell : free) {
            if (steps[cell.row][cell.col] <= speed(player)) found.push_back(cell);
        }
        return found;
    }

   private:
    std::vector<std::string> cells_;
};

}  // namespace referee::aiarena21
