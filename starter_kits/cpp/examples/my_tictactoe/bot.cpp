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

    void event(const ArenaEvent& event) override {
        if (event.position && event.position->is_string()) free_.erase(event.position->get<std::string>());
    }

   private:
    std::set<std::string> free_{CELLS.begin(), CELLS.end()};
};

int main() { return run<MyBot>("My tic-tac-toe bot"); }
