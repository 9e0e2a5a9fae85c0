// The rules of tic-tac-toe for benchmarks, by the C++ kit: what the bots hear and answer is the Arena's, without flips.
//
//     tictactoe_rules [PADDING]
//
// PADDING numbers are added to every position, which makes it as large as those of other games.

#include <array>
#include <cstdlib>
#include <referee/rules.hpp>

using namespace referee;
using namespace referee::rules;

namespace {

constexpr std::array<const char*, 9> CELLS = {"NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"};
constexpr std::array<std::array<int, 3>, 8> LINES = {
    {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}}};
int padding = 0;

struct Position {
    std::string board;
    int mover;
    std::vector<int> more;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Position, board, mover, more)

class TicTacToe : public Rules<Position> {
   public:
    static constexpr const char* game = "tictactoe_rules";

    Turn start(const Json&, int, Luck&) const override {
        std::vector<int> more;
        for (int number = 0; number < padding; ++number) more.push_back(1000 + number);
        Turn turn{{std::string(9, '.'), 0, more}};
        for (int seat : {0, 1}) turn.notice("event", {{"youAre", seat == 0 ? "O" : "X"}, {"id", ID}}, {seat});
        return asking(turn);
    }

    Turn step(const Position& before, const Answers& answers, Luck&) const override {
        const int seat = before.mover;
        const auto& [value, fault] = answers.at(seat);
        Turn turn{before};
        if (fault) {
            turn.result = won(1 - seat, fault->kind);
            return turn.punish(seat);
        }
        const int cell = at(value);
        if (cell < 0 || before.board[cell] != '.') {
            turn.result = won(1 - seat, "illegal");
            return turn.refuse(seat, "expected putSymbol and an empty cell");
        }
        const char sign = seat == 0 ? 'O' : 'X';
        turn.position.board[cell] = sign;
        turn.position.mover = 1 - seat;
        turn.notice("event", {{"player", std::string(1, sign)}, {"action", "putSymbol"}, {"position", CELLS[cell]}});
        for (const auto& line : LINES) {
            if (std::all_of(line.begin(), line.end(), [&](int each) { return turn.position.board[each] == sign; })) {
                turn.result = won(seat, std::string(1, sign) + "_WIN");
            }
        }
        if (!turn.result && turn.position.board.find('.') == std::string::npos) turn.result = {{1, 1}, {0.5, 0.5}, "DRAW"};
        if (turn.result) return turn.notice("event", {{"winner", winner(*turn.result)}});
        return asking(turn);
    }

    std::optional<std::vector<Json>> legal(const Position& position, int, std::size_t) const override {
        std::vector<Json> moves;
        for (int cell = 0; cell < 9; ++cell) {
            if (position.board[cell] == '.') moves.push_back({{"action", "putSymbol"}, {"position", CELLS[cell]}});
        }
        return moves;
    }

   private:
    static constexpr const char* ID = "00000000-0000-4000-8000-000000000000";

    static int at(const Json& answer) {
        const std::string name = answer.value("position", "");
        for (int cell = 0; cell < 9; ++cell) {
            if (CELLS[cell] == name) return cell;
        }
        return -1;
    }

    static Turn asking(Turn turn) {
        const auto& board = turn.position.board;
        turn.text = board.substr(0, 3) + "\n" + board.substr(3, 3) + "\n" + board.substr(6);
        turn.ask(turn.position.mover, "play", {{"id", ID}});
        return turn;
    }

    static Result won(int winner, const std::string& reason) {
        return winner == 0 ? Result{{1, 2}, {1, 0}, reason} : Result{{2, 1}, {0, 1}, reason};
    }

    static std::string winner(const Result& result) {
        return result.ranks == std::vector<int>{1, 1} ? "draw" : result.ranks[0] == 1 ? "O" : "X";
    }
};

}  // namespace

int main(int count, char** words) {
    if (count > 1) padding = std::atoi(words[1]);
    return run_rules<TicTacToe>();
}
