// Answers each position with the results of the kit's functions for AI Arena 21, like grids.py.

#include <referee/grid.hpp>

using namespace referee;
using namespace referee::aiarena21;

static std::string flag(bool value) { return value ? "yes " : "no "; }

static std::string listed(const std::vector<Location>& cells) {
    std::string text;
    for (const auto cell : cells) text += (text.empty() ? "" : " ") + name(cell);
    return text;
}

class Grids : public AIArena21Bot {
   public:
    using AIArena21Bot::AIArena21Bot;

    PowerUp play_powerup(const Map&, const Player&, const Player&, const Table<int>&, const Table<std::vector<Item>>&,
                         const Table<double>&, int) override {
        return PowerUp::NONE;
    }

    std::string play_turn(const Map& game_map, const Player& me, const Player& opponent, const Table<int>&,
                          const Table<std::vector<Item>>&, const Table<double>&, int) override {
        const Grid grid(game_map);
        const Location here = me.location, there = opponent.location;
        std::string table;
        for (const auto& row : grid.distances({here, there, here})) {
            if (!table.empty()) table += "/";
            for (std::size_t col = 0; col < row.size(); ++col) table += (col ? " " : "") + std::to_string(row[col]);
        }
        return flag(grid.isFree(here)) + flag(grid.isFree(there)) + ";" + listed(grid.free) + ";" +
               listed(grid.neighbours(here)) + ";" + table + ";" + listed(grid.path(here, there)) + ";" +
               listed(grid.reach(me));
    }

    int play_auction(const Map&, const Player&, const Player&, const Table<int>&, const Table<std::vector<Item>>&,
                     const Table<double>&, int) override {
        return 0;
    }

    std::string play_transport(const Map&, const Player&, const Player&, const Table<int>&,
                               const Table<std::vector<Item>>&, const Table<double>&, int) override {
        return "";
    }
};

int main() { return run<Grids>("Grids"); }
