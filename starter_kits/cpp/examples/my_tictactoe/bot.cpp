// Your tic-tac-toe bot: it takes the first cell that is free; make it win. The types are in <referee/tictactoe.hpp>.

#include <referee/tictactoe.hpp>
#include <set>

using namespace referee;
using namespace referee::tictactoe;

class MyBot : public TicTacToeBot {
   public:
    Action play(const std::string& /*id*/) override {
        // After an invalid move of the rival the one right answer is {FLIP}: it wins.
        return {"putSymbol", *free_.begin()};
    }

    // Every answer is shown here, the rival's and your own, as it was sent.
    void event(const ArenaEvent& event) override {
        for (const std::string cell : CELLS) {
            if (event.action == "putSymbol" && event.position == cell) free_.erase(cell);
        }
    }

   private:
    std::set<std::string> free_{CELLS.begin(), CELLS.end()};
};

int main() { return run<MyBot>("My tic-tac-toe bot"); }
