// AIBG 5 with the C++ kit: reads the whole state into its types, as every bot of the kit does, and steps to the first
// free neighbouring cell.

#include <referee/hexgrid.hpp>

using namespace referee;
using namespace referee::aibg5;

class Walker : public AIBG5Bot {
   public:
    using AIBG5Bot::AIBG5Bot;

    Action doAction(int playerIdx, const GameState& gameState, const std::optional<std::string>& /*message*/) override {
        const Board board(gameState);
        Cell here;
        for (const auto* player : board.players) {
            if (player->playerIdx == playerIdx) here = cellOf(*player);
        }
        for (const auto cell : neighbours(here)) {
            if (board.mayEnter(cell)) return move(cell);
        }
        return move(here);
    }
};

int main() { return run<Walker>("Walker"); }
