// A bot that takes if it can, and else moves its first pawn that is free to move.

#include <referee/json.hpp>

using referee::Json;

class First : public referee::Bot {
   public:
    using Bot::Bot;

    static constexpr const char* game = "@game@";

    Json answer(const std::string& method, const Json& params) override {
        if (method != "play") return Bot::answer(method, params);
        const std::vector<std::string> board = params.at("board");
        const char own = params.at("sign").get<std::string>()[0];
        Json forward = nullptr;
        for (int row = 0; row < 3; ++row) {
            const int ahead = own == 'o' ? row - 1 : row + 1;
            if (ahead < 0 || ahead > 2) continue;
            const int width = static_cast<int>(board[row].size());
            for (int column = 0; column < width; ++column) {
                if (board[row][column] != own) continue;
                for (int to : {column - 1, column + 1}) {
                    if (to >= 0 && to < width && board[ahead][to] != own && board[ahead][to] != '.') {
                        return {{"pawn", square(column, row)}, {"to", square(to, ahead)}};
                    }
                }
                if (board[ahead][column] == '.' && forward.is_null()) {
                    forward = {{"pawn", square(column, row)}, {"to", square(column, ahead)}};
                }
            }
        }
        return forward;
    }

   private:
    static std::string square(int column, int row) {
        return {static_cast<char>('a' + column), static_cast<char>('3' - row)};
    }
};

int main() { return referee::run<First>("First"); }
