// Answers each position with the results of the kit's functions for AIBG 5, like hexgrid.py.

#include <referee/hexgrid.hpp>

using namespace referee;
using namespace referee::aibg5;

static std::string flag(bool value) { return value ? "yes " : "no "; }

static std::string listed(const std::vector<Cell>& cells) {
    std::string text;
    for (const auto cell : cells) {
        text += (text.empty() ? "" : " ") + std::to_string(cell.q) + "," + std::to_string(cell.r);
    }
    return text;
}

class Hexes : public AIBG5Bot {
   public:
    using AIBG5Bot::AIBG5Bot;

    Action doAction(int, const GameState& gameState, const std::optional<std::string>&) override {
        const Board board(gameState);
        const Player& me = *gameState.player1;
        const Cell here = cellOf(me), there{me.kills, me.deaths};
        const auto hit = board.hit(here, there);
        return {std::to_string(distance(here, there)) + ";" + flag(isOnBoard(here)) + flag(isOnBoard(there)) + ";" +
                listed(neighbours(here)) + ";" + listed(within(here, me.level)) + ";" + listed(ring(me.level)) + ";" +
                listed(lineOfFire(here, there)) + ";" + flag(board.mayEnter(there)) + flag(board.isTarget(there)) +
                ";" + (hit ? listed({*hit}) : "-") + ";" + listed(board.targets(here))};
    }
};

int main() { return run<Hexes>("Hexes"); }
