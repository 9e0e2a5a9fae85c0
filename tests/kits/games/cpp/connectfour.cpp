// Connect Four (connectfour.md), as games/connectfour.py has it.

#include "arena.hpp"

using namespace arena;

const std::string NAMES = "ABCDEFG";

class ConnectFour : public Battle {
   public:
    static constexpr const char* game = "connectfour";

    ConnectFour() {
        sides = {"🔴", "🟡"};
        wins = {"RED_WIN", "YELLOW_WIN"};
        signs = "RY";
    }

   protected:
    Position begin(const Json& options) const override {
        Position position;
        position.columns = options.value("columns", 7);
        position.rows = options.value("rows", 6);
        position.inarow = options.value("inarow", 4);
        if (position.inarow > std::max(position.columns, position.rows)) {
            throw InvalidOptions("inarow=" + std::to_string(position.inarow) + " does not fit on " +
                                 std::to_string(position.columns) + " columns and " + std::to_string(position.rows) +
                                 " rows: nobody could win");
        }
        position.board = std::string(position.columns * position.rows, '.');
        return position;
    }

    std::optional<std::string> malformed(const Position& position, const Json& answer) const override {
        if (!is(answer, "action", "putToken")) return UNKNOWN_ACTION;
        if (!column(position, answer)) return as_printed(answer, "column") + " is not a valid column";
        return std::nullopt;
    }

    std::optional<std::string> forbidden(const Position& position, const Json& answer) const override {
        const int of = *column(position, answer);
        if (position.board[of] == '.') return std::nullopt;
        return std::string("Column ") + NAMES[of] + " is full";
    }

    std::optional<Result> play(Position& position, int player, const Json& move) const override {
        const int x = *column(position, move);
        int y = position.rows - 1;
        while (position.board[y * position.columns + x] != '.') --y;
        position.board[y * position.columns + x] = signs[player];
        for (const auto& [dx, dy] : {std::pair{1, 0}, {0, 1}, {1, 1}, {1, -1}}) {
            const int length = 1 + run(position, x, y, dx, dy) + run(position, x, y, -dx, -dy);
            if (length >= position.inarow) {
                return win(player, position.inarow == 4 ? wins[player] : "LINE: " + std::to_string(position.inarow));
            }
        }
        return position.board.find('.') == std::string::npos ? std::optional(draw()) : std::nullopt;
    }

    std::vector<Json> moves(const Position& position) const override {
        std::vector<Json> found;
        for (int of = 0; of < position.columns; ++of) {
            if (position.board[of] == '.') found.push_back({{"action", "putToken"}, {"column", NAMES.substr(of, 1)}});
        }
        return found;
    }

    std::string drawn(const Position& position) const override {
        std::string lines;
        for (int row = 0; row < position.rows; ++row) {
            lines += position.board.substr(row * position.columns, position.columns) + "\n";
        }
        return lines + NAMES.substr(0, position.columns);
    }

   private:
    static std::optional<int> column(const Position& position, const Json& answer) {
        for (int of = 0; of < position.columns; ++of) {
            if (is(answer, "column", NAMES.substr(of, 1))) return of;
        }
        return std::nullopt;
    }

    // How many tokens of the same side follow one in a direction.
    static int run(const Position& position, int x, int y, int dx, int dy) {
        const char own = position.board[y * position.columns + x];
        int length = 0;
        for (x += dx, y += dy; x >= 0 && x < position.columns && y >= 0 && y < position.rows; x += dx, y += dy) {
            if (position.board[y * position.columns + x] != own) break;
            ++length;
        }
        return length;
    }
};

int main() { return run_rules<ConnectFour>(); }
