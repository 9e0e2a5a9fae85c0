// Your AIBG 5 bot: it plays random legal moves as it stands; make it win. The types are in <referee/aibg5.hpp>, what
// helps on the board is in <referee/hexgrid.hpp>.

#include <random>
#include <referee/hexgrid.hpp>

using namespace referee;
using namespace referee::aibg5;

class MyBot : public AIBG5Bot {
   public:
    using AIBG5Bot::AIBG5Bot;

    Action doAction(int playerIdx, const GameState& gameState, const std::optional<std::string>& /*message*/) override {
        const Board board(gameState);
        Cell here;
        for (const auto* player : board.players) {
            if (player->playerIdx == playerIdx) here = cellOf(*player);
        }
        std::vector<Action> actions;
        for (const auto cell : neighbours(here)) {
            if (board.mayEnter(cell)) actions.push_back(move(cell));
        }
        for (const auto cell : board.targets(here)) actions.push_back(attack(cell));
        if (actions.empty()) return move(here);  // nothing is legal: it costs a tenth of the health
        return actions[std::uniform_int_distribution<std::size_t>(0, actions.size() - 1)(luck_)];
    }

   private:
    std::mt19937_64 luck_{match.seed};
};

int main() { return run<MyBot>("My AIBG 5 bot"); }
