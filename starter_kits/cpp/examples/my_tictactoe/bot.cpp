// Your tic-tac-toe bot: it plays random legal moves as it stands; make it win. The types are in
// <referee/tictactoe.hpp>.

#include <algorithm>
#include <random>
#include <referee/tictactoe.hpp>

using namespace referee;
using namespace referee::tictactoe;

class MyBot : public TicTacToeBot {
   public:
    using TicTacToeBot::TicTacToeBot;

    Action play(const std::string& /*id*/) override {
        // After an invalid move of the rival the one right answer is {ActionType::FLIP}: it wins.
        return {ActionType::PUT_SYMBOL, free_[std::uniform_int_distribution<std::size_t>(0, free_.size() - 1)(luck_)]};
    }

    // Every answer is shown here, the rival's and your own, as it was sent.
    void event(const ArenaEvent& event) override {
        if (event.action.as<ActionType>() != ActionType::PUT_SYMBOL) return;
        free_.erase(std::remove(free_.begin(), free_.end(), event.position.as<Cell>()), free_.end());
    }

   private:
    std::vector<Cell> free_{CELLS.begin(), CELLS.end()};
    std::mt19937_64 luck_{match.seed};
};

int main() { return run<MyBot>("My tic-tac-toe bot"); }
