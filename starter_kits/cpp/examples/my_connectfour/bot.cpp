// Your Connect Four bot: it plays random legal moves as it stands; make it win. The types are in
// <referee/connectfour.hpp>.

#include <algorithm>
#include <random>
#include <referee/connectfour.hpp>

using namespace referee;
using namespace referee::connectfour;

class MyBot : public ConnectFourBot {
   public:
    using ConnectFourBot::ConnectFourBot;

    Action play(const std::string& /*id*/) override {
        // After an invalid move of the rival the one right answer is {ActionType::FLIP}: it wins.
        std::vector<Column> open;
        for (std::size_t column = 0; column < COLUMNS.size(); ++column) {
            if (filled_[column] < ROWS) open.push_back(COLUMNS[column]);
        }
        return {ActionType::PUT_TOKEN, open[std::uniform_int_distribution<std::size_t>(0, open.size() - 1)(luck_)]};
    }

    // Every answer is shown here, the rival's and your own, as it was sent.
    void event(const ArenaEvent& event) override {
        const auto column = event.column.as<Column>();
        if (event.action.as<ActionType>() == ActionType::PUT_TOKEN && column) ++filled_[static_cast<int>(*column)];
    }

   private:
    std::array<int, COLUMNS.size()> filled_{};
    std::mt19937_64 luck_{match.seed};
};

int main() { return run<MyBot>("My Connect Four bot"); }
