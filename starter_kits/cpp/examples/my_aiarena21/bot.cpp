// Your AI Arena 21 bot: it plays random legal moves as it stands, and buys nothing; make it win. The types are in
// <referee/aiarena21.hpp>, what helps on the map is in <referee/grid.hpp>.

#include <random>
#include <referee/grid.hpp>

using namespace referee;
using namespace referee::aiarena21;

class MyBot : public AIArena21Bot {
   public:
    using AIArena21Bot::AIArena21Bot;

    PowerUp play_powerup(const Map& /*game_map*/, const Player& /*me*/, const Player& /*opponent*/,
                             const Table<int>& /*items*/, const Table<std::vector<Item>>& /*new_items*/,
                             const Table<double>& /*heatmap*/, int /*remaining_turns*/) override {
        return PowerUp::NONE;  // or PowerUp::BIKE, or PowerUp::PORTAL_GUN
    }

    std::string play_turn(const Map& game_map, const Player& me, const Player& /*opponent*/,
                          const Table<int>& /*items*/, const Table<std::vector<Item>>& /*new_items*/,
                          const Table<double>& /*heatmap*/, int /*remaining_turns*/) override {
        return name(any(Grid(game_map).reach(me)));
    }

    int play_auction(const Map& /*game_map*/, const Player& me, const Player& /*opponent*/,
                     const Table<int>& /*items*/, const Table<std::vector<Item>>& /*new_items*/,
                     const Table<double>& /*heatmap*/, int /*remaining_turns*/) override {
        return std::uniform_int_distribution<int>(0, me.score)(luck_);
    }

    std::string play_transport(const Map& game_map, const Player& /*me*/, const Player& /*opponent*/,
                               const Table<int>& /*items*/, const Table<std::vector<Item>>& /*new_items*/,
                               const Table<double>& /*heatmap*/, int /*remaining_turns*/) override {
        return name(any(Grid(game_map).free));
    }

   private:
    Location any(const std::vector<Location>& cells) {
        return cells[std::uniform_int_distribution<std::size_t>(0, cells.size() - 1)(luck_)];
    }

    std::mt19937_64 luck_{match.seed};
};

int main() { return run<MyBot>("My AI Arena 21 bot"); }
