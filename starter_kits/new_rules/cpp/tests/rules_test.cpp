// The rules' own tests: `ctest --test-dir build`.

#include <iostream>

#include "../hexapawn.hpp"

namespace {

int failures = 0;
const Hexapawn GAME;

void check(bool holds, const std::string& rule) {
    if (holds) return;
    ++failures;
    std::cerr << "not so: " << rule << std::endl;
}

void randomGamesEndWithAResult() {
    for (int width = 3; width <= 7; ++width) {
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            const auto turns = random_game(GAME, {{"width", width}}, 2, seed);
            const auto& reason = turns.back().result->reason;
            check(reason == "far_row" || reason == "no_move", "a game ends by the rules, not by " + reason);
        }
    }
}

void aPawnTakesDiagonallyAndNotForward() {
    const auto legal = GAME.legal({{"...", ".xx", ".o."}, 0}, 0, 100);
    check(Json(*legal) == Json::parse(R"([{"pawn": "b1", "to": "c2"}])"), "b1 takes on c2 and cannot move");
}

void anIllegalMoveOrAFaultLoses() {
    Luck luck(0);
    const auto start = GAME.start({{"width", 3}}, 2, luck).position;
    const auto illegal = GAME.step(start, {{0, {Json{{"pawn", "a1"}, {"to", "a3"}}}}}, luck);
    check(illegal.rulings[0]["detail"] == "a1 to a3 is no move now", "the ruling says what was played");
    check(illegal.result->ranks == std::vector<int>{2, 1}, "an illegal move loses");
    const auto late = GAME.step(start, {{0, {nullptr, Fault{"timeout", "no answer within 1000 ms"}}}}, luck);
    check(late.result->ranks == std::vector<int>{2, 1} && late.result->reason == "timeout", "a fault loses");
}

}  // namespace

int main() {
    try {
        randomGamesEndWithAResult();
        aPawnTakesDiagonallyAndNotForward();
        anIllegalMoveOrAFaultLoses();
    } catch (const std::exception& error) {
        check(false, error.what());
    }
    return failures;
}
