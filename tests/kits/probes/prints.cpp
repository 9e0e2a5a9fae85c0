// Prints before it plays, or uses the kit without playing.

#include <referee/tictactoe.hpp>
#include <cstdlib>
#include <iostream>

struct Prints : referee::tictactoe::TicTacToeBot {
    using TicTacToeBot::TicTacToeBot;
    referee::tictactoe::Action play(const std::string&) override { return {referee::tictactoe::ActionType::FLIP}; }
};

int main() {
    std::cout << "buffered";
    if (std::getenv("ONLY_USES_THE_KIT")) return 0;
    if (std::getenv("AT_ONCE")) std::cout << "+ at once" << std::endl;
    return referee::run<Prints>("Prints");
}
