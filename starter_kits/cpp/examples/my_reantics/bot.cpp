// Your ReAntics bot: it plays random legal moves as it stands; make it win. It places its pieces anywhere, and any ant
// takes any step until the turn ends. The types are in <referee/reantics.hpp>.

#include <algorithm>
#include <random>
#include <referee/reantics.hpp>

using namespace referee;
using namespace referee::reantics;

class MyBot : public ReAnticsBot {
   public:
    using ReAnticsBot::ReAnticsBot;

    // The anthill, the tunnel and nine grass on our side; later two foods on the enemy's.
    std::vector<Coord> getPlacement(const GameState& currentState) override {
        const int top = currentState.phase == Phase::SETUP_PHASE_1 ? 0 : 6;
        std::vector<Coord> tiles;
        for (int y = top; y < top + 4; ++y) {
            for (int x = 0; x < BOARD_LENGTH; ++x) {
                if (isFree(currentState, {x, y})) tiles.push_back({x, y});
            }
        }
        std::shuffle(tiles.begin(), tiles.end(), luck_);
        return tiles;  // the first eleven count, later the first two
    }

    Move getMove(const GameState& currentState) override {
        // Move an ant: {MoveType::MOVE_ANT, {{from, …, to}}}. Build one: {MoveType::BUILD, {{anthill}},
        // AntType::WORKER}.
        std::vector<Move> moves;
        moves.push_back({MoveType::END});
        for (const auto& ant : currentState.inventories[currentState.whoseTurn].ants) {
            for (const auto [right, down] : {Coord{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
                const Coord tile{ant.coords.x + right, ant.coords.y + down};
                if (ant.hasMoved || !mayEnter(currentState, ant, tile)) continue;
                moves.push_back({MoveType::MOVE_ANT, {{ant.coords, tile}}});
            }
        }
        return any(moves);
    }

    Coord getAttack(const GameState& /*currentState*/, const Ant& /*attackingAnt*/,
                    const std::vector<Coord>& enemyLocations) override {
        return any(enemyLocations);
    }

   private:
    static bool isFree(const GameState& state, Coord tile) {
        for (const auto& inventory : state.inventories) {
            for (const auto& constr : inventory.constrs) {
                if (constr.coords == tile) return false;
            }
        }
        return true;
    }

    // The queen stays on our side.
    static bool mayEnter(const GameState& state, const Ant& ant, Coord tile) {
        const int last = ant.type == AntType::QUEEN ? 3 : BOARD_LENGTH - 1;
        if (tile.x < 0 || tile.x >= BOARD_LENGTH || tile.y < 0 || tile.y > last) return false;
        for (const auto& inventory : state.inventories) {
            for (const auto& other : inventory.ants) {
                if (other.coords == tile) return false;
            }
        }
        return true;
    }

    template <class Item>
    Item any(const std::vector<Item>& items) {
        return items[std::uniform_int_distribution<std::size_t>(0, items.size() - 1)(luck_)];
    }

    std::mt19937_64 luck_{match.seed};
};

int main() { return run<MyBot>("My ReAntics bot"); }
