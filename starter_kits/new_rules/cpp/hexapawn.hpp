#pragma once

#include <algorithm>
#include <referee/rules.hpp>
#include <string>
#include <vector>

using namespace referee;
using namespace referee::rules;

// The whole position: schemas/position.json.
struct Position {
    std::vector<std::string> board;  // the rows from the top
    int turn;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Position, board, turn)

// A move: schemas/move.json.
struct Move {
    std::string pawn, to;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Move, pawn, to)

// The rules. They keep nothing between two requests.
class Hexapawn : public Rules<Position> {
   public:
    static constexpr const char* game = "@game@";

    Turn start(const Json& options, int /*seats*/, Luck& /*luck*/) const override {
        const std::size_t width = options.at("width");
        return asking({{std::string(width, 'x'), std::string(width, '.'), std::string(width, 'o')}, 0});
    }

    Turn step(const Position& position, const Answers& answers, Luck& /*luck*/) const override {
        const int seat = position.turn;
        const auto& [value, fault] = answers.at(seat);
        if (fault) return lost(position, seat, fault->kind).punish(seat);
        const Move move = value;
        const auto all = moves(position);
        if (std::none_of(all.begin(), all.end(),
                         [&](const Move& each) { return each.pawn == move.pawn && each.to == move.to; })) {
            return lost(position, seat, "illegal").refuse(seat, move.pawn + " to " + move.to + " is no move now");
        }
        Position after = position;
        at(after, move.pawn) = '.';
        at(after, move.to) = SIGNS[seat];
        after.turn = 1 - seat;
        return asking(after).notice("moved", {{"seat", seat}, {"pawn", move.pawn}, {"to", move.to}});
    }

    std::optional<std::vector<Json>> legal(const Position& position, int /*seat*/, std::size_t most) const override {
        const auto all = moves(position);
        return std::vector<Json>(all.begin(), all.begin() + std::min(most, all.size()));
    }

   private:
    static constexpr char SIGNS[] = "ox";
    static constexpr int ROWS = 3;

    // The turn of a position: the next call, or the result.
    static Turn asking(const Position& position) {
        Turn turn{position};
        turn.text = drawn(position);
        const int seat = position.turn;
        const std::string& home_row = position.board[seat == 0 ? ROWS - 1 : 0];
        if (home_row.find(SIGNS[1 - seat]) != std::string::npos) {
            turn.result = won(1 - seat, "far_row");
        } else if (moves(position).empty()) {
            turn.result = won(1 - seat, "no_move");
        } else {
            turn.ask(seat, "play", {{"board", position.board}, {"sign", std::string(1, SIGNS[seat])}});
        }
        return turn;
    }

    // The turn in which a seat loses by a fault.
    static Turn lost(const Position& position, int seat, const std::string& reason) {
        Turn turn{position};
        turn.text = drawn(position);
        turn.result = won(1 - seat, reason);
        return turn;
    }

    static Result won(int winner, const std::string& reason) {
        return winner == 0 ? Result{{1, 2}, {1, 0}, reason} : Result{{2, 1}, {0, 1}, reason};
    }

    // The moves of the player to move, pawn by pawn from the top left.
    static std::vector<Move> moves(const Position& position) {
        const auto& board = position.board;
        const int width = static_cast<int>(board[0].size());
        const char own = SIGNS[position.turn], rival = SIGNS[1 - position.turn];
        std::vector<Move> found;
        for (int row = 0; row < ROWS; ++row) {
            const int ahead = position.turn == 0 ? row - 1 : row + 1;
            if (ahead < 0 || ahead >= ROWS) continue;
            for (int column = 0; column < width; ++column) {
                if (board[row][column] != own) continue;
                for (int to = std::max(0, column - 1); to <= std::min(width - 1, column + 1); ++to) {
                    if (board[ahead][to] == (to == column ? '.' : rival)) {
                        found.push_back({square(column, row), square(to, ahead)});
                    }
                }
            }
        }
        return found;
    }

    // The name of a square. Row 0 is the top one.
    static std::string square(int column, int row) {
        return {static_cast<char>('a' + column), static_cast<char>('0' + ROWS - row)};
    }

    static char& at(Position& position, const std::string& square) {
        return position.board[ROWS - (square[1] - '0')][square[0] - 'a'];
    }

    static std::string drawn(const Position& position) {
        std::string lines;
        for (const auto& row : position.board) lines += (lines.empty() ? "" : "\n") + row;
        return lines;
    }
};
