// A perfect player: keeps its own board from the events, looks ahead to the end of the game, and flips the table when,
// and only when, the rival's move was invalid or out of turn.

#include <algorithm>
#include <referee/tictactoe.hpp>

using namespace referee;
using namespace referee::tictactoe;

namespace {

constexpr int LINES[8][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}};

// Nine cells in the order of CELLS: 0 empty, +1 mine, -1 the rival's.
using Board = std::array<int, 9>;

bool hasLine(const Board& board, int side) {
    return std::any_of(std::begin(LINES), std::end(LINES), [&](const auto& line) {
        return board[line[0]] == side && board[line[1]] == side && board[line[2]] == side;
    });
}

// How the game ends for `side`, who is to move, when both play well: above 0 a win, the sooner the higher; below 0 a
// loss. `best`, if wanted, becomes the cell that leads there.
int solve(Board& board, int side, int* best = nullptr) {
    const auto empty = static_cast<int>(std::count(board.begin(), board.end(), 0));
    if (hasLine(board, -side)) return -1 - empty;
    if (empty == 0) return 0;
    int value = -100;
    for (int cell = 0; cell < 9; ++cell) {
        if (board[cell] != 0) continue;
        board[cell] = side;
        const int reply = -solve(board, -side);
        board[cell] = 0;
        if (reply > value) {
            value = reply;
            if (best) *best = cell;
        }
    }
    return value;
}

}  // namespace

class Perfect : public TicTacToeBot {
   public:
    using TicTacToeBot::TicTacToeBot;

    Action play(const std::string& /*id*/) override {
        if (rivalWasInvalid_) return {ActionType::FLIP};
        int cell = 0;
        solve(board_, 1, &cell);
        return {ActionType::PUT_SYMBOL, CELLS[cell]};
    }

    // `player` decides what kind of event it is: an invalid answer is shown with all its members, and one of them may
    // well be called `winner`.
    void event(const ArenaEvent& event) override {
        if (!event.player) {
            if (event.youAre) me_ = *event.youAre;
            return;
        }
        const int side = *event.player == me_ ? 1 : -1;
        int* cell = *event.player == toMove_ ? emptyCell(event) : nullptr;
        if (cell) {
            *cell = side;
            toMove_ = toMove_ == Symbol::O ? Symbol::X : Symbol::O;
        }
        if (side == -1) rivalWasInvalid_ = !cell;
    }

   private:
    // The cell that a legal move fills; null for every other answer.
    int* emptyCell(const ArenaEvent& event) {
        const auto name = event.position.as<Cell>();
        if (event.action.as<ActionType>() != ActionType::PUT_SYMBOL || !name) return nullptr;
        int& cell = board_[static_cast<int>(*name)];
        return cell == 0 ? &cell : nullptr;
    }

    Symbol me_ = Symbol::O, toMove_ = Symbol::O;
    Board board_{};
    bool rivalWasInvalid_ = false;
};

int main() { return run<Perfect>("Perfect (C++)"); }
