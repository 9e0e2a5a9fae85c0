// Your ReAntics bot: it plays legal matches as it stands; make it win. The types are in <referee/reantics.hpp>.

#include <referee/reantics.hpp>

using namespace referee;
using namespace referee::reantics;

class MyBot : public ReAnticsBot {
   public:
    std::vector<Coord> getPlacement(const GameState& currentState) override {
        if (currentState.phase == SETUP_PHASE_1) {
            return {{2, 1}, {7, 1}, {0, 3}, {1, 3}, {2, 3}, {3, 3}, {4, 3}, {5, 3}, {6, 3}, {7, 3}, {8, 3}};
        }
        std::vector<Coord> food;
        for (int y = 9; y >= 6; --y) {
            for (int x = 0; x < BOARD_LENGTH; ++x) {
                if (isFree(currentState, {x, y})) food.push_back({x, y});
            }
        }
        return food;  // the first two count
    }

    Move getMove(const GameState& /*currentState*/) override {
        // Move an ant: {MOVE_ANT, {{from, …, to}}}. Build one: {BUILD, {{anthill}}, WORKER}.
        return {END};
    }

    Coord getAttack(const GameState& /*currentState*/, const Ant& /*attackingAnt*/,
                    const std::vector<Coord>& enemyLocations) override {
        return enemyLocations.front();
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
};

int main() { return run<MyBot>("My ReAntics bot"); }
