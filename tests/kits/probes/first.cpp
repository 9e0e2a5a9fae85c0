#include <referee/count_down.hpp>

using namespace referee;
using namespace referee::count_down;

class First : public LiarsCountdownBot {
   public:
    using LiarsCountdownBot::LiarsCountdownBot;

    int take(int left) override { return left % 4 ? left % 4 : 1; }

    Plan plan(const std::vector<Item>&, bool, const std::string&, const std::vector<std::vector<std::optional<Item>>>&,
              Level, const std::optional<Item>&) override {
        return {};
    }

    Anything say(const Anything& what) override { return what; }
};

int main() { return run<First>("first"); }
