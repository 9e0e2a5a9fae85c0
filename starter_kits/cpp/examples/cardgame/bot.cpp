// Kills the enemy hero when it can; else it does what gains most, counted in minions, while anything gains. Spends its
// mana before it attacks: auras and charge help at once.

#include <algorithm>
#include <referee/cardgame.hpp>

using namespace referee;
using namespace referee::cardgame;

namespace {

// Points: what one of a minion's attack or health, its existence, one of the enemy hero's health, and a card in the
// hand for each mana that it costs are worth.
constexpr int STRENGTH = 10, EXISTENCE = 5, HERO_HEALTH = 4, MANA = 7;
constexpr int CUB_WORTH = 4 * STRENGTH + EXISTENCE;
constexpr int HOUND_WORTH = 2 * STRENGTH + EXISTENCE;

int worth(const Minion& minion) { return STRENGTH * (minion.atk + minion.health) + EXISTENCE; }

// What its owner loses when it dies: of a Highmane two cubs are left.
int loss(const Minion& minion) { return worth(minion) - (minion.id == CardId::HIGHMANE ? 2 * CUB_WORTH : 0); }

// What its owner loses by so much damage.
int hurt(const Minion& minion, int damage) { return damage >= minion.health ? loss(minion) : STRENGTH * damage; }

// What its owner loses in a fight.
int struck(const Minion& minion, const Minion& by) { return by.poisonous ? loss(minion) : hurt(minion, by.atk); }

std::vector<Minion> minions(const std::vector<Target>& targets) {
    std::vector<Minion> found;
    for (const auto& target : targets) {
        if (const auto* minion = std::get_if<Minion>(&target)) found.push_back(*minion);
    }
    return found;
}

// What an action gains, in points, and the action.
struct Choice {
    int gain;
    Action action;
};

// What hurts the enemy hero for mana.
struct Burn {
    int cost, damage;
    Action action;
};

// What can be done now.
class Turn {
   public:
    Turn(const GameState& state, bool powerUsed)
        : mana_(state.player_mana),
          hasPower_(!powerUsed && state.player_mana >= HERO_POWER_COST),
          heroHealth_(state.opponent_health),
          hand_(state.player_hand),
          own_(minions(state.player_target)),
          enemies_(minions(state.opponent_target)) {}

    // The next step of a turn that kills for certain: what costs mana first, then all attacks.
    std::optional<Action> lethal() const {
        int missing = heroHealth_, attacker = 0;
        for (const auto& minion : own_) {
            if (!minion.can_attack) continue;
            missing -= minion.atk;
            if (attacker == 0) attacker = minion.zone_position;
        }
        if (missing <= 0) return Action{ActionType::ATTACK, {{attacker, 0}}};
        const auto burn = this->burn();
        for (unsigned chosen = 1; chosen < 1u << burn.size(); ++chosen) {  // a bit for each
            int cost = 0, damage = 0;
            Action first;
            for (std::size_t i = burn.size(); i-- > 0;) {
                if ((chosen >> i & 1) == 0) continue;
                cost += burn[i].cost;
                damage += burn[i].damage;
                first = burn[i].action;
            }
            if (cost <= mana_ && damage >= missing) return first;
        }
        return std::nullopt;
    }

    // What gains most, the first of several.
    Action best() const {
        for (const auto& choices : {purchases(), attacks()}) {
            Choice best{0, {ActionType::END_TURN}};
            for (const auto& choice : choices) {
                if (choice.gain > best.gain) best = choice;
            }
            if (best.gain > 0) return best.action;
        }
        return {ActionType::END_TURN};
    }

   private:
    std::vector<Burn> burn() const {
        std::vector<Burn> found;
        if (hasPower_) found.push_back({HERO_POWER_COST, HERO_POWER_DAMAGE, {ActionType::HERO_POWER}});
        for (int index = 0; index < int(hand_.size()); ++index) {
            const auto* spell = std::get_if<Spell>(&hand_[index]);
            if (!spell || !damage(*spell)) continue;
            found.push_back({spell->cost, damage(*spell), {ActionType::PLAY_SPELL, {{index, 0}}}});
        }
        return found;
    }

    // All that the mana buys.
    std::vector<Choice> purchases() const {
        std::vector<Choice> found;
        if (hasPower_) found.push_back({HERO_POWER_DAMAGE * HERO_HEALTH, {ActionType::HERO_POWER}});
        for (int index = 0; index < int(hand_.size()); ++index) {
            if (const auto* spell = std::get_if<Spell>(&hand_[index])) {
                if (spell->cost <= mana_) addSpell(found, index, *spell);
                continue;
            }
            const auto& minion = std::get<Minion>(hand_[index]);
            if (minion.cost > mana_ || room() == 0) continue;
            found.push_back({worth(minion) - MANA * minion.cost, {ActionType::PLACE_MINION, {{index}}}});
        }
        return found;
    }

    void addSpell(std::vector<Choice>& found, int index, const Spell& spell) const {
        const int price = MANA * spell.cost, enemies = enemies_.size();
        if (const int dealt = damage(spell)) {
            for (const auto& enemy : enemies_) {
                found.push_back({hurt(enemy, dealt) - price, {ActionType::PLAY_SPELL, {{index, enemy.zone_position}}}});
            }
        } else if (spell.id == CardId::DEADLY_SHOT && enemies > 0) {  // it kills any of them
            int all = 0;
            for (const auto& enemy : enemies_) all += loss(enemy);
            found.push_back({all / enemies - price, {ActionType::PLAY_SPELL, {{index}}}});
        } else if (spell.id == CardId::HOUNDS && enemies > 0 && room() > 0) {
            found.push_back({std::min(enemies, room()) * HOUND_WORTH - price, {ActionType::PLAY_SPELL, {{index}}}});
        }
    }

    std::vector<Choice> attacks() const {
        std::vector<Choice> found;
        for (const auto& minion : own_) {
            if (!minion.can_attack) continue;
            const int source = minion.zone_position;
            found.push_back({minion.atk * HERO_HEALTH, {ActionType::ATTACK, {{source, 0}}}});
            for (const auto& enemy : enemies_) {
                const int gain = struck(enemy, minion) - struck(minion, enemy);
                found.push_back({gain, {ActionType::ATTACK, {{source, enemy.zone_position}}}});
            }
        }
        return found;
    }

    // What the spell does to one target; 0 where it is another kind of spell.
    int damage(const Spell& spell) const {
        switch (spell.id) {
            case CardId::ARCANE_SHOT: return 2;
            case CardId::FIREBALL: return 6;
            case CardId::KILL_COMMAND: return own_.empty() ? 3 : 5;
            default: return 0;
        }
    }

    int room() const { return BOARD_SIZE - int(own_.size()); }

    int mana_;
    bool hasPower_;
    int heroHealth_;
    const std::vector<Card>& hand_;
    std::vector<Minion> own_, enemies_;
};

}  // namespace

class Trader : public CardGameBot {
   public:
    using CardGameBot::CardGameBot;

    Action play(const GameState& state) override {
        const Turn turn(state, powerUsed_);
        const auto kill = turn.lethal();
        const auto action = kill ? *kill : turn.best();
        powerUsed_ = action.action == ActionType::HERO_POWER || (powerUsed_ && action.action != ActionType::END_TURN);
        return action;
    }

   private:
    bool powerUsed_ = false;  // in this turn; the state does not tell
};

int main() { return run<Trader>("Trader (C++)"); }
