// Answers with the members of the last event; - for an absent one.

#include <referee/json.hpp>
#include <referee/tictactoe.hpp>

using namespace referee;
using namespace referee::tictactoe;

class Spy : public TicTacToeBot {
    std::string heard;

    static std::string shown(const std::optional<std::string>& member) { return member.value_or("-"); }
    static std::string shown(const Anything& member) { return member.has_value() ? member.json().dump() : "-"; }
    template <class Choice>
    static std::string shown(const std::optional<Choice>& member) { return member ? to_text(*member) : "-"; }

   public:
    using TicTacToeBot::TicTacToeBot;

    void event(const ArenaEvent& e) override {
        heard = shown(e.youAre) + " " + shown(e.id) + " " + shown(e.player) + " " + shown(e.action) + " " +
                shown(e.position) + " " + shown(e.winner);
    }

    Action play(const std::string&) override { throw std::runtime_error(heard); }
};

int main() { return run<Spy>("Spy"); }
