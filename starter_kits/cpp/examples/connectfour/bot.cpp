// Looks six plies ahead on a board that it keeps from the events, and flips the table when, and only when, the rival's
// move was invalid or out of turn.

#include <algorithm>
#include <cstdint>
#include <referee/connectfour.hpp>

using namespace referee;
using namespace referee::connectfour;

namespace {

constexpr int DEPTH = 6;
constexpr int STRIDE = ROWS + 1;
constexpr int ORDER[] = {3, 2, 4, 1, 5, 0, 6};  // the columns from the middle outwards

// Seven bits a column from its lowest cell on, the seventh always 0. So two cells that are neighbours in a direction
// are the same number of bits apart everywhere, and no line runs over the edge.
using Cells = std::uint64_t;

// The lowest free cell of a column; none if it is full.
Cells landing(Cells taken, std::ptrdiff_t column) {
    const Cells lowest = Cells{1} << STRIDE * column;
    return (taken + lowest) & ((lowest << ROWS) - lowest);
}

bool hasFour(Cells tokens) {
    for (const int step : {1, STRIDE - 1, STRIDE, STRIDE + 1}) {
        const Cells pairs = tokens & tokens >> step;
        if (pairs & pairs >> 2 * step) return true;
    }
    return false;
}

// What the owner of `own`, who is to move, can reach within `depth` plies: above 0 a win, the sooner the higher; below
// 0 a loss. Only what lies between `low` and `high` matters. `best`, if wanted, becomes the column that leads there.
int solve(Cells own, Cells rival, int depth, int low, int high, int* best = nullptr) {
    int value = -DEPTH - 1;
    if (depth == 0) return 0;
    for (const int column : ORDER) {
        const Cells cell = landing(own | rival, column);
        if (!cell) continue;
        const int reply =
            hasFour(own | cell) ? depth : -solve(rival, own | cell, depth - 1, -high, -std::max(low, value));
        if (reply > value) {
            value = reply;
            if (best) *best = column;
        }
        if (value >= high) break;
    }
    return value < -DEPTH ? 0 : value;  // below: a full board
}

}  // namespace

class Dropper : public ConnectFourBot {
   public:
    using ConnectFourBot::ConnectFourBot;

    Action play(const std::string& /*id*/) override {
        if (rivalWasInvalid_) return {ActionType::FLIP};
        int column = 0;
        solve(mine_, theirs_, DEPTH, -DEPTH, DEPTH, &column);
        return {ActionType::PUT_TOKEN, COLUMNS[column]};
    }

    // `player` decides what kind of event it is: an invalid answer is shown with all its members, and one of them may
    // well be called `winner`.
    void event(const ArenaEvent& event) override {
        if (!event.player) {
            if (event.youAre) me_ = *event.youAre;
            return;
        }
        const bool isMine = *event.player == me_;
        const Cells cell = *event.player == toMove_ ? filled(event) : 0;
        if (cell) {
            (isMine ? mine_ : theirs_) |= cell;
            toMove_ = toMove_ == Side::RED ? Side::YELLOW : Side::RED;
        }
        if (!isMine) rivalWasInvalid_ = !cell;
    }

   private:
    // The cell that a legal move fills; none for every other answer.
    Cells filled(const ArenaEvent& event) const {
        const auto column = event.column.as<Column>();
        if (event.action.as<ActionType>() != ActionType::PUT_TOKEN || !column) return 0;
        return landing(mine_ | theirs_, static_cast<int>(*column));
    }

    Side me_ = Side::RED, toMove_ = Side::RED;
    Cells mine_ = 0, theirs_ = 0;
    bool rivalWasInvalid_ = false;
};

int main() { return run<Dropper>("Dropper (C++)"); }
