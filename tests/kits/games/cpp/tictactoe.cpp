// Tic-tac-toe (tictactoe.md), as games/tictactoe.py has it.

#include "arena.hpp"

using namespace arena;

const std::vector<std::string> CELLS = {"NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"};
const int LINES[8][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}};

class TicTacToe : public Battle {
   public:
    static constexpr const char* game = "tictactoe";

    TicTacToe() {
        sides = {"O", "X"};
        wins = {"O_WIN", "X_WIN"};
        signs = "OX";
    }

   protected:
    Position begin(const Json&) const override { return {std::string(9, '.'), {}, {}, {}, {}}; }

    std::optional<std::string> malformed(const Position&, const Json& answer) const override {
        if (!is(answer, "action", "putSymbol")) return UNKNOWN_ACTION;
        if (!index(answer)) return as_printed(answer, "position") + " is not a valid position";
        return std::nullopt;
    }

    std::optional<std::string> forbidden(const Position& position, const Json& answer) const override {
        const int cell = *index(answer);
        if (position.board[cell] == '.') return std::nullopt;
        return "location " + std::to_string(cell % 3) + "," + std::to_string(cell / 3) + " is not empty";
    }

    std::optional<Result> play(Position& position, int player, const Json& move) const override {
        auto& board = position.board;
        board[*index(move)] = signs[player];
        for (const auto& [a, b, c] : LINES) {
            if (board[a] == signs[player] && board[a] == board[b] && board[b] == board[c]) return win(player, wins[player]);
        }
        return board.find('.') == std::string::npos ? std::optional(draw()) : std::nullopt;
    }

    std::vector<Json> moves(const Position& position) const override {
        std::vector<Json> found;
        for (int cell = 0; cell < 9; ++cell) {
            if (position.board[cell] == '.') found.push_back({{"action", "putSymbol"}, {"position", CELLS[cell]}});
        }
        return found;
    }

    std::string drawn(const Position& position) const override {
        const auto& board = position.board;
        return board.substr(0, 3) + "\n" + board.substr(3, 3) + "\n" + board.substr(6);
    }

   private:
    static std::optional<int> index(const Json& answer) {
        for (int cell = 0; cell < 9; ++cell) {
            if (is(answer, "position", CELLS[cell])) return cell;
        }
        return std::nullopt;
    }
};

int main() { return run_rules<TicTacToe>(); }
