// Walks to the fruit that brings most points a turn, the way included; between equals, and where no fruit lies, to the
// heat of what comes next. Buys a bike when it collects more than it costs, and bids what lies on the cell.

#include <referee/grid.hpp>
#include <tuple>

using namespace referee;
using namespace referee::aiarena21;

namespace {

// How long the way takes; to stay takes a turn too.
int turnsFor(int steps, int stepsATurn) { return std::max(1, (steps + stepsATurn - 1) / stepsATurn); }

// Where to go on a board on which `worth` lies: a table of points, or of heat.
class Plan {
   public:
    template <class Value>
    Plan(const Grid& grid, const Table<Value>& worth, const Table<double>& heat) : grid_(grid), heat_(heat) {
        for (const auto& row : worth) worth_.emplace_back(row.begin(), row.end());
    }

    // The cell that brings most a turn; then the hotter, the nearer, the first one. None: nothing is in reach.
    std::optional<Location> target(Location start, int stepsATurn) const {
        const auto table = grid_.distances({start});
        std::optional<Location> best;
        std::tuple<double, double, int> bestKey;
        for (const auto cell : grid_.free) {
            const double worth = worth_[cell.row][cell.col];
            const int steps = table[cell.row][cell.col];
            if (worth == 0 || steps == FAR) continue;
            const std::tuple key(worth / turnsFor(steps, stepsATurn), heat_[cell.row][cell.col], -steps);
            if (best && key <= bestKey) continue;
            best = cell;
            bestKey = key;
        }
        return best;
    }

    // What going from target to target brings in so many turns; of one that is too far, the part of the way.
    double harvest(Location start, int turns, int stepsATurn) const {
        Plan plan = *this;
        double brought = 0;
        while (turns > 0) {
            const auto target = plan.target(start, stepsATurn);
            if (!target) break;
            const int needed = turnsFor(grid_.distances({start})[target->row][target->col], stepsATurn);
            double& worth = plan.worth_[target->row][target->col];
            brought += worth * std::min(turns, needed) / needed;
            worth = 0;
            start = *target;
            turns -= needed;
        }
        return brought;
    }

   private:
    const Grid& grid_;
    Table<double> worth_;
    const Table<double>& heat_;
};

}  // namespace

class Picker : public AIArena21Bot {
   public:
    using AIArena21Bot::AIArena21Bot;

    PowerUp play_powerup(const Map& game_map, const Player& me, const Player& /*opponent*/,
                             const Table<int>& items, const Table<std::vector<Item>>& /*new_items*/,
                             const Table<double>& heatmap, int remaining_turns) override {
        if (me.bike || me.score < BIKE_COST) return PowerUp::NONE;
        const Plan plan(walkable(game_map), items, heatmap);
        const int turns = std::min(BIKE_TURNS, remaining_turns);
        const double gain = plan.harvest(me.location, turns, BIKE_STEPS) - plan.harvest(me.location, turns, 1);
        return gain > BIKE_COST ? PowerUp::BIKE : PowerUp::NONE;
    }

    std::string play_turn(const Map& game_map, const Player& me, const Player& /*opponent*/, const Table<int>& items,
                          const Table<std::vector<Item>>& /*new_items*/, const Table<double>& heatmap,
                          int /*remaining_turns*/) override {
        const auto& grid = walkable(game_map);
        auto target = Plan(grid, items, heatmap).target(me.location, speed(me));
        if (!target) target = Plan(grid, heatmap, heatmap).target(me.location, speed(me));
        const auto path = grid.path(me.location, target.value_or(me.location));
        return name(path[std::min<std::size_t>(speed(me), path.size() - 1)]);
    }

    // What lies here, and one more for the place: the winner pays half of both bids.
    int play_auction(const Map& /*game_map*/, const Player& me, const Player& /*opponent*/, const Table<int>& items,
                     const Table<std::vector<Item>>& /*new_items*/, const Table<double>& /*heatmap*/,
                     int /*remaining_turns*/) override {
        return std::min(me.score, items[me.location.row][me.location.col] + 1);
    }

    // The cell that is the longest walk from any fruit; where none lies, from us.
    std::string play_transport(const Map& game_map, const Player& me, const Player& /*opponent*/,
                               const Table<int>& items, const Table<std::vector<Item>>& /*new_items*/,
                               const Table<double>& /*heatmap*/, int /*remaining_turns*/) override {
        const auto& grid = walkable(game_map);
        std::vector<Location> fruit;
        for (const auto cell : grid.free) {
            if (items[cell.row][cell.col]) fruit.push_back(cell);
        }
        if (fruit.empty()) fruit = {me.location};
        const auto steps = grid.distances(fruit);
        return name(*std::max_element(grid.free.begin(), grid.free.end(), [&](Location a, Location b) {
            return steps[a.row][a.col] < steps[b.row][b.col];
        }));
    }

   private:
    const Grid& walkable(const Map& game_map) {
        if (!grid_) grid_.emplace(game_map);
        return *grid_;
    }

    std::optional<Grid> grid_;
};

int main() { return run<Picker>("Picker (C++)"); }
