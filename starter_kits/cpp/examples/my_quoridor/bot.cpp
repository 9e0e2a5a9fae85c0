// Your Quoridor bot: it plays random legal moves of its pawn as it stands, and puts no wall; make it win. The types are
// in <referee/quoridor.hpp>.

#include <algorithm>
#include <random>
#include <referee/quoridor.hpp>

using namespace referee;
using namespace referee::quoridor;

namespace {

constexpr int UP = 9, RIGHT = 1, DOWN = -9, LEFT = -1;  // what a step adds to a square
constexpr int NOWHERE = -1;

// a1 = 0, b1 = 1, a2 = 9; what names no square is NOWHERE.
int squareOf(const std::string& name) {
    if (name.size() != 2 || name[0] < 'a' || name[0] > 'i' || name[1] < '1' || name[1] > '9') return NOWHERE;
    return 9 * (name[1] - '1') + name[0] - 'a';
}

std::string nameOf(int square) { return {static_cast<char>('a' + square % 9), static_cast<char>('1' + square / 9)}; }

}  // namespace

class MyBot : public QuoridorBot {
   public:
    explicit MyBot(const Match& match) : QuoridorBot(match) {
        for (int square = 0; square < 81; ++square) {
            up_[square] = square < 72;
            right_[square] = square % 9 < 8;
        }
    }

    Action play(const std::string& /*id*/) override {
        // A wall: {ActionType::PUT_WALL, "e3h"}. After an invalid answer of the rival the one right answer is
        // {ActionType::FLIP}: it wins.
        const auto squares = targets();
        std::uniform_int_distribution<std::size_t> any(0, squares.size() - 1);
        return {ActionType::MOVE, nameOf(squares[any(luck_)])};
    }

    // Every answer is shown here, the rival's and your own, as it was sent: look before you trust `position`.
    void event(const ArenaEvent& event) override {
        if (!event.player) {
            if (event.youAre) me_ = *event.youAre == Side::SECOND;
            return;
        }
        const auto action = event.action.as<ActionType>();
        const std::string name = event.position.text().value_or("");
        const int square = squareOf(name.substr(0, 2));
        if (square == NOWHERE) return;
        if (action == ActionType::MOVE) {
            pawns_[*event.player == Side::SECOND] = square;
        } else if (action == ActionType::PUT_WALL && square < 72) {
            if (name.substr(2) == "h") {
                up_[square] = up_[square + 1] = false;
            } else {
                right_[square] = right_[square + 9] = false;
            }
        }
    }

   private:
    // The squares that your pawn may move to: one step on, or past the rival's pawn.
    std::vector<int> targets() const {
        const int own = pawns_[me_], rival = pawns_[1 - me_];
        std::vector<int> found;
        for (const int step : {UP, RIGHT, DOWN, LEFT}) {
            int target = beside(own, step);
            if (target == rival) {
                target = beside(rival, step);  // the jump
                if (target == NOWHERE) {       // to the sides then
                    const int aside = step == UP || step == DOWN ? RIGHT : UP;
                    found.push_back(beside(rival, aside));
                    found.push_back(beside(rival, -aside));
                }
            }
            found.push_back(target);
        }
        found.erase(std::remove(found.begin(), found.end(), NOWHERE), found.end());
        return found;
    }

    // The square one step on; NOWHERE behind a wall or the edge.
    int beside(int square, int step) const {
        const int lower = std::min(square, square + step);
        const auto& steps = step == UP || step == DOWN ? up_ : right_;
        return lower >= 0 && steps[lower] ? square + step : NOWHERE;
    }

    int me_ = 0;  // first is 0, second is 1
    std::array<int, 2> pawns_{4, 76};
    std::array<bool, 81> up_, right_;  // whether the step up, or right, from a square is open
    std::mt19937_64 luck_{match.seed};
};

int main() { return run<MyBot>("My Quoridor bot"); }
