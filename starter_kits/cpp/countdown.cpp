// The rules program that tests the kit: the game `countdown` of protocol/vectors/README.md.

#include <algorithm>
#include <referee/rules.hpp>

using namespace referee;
using namespace referee::rules;

struct Position {
    int left, mover;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Position, left, mover)

class Countdown : public Rules<Position> {
   public:
    static constexpr const char* game = "countdown";

    Turn start(const Json& options, int /*seats*/, Luck& luck) const override {
        int left = options.at("from");
        if (left < 0 || left > 1000) {
            throw InvalidOptions("from is " + std::to_string(left) + "; expected 0 to 1000");
        }
        if (left == 0) left = 10 + static_cast<int>(luck.seed % 10);
        return asking({left, 0}).notice("began", {{"left", left}});
    }

    Turn step(const Position& position, const Answers& answers, Luck& /*luck*/) const override {
        const auto [left, mover] = position;
        const auto& [value, fault] = answers.at(mover);
        Turn lost{position};
        lost.text = std::to_string(left) + " left";
        if (fault) {
            lost.result = won(1 - mover, fault->kind);
            return lost.punish(mover);
        }
        const int count = value, most = std::min(3, left);
        if (count < 1 || count > most) {
            lost.result = won(1 - mover, "illegal");
            return lost.refuse(mover, "cannot take " + std::to_string(count) + " of " + std::to_string(left) +
                                          "; expected 1 to " + std::to_string(most));
        }
        return asking({left - count, 1 - mover}).notice("taken", {{"seat", mover}, {"count", count}});
    }

    std::optional<std::vector<Json>> legal(const Position& position, int /*seat*/, std::size_t most) const override {
        std::vector<Json> counts;
        for (int count = 1; count <= std::min(3, position.left) && counts.size() < most; ++count) {
            counts.push_back(count);
        }
        return counts;
    }

   private:
    static Turn asking(const Position& position) {
        const auto [left, mover] = position;
        Turn turn{position};
        turn.text = std::to_string(left) + " left";
        if (left == 0) {
            turn.result = won(1 - mover, "last");
            return turn;
        }
        turn.text += ", seat " + std::to_string(mover) + " to take";
        return turn.ask(mover, "take", {{"left", left}});
    }

    static Result won(int winner, const std::string& reason) {
        return winner == 0 ? Result{{1, 2}, {1, 0}, reason} : Result{{2, 1}, {0, 1}, reason};
    }
};

int main() { return run_rules<Countdown>(); }
