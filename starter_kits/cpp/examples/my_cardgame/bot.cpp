// Your card game bot: it plays random legal actions as it stands; make it win. The types are in <referee/cardgame.hpp>.

#include <random>
#include <referee/cardgame.hpp>

using namespace referee;
using namespace referee::cardgame;

class MyBot : public CardGameBot {
   public:
    using CardGameBot::CardGameBot;

    Action play(const GameState& state) override {
        const auto actions = legal(state);
        const auto action = actions[std::uniform_int_distribution<std::size_t>(0, actions.size() - 1)(luck_)];
        powerUsed_ = action.action == ActionType::HERO_POWER || (powerUsed_ && action.action != ActionType::END_TURN);
        return action;
    }

   private:
    // All that may be done now. Target 0 is the enemy hero, 1 the first enemy minion.
    std::vector<Action> legal(const GameState& state) const {
        const int own = state.player_target.size() - 1;  // without the hero
        const int enemies = state.opponent_target.size() - 1;
        std::vector<Action> actions{{ActionType::END_TURN}};
        if (state.player_mana >= HERO_POWER_COST && !powerUsed_) actions.push_back({ActionType::HERO_POWER});
        for (int index = 0; index < int(state.player_hand.size()); ++index) {
            const auto& card = state.player_hand[index];
            if (std::visit([](const auto& any) { return any.cost; }, card) > state.player_mana) continue;
            if (std::holds_alternative<Minion>(card)) {
                if (own < BOARD_SIZE) actions.push_back({ActionType::PLACE_MINION, {{index}}});
                continue;
            }
            const auto id = std::get<Spell>(card).id;
            if (id == CardId::ARCANE_SHOT || id == CardId::FIREBALL || id == CardId::KILL_COMMAND) {
                for (int target = 0; target <= enemies; ++target) {
                    actions.push_back({ActionType::PLAY_SPELL, {{index, target}}});
                }
            } else if (enemies > 0 && (id != CardId::HOUNDS || own < BOARD_SIZE)) {
                actions.push_back({ActionType::PLAY_SPELL, {{index}}});
            }
        }
        for (int source = 1; source <= own; ++source) {
            if (!std::get<Minion>(state.player_target[source]).can_attack) continue;
            for (int target = 0; target <= enemies; ++target) {
                actions.push_back({ActionType::ATTACK, {{source, target}}});
            }
        }
        return actions;
    }

    bool powerUsed_ = false;  // in this turn; the state does not tell
    std::mt19937_64 luck_{match.seed};
};

int main() { return run<MyBot>("My card game bot"); }
