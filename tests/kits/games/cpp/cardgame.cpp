// The card game (cardgame.md), as games/cardgame has it.

#include <algorithm>
#include <referee/rules.hpp>

using namespace referee;
using namespace referee::rules;

enum Action { HERO_POWER, PLACE_MINION, PLAY_SPELL, ATTACK, END_TURN };
enum Card {
    MOLE, COBRA, DEADLY_SHOT, ARCANE_SHOT, HATCHLING, RHINO, SNAPJAW, TIMBER_WOLF, RAPTOR,
    FIREBALL, ULTRASAUR, SCAVENGER, KILL_COMMAND, HOUNDS, HIGHMANE, ALPHA, HOUND, CUB
};
const std::size_t BOARD_SIZE = 7, HAND_SIZE = 10;
const int START_HEALTH = 30, MAX_MANA = 10, HERO_POWER_COST = 2, HERO_POWER_DAMAGE = 2;

struct Print {
    const char* label;
    int copies, cost, attack, health;  // health 0: a spell
};
const Print PRINTS[] = {
    {"Mole", 2, 1, 1, 3},       {"Cobra", 2, 3, 2, 3},        {"Deadly Shot", 2, 3, 0, 0},
    {"Arcane Shot", 1, 2, 0, 0}, {"Hatchling", 1, 1, 1, 1},    {"Rhino", 1, 5, 2, 5},
    {"Snapjaw", 2, 4, 2, 7},    {"Timber Wolf", 2, 1, 1, 1},  {"Raptor", 2, 2, 3, 2},
    {"Fireball", 1, 4, 0, 0},   {"Ultrasaur", 2, 10, 7, 14},  {"Scavenger", 1, 2, 2, 2},
    {"Kill Command", 1, 3, 0, 0}, {"Hounds", 1, 3, 0, 0},      {"Highmane", 2, 6, 6, 5},
    {"Alpha", 2, 2, 2, 2},      {"Hound", 0, 1, 1, 1},        {"Cub", 0, 2, 2, 2},
};

bool is_minion(int card) { return PRINTS[card].health > 0; }
bool is_aimed(int card) { return card == ARCANE_SHOT || card == FIREBALL || card == KILL_COMMAND; }

struct Placed {
    int id, damage = 0, growth = 0, turns_in_play = 0, attacks = 0;

    int max_health() const { return PRINTS[id].health + growth; }
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Placed, id, damage, growth, turns_in_play, attacks)

using Board = std::vector<Placed>;

struct Side {
    std::vector<int> deck, hand, burnt;
    Board board;
    int health = START_HEALTH, max_mana = 0, mana = 0;
    bool power_used = false;
    int fatigue = 0, timeouts = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Side, deck, hand, burnt, board, health, max_mana, mana, power_used, fatigue, timeouts)

struct Position {
    std::string phase;  // start, play, end, over
    int turn = 0, active = 0;
    std::vector<Side> sides;
    std::vector<int> out;
    std::vector<double> scores;  // of the result
    std::string reason;
    int timeouts_allowed = 3;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Position, phase, turn, active, sides, out, scores, reason, timeouts_allowed)

int attack_of(const Board& board, int index) {
    int attack = PRINTS[board[index].id].attack + 2 * board[index].growth;
    for (int place = 0; place < static_cast<int>(board.size()); ++place) {
        if (board[place].id == TIMBER_WOLF) attack += place != index;
        if (board[place].id == ALPHA) attack += std::abs(place - index) == 1;
    }
    return attack;
}

bool ready(const Board& board, int index) {
    const Placed& minion = board[index];
    if (minion.attacks) return false;
    return minion.turns_in_play > 0 || minion.id == HOUND ||
           std::any_of(board.begin(), board.end(), [](const Placed& other) { return other.id == RHINO; });
}

void destroy(Placed& minion) { minion.damage = minion.max_health(); }

void hit(Side& rival, int target, int damage) {
    if (target == 0) {
        rival.health = std::max(0, rival.health - damage);
    } else {
        rival.board[target - 1].damage += damage;
    }
}

void fight(Side& side, Side& rival, int index, int target) {
    Placed& attacker = side.board[index];
    const int attack = attack_of(side.board, index), defence = target ? attack_of(rival.board, target - 1) : 0;
    hit(rival, target, attack);
    attacker.damage += defence;
    ++attacker.attacks;
    if (!target) return;
    Placed& defender = rival.board[target - 1];
    if (attacker.id == COBRA) destroy(defender);
    if (defender.id == COBRA) destroy(attacker);
}

void summon(Side& side, int card, std::size_t count) {
    side.board.resize(side.board.size() + std::min(count, BOARD_SIZE - side.board.size()), Placed{card});
}

// Shown positions.

Json buff(int card, int attack, int health, bool charge) {
    return {{"id", card}, {"atk", attack}, {"health", health}, {"charge", charge}};
}

Json minion_shown(const Board& board, int index, bool own_turn) {
    const Placed& m = board[index];
    Json buffs = Json::array();
    for (int i = 0; i < m.growth; ++i) buffs.push_back(buff(SCAVENGER, 2, 1, false));
    for (int place = 0; place < static_cast<int>(board.size()); ++place) {
        const int card = board[place].id;
        if (card == TIMBER_WOLF && place != index) buffs.push_back(buff(card, 1, 0, false));
        if (card == ALPHA && std::abs(place - index) == 1) buffs.push_back(buff(card, 1, 0, false));
        if (card == RHINO) buffs.push_back(buff(card, 0, 0, true));
    }
    return {{"type", "minion"},
            {"id", m.id},
            {"atk", attack_of(board, index)},
            {"health", m.max_health() - m.damage},
            {"max_health", m.max_health()},
            {"damaged", m.damage > 0},
            {"cost", PRINTS[m.id].cost},
            {"poisonous", m.id == COBRA},
            {"buffs", buffs},
            {"turns_in_play", m.turns_in_play},
            {"zone_position", index + 1},
            {"cant_attack", false},
            {"powered_up", false},
            {"can_attack", own_turn && ready(board, index)}};
}

Json card_shown(int card, int index) {
    const Print& print = PRINTS[card];
    if (!is_minion(card)) return {{"type", "spell"}, {"id", card}, {"cost", print.cost}, {"zone_position", index + 1}};
    Json shown = minion_shown({Placed{card}}, 0, false);
    shown["atk"] = print.attack;
    shown["buffs"] = Json::array();
    shown["zone_position"] = index + 1;
    return shown;
}

Json targets(const Side& side, bool own_turn) {
    Json shown = {{{"type", "hero"},
                   {"id", "HERO_05"},
                   {"health", side.health},
                   {"damaged", side.health < START_HEALTH},
                   {"dead", side.health == 0},
                   {"zone_position", 0}}};
    for (std::size_t i = 0; i < side.board.size(); ++i) shown.push_back(minion_shown(side.board, i, own_turn));
    return shown;
}

bool plays(const Position& position, int seat) { return position.phase == "play" && position.active == seat; }

Json seen_by(const Position& position, int seat) {
    const Side &side = position.sides[seat], &rival = position.sides[1 - seat];
    Json hand = Json::array();
    for (std::size_t i = 0; i < side.hand.size(); ++i) hand.push_back(card_shown(side.hand[i], i));
    return {{"player_hand", hand},
            {"player_target", targets(side, plays(position, seat))},
            {"opponent_target", targets(rival, false)},
            {"hero_health", side.health},
            {"player_health", side.health},
            {"opponent_health", rival.health},
            {"player_mana", side.mana},
            {"opponent_mana", rival.mana},
            {"n_opponent_hand", rival.hand.size()}};
}

Json owned(const Position& position, int seat) {
    const Side& side = position.sides[seat];
    Json board = targets(side, plays(position, seat)), attacks = Json::array();
    board.erase(0);
    for (const auto& minion : side.board) attacks.push_back(minion.attacks);
    return {{"health", side.health},   {"mana", side.mana},       {"max_mana", side.max_mana},
            {"hand", side.hand},       {"deck", side.deck},       {"burnt", side.burnt},
            {"board", board},          {"attacks", attacks},      {"power_used", side.power_used},
            {"fatigue", side.fatigue}, {"timeouts", side.timeouts}};
}

std::string joined(const std::vector<std::string>& words) {
    std::string line;
    for (const auto& word : words) line += (line.empty() ? "" : ", ") + word;
    return line.empty() ? "-" : line;
}

std::string labels(const std::vector<int>& cards) {
    std::vector<std::string> names;
    for (int card : cards) names.push_back(PRINTS[card].label);
    return joined(names);
}

std::string drawn(const Position& position, std::optional<int> seat) {
    std::string text = "turn " + std::to_string(position.turn) + ", ";
    if (position.phase == "start") {
        text += "both to start";
    } else if (position.phase == "play") {
        text += "seat " + std::to_string(position.active) + " to play";
    } else {
        text += "over";
    }
    for (int player : {0, 1}) {
        const Side& side = position.sides[player];
        text += "\n" + std::to_string(player) + ": health " + std::to_string(side.health) + ", mana " +
                std::to_string(side.mana) + "/" + std::to_string(side.max_mana);
        if (side.power_used) text += ", power used";
        if (side.fatigue) text += ", fatigue " + std::to_string(side.fatigue);
        std::vector<std::string> minions;
        for (std::size_t i = 0; i < side.board.size(); ++i) {
            const Placed& m = side.board[i];
            const bool can = plays(position, player) && ready(side.board, i);
            minions.push_back(std::string(PRINTS[m.id].label) + " " + std::to_string(attack_of(side.board, i)) + "/" +
                              std::to_string(m.max_health() - m.damage) + (can ? "*" : ""));
        }
        const auto counted = [](const std::vector<int>& cards) { return std::to_string(cards.size()) + " cards"; };
        text += "\n  board " + joined(minions);
        text += "\n  hand  " + (seat && *seat != player ? counted(side.hand) : labels(side.hand));
        text += "\n  deck  " + (seat ? counted(side.deck) : labels(side.deck));
    }
    return text;
}

// Answers.

// What was sent, in one line.
std::string in_brief(const Json& value) {
    if (value.is_array()) return value.empty() ? "an empty list" : "a list of " + std::to_string(value.size());
    if (value.is_object()) return "an object";
    if (value.is_string()) return "'" + value.get<std::string>() + "'";
    return value.dump();
}

std::string wanted(std::size_t count, const std::string& place, int first = 0) {
    if (count == 0) return place + " is empty";
    return "wanted " + std::to_string(first) + ".." + std::to_string(first + static_cast<int>(count) - 1);
}

struct Refused {
    std::string detail;
};
struct Move {
    int action, first = 0, second = 0;
};

int index_of(const Json& value, const char* what) {
    if (!value.is_number_integer()) throw Refused{std::string("the ") + what + " is " + in_brief(value) + "; wanted an integer"};
    return static_cast<int>(std::clamp<std::int64_t>(value.get<std::int64_t>(), -1, 1000));
}

int target_of(const Json& value, std::size_t enemies) {
    const int target = index_of(value, "target index");
    if (target >= 0 && target <= static_cast<int>(enemies)) return target;
    throw Refused{"the target index is " + in_brief(value) + "; wanted 0.." + std::to_string(enemies) +
                  ", 0 is the enemy hero"};
}

Move card_move(const Side& side, const Side& rival, int action, const Json& arguments) {
    const Json first = !arguments.is_array() ? arguments : arguments.empty() ? Json() : arguments[0];
    const int index = index_of(first, "hand index");
    if (index < 0 || index >= static_cast<int>(side.hand.size())) {
        throw Refused{"the hand index is " + in_brief(first) + "; " + wanted(side.hand.size(), "your hand")};
    }
    const int card = side.hand[index];
    const std::string label = PRINTS[card].label, of = "card " + std::to_string(index) + " of your hand is " + label;
    if (action == PLACE_MINION && !is_minion(card)) throw Refused{of + ", a spell; action 1 places minions"};
    if (action == PLAY_SPELL && is_minion(card)) throw Refused{of + ", a minion; action 2 plays spells"};
    if (PRINTS[card].cost > side.mana) {
        throw Refused{label + " costs " + std::to_string(PRINTS[card].cost) + " mana; you have " +
                      std::to_string(side.mana)};
    }
    if ((action == PLACE_MINION || card == HOUNDS) && side.board.size() >= BOARD_SIZE) {
        throw Refused{"no room for " + label + ": your board is full"};
    }
    if (action == PLACE_MINION) return {action, index};
    if (!is_aimed(card)) {
        if (rival.board.empty()) throw Refused{label + " needs an enemy minion; there is none"};
        return {action, index};
    }
    if (!arguments.is_array() || arguments.size() < 2) {
        throw Refused{label + " needs a target index; wanted [hand index, target index]"};
    }
    return {action, index, target_of(arguments[1], rival.board.size())};
}

Move attack_move(const Side& side, const Side& rival, const Json& arguments) {
    if (!arguments.is_array() || arguments.size() < 2) {
        throw Refused{"the arguments are " + in_brief(arguments) + "; wanted [source index, target index]"};
    }
    const int source = index_of(arguments[0], "source index");
    if (source == 0) throw Refused{"source index 0 is your hero, who cannot attack"};
    if (source < 1 || source > static_cast<int>(side.board.size())) {
        throw Refused{"the source index is " + in_brief(arguments[0]) + "; " +
                      wanted(side.board.size(), "your board", 1)};
    }
    if (!ready(side.board, source - 1)) {
        const Placed& minion = side.board[source - 1];
        throw Refused{"your minion " + std::to_string(source) + ", " + PRINTS[minion.id].label + ", " +
                      (minion.attacks ? "has attacked in this turn" : "has to wait for your next turn")};
    }
    return {ATTACK, source, target_of(arguments[1], rival.board.size())};
}

Move read_move(const Position& position, int player, const Json& answer) {
    const Side &side = position.sides[player], &rival = position.sides[1 - player];
    if (!answer.is_array() || answer.empty()) {
        throw Refused{"the answer is " + in_brief(answer) + "; wanted [action, [arguments]]"};
    }
    const Json& action = answer[0];
    if (!action.is_number_integer() || action < 0 || action > 4) {
        throw Refused{"the action is " + in_brief(action) +
                      "; wanted 0 hero power, 1 place minion, 2 play spell, 3 attack or 4 end turn"};
    }
    const Json arguments = answer.size() > 1 ? answer[1] : Json();
    switch (action.get<int>()) {
        case END_TURN:
            return {END_TURN};
        case HERO_POWER:
            if (side.power_used) throw Refused{"the hero power was used in this turn"};
            if (side.mana < HERO_POWER_COST) {
                throw Refused{"the hero power costs 2 mana; you have " + std::to_string(side.mana)};
            }
            return {HERO_POWER};
        case ATTACK:
            return attack_move(side, rival, arguments);
        default:
            return card_move(side, rival, action, arguments);
    }
}

Result win(int winner, const std::string& reason) {
    return winner == 0 ? Result{{1, 2}, {1, 0}, reason} : Result{{2, 1}, {0, 1}, reason};
}

class CardGame : public Rules<Position> {
   public:
    static constexpr const char* game = "cardgame";

    Turn start(const Json& options, int /*seats*/, Luck& luck) const override {
        Turn turn;
        Position& position = turn.position;
        position.phase = "start";
        position.active = options.value("first", 0);
        position.timeouts_allowed = options.value("timeouts", 3);
        for (int hand : {3, 4}) {
            Side side;
            for (int card = MOLE; card <= CUB; ++card) side.deck.insert(side.deck.end(), PRINTS[card].copies, card);
            luck.shuffle(side.deck);
            side.hand.assign(side.deck.begin(), side.deck.begin() + hand);
            side.deck.erase(side.deck.begin(), side.deck.begin() + hand);
            position.sides.push_back(side);
        }
        if (position.active == 1) std::swap(position.sides[0], position.sides[1]);
        return asking(turn);
    }

    Turn step(const Position& position, const Answers& answers, Luck& luck) const override {
        Turn turn{position};
        if (position.phase == "start") {
            started(turn, answers);
        } else if (position.phase == "end") {
            turn.position.phase = "over";
            for (const auto& [seat, answer] : answers) {
                if (answer.fault) punish(turn, seat, *answer.fault, "none");
            }
        } else {
            const auto& [player, answer] = *answers.begin();
            if (answer.fault) {
                turn.punish(player, cost(turn, player, *answer.fault));
            } else {
                play(turn, player, answer.value, luck);
            }
        }
        return asking(turn);
    }

    View view(const Position& position, std::optional<int> seat) const override {
        if (seat) return {seen_by(position, *seat), drawn(position, seat)};
        return {{{"turn", position.turn},
                 {"active", position.active},
                 {"players", {owned(position, 0), owned(position, 1)}}}};
    }

    std::optional<std::vector<Json>> legal(const Position& position, int seat, std::size_t most) const override {
        if (position.phase != "play") return {{nullptr}};
        const Side &side = position.sides[seat], &rival = position.sides[1 - seat];
        const int targets = rival.board.size() + 1;
        const int cards = side.hand.size(), minions = side.board.size();
        const bool room = side.board.size() < BOARD_SIZE;
        std::vector<Json> found;
        const auto yield = [&](int action, Json arguments) { found.push_back({action, std::move(arguments)}); };
        if (side.mana >= HERO_POWER_COST && !side.power_used) yield(HERO_POWER, Json::array());
        for (int i = 0; room && i < cards; ++i) {
            const int card = side.hand[i];
            if (is_minion(card) && PRINTS[card].cost <= side.mana) yield(PLACE_MINION, Json::array({i}));
        }
        for (int i = 0; i < cards; ++i) {
            const int card = side.hand[i];
            if (is_minion(card) || PRINTS[card].cost > side.mana) continue;
            if (is_aimed(card)) {
                for (int target = 0; target < targets; ++target) yield(PLAY_SPELL, Json::array({i, target}));
            } else if (targets > 1 && (card != HOUNDS || room)) {
                yield(PLAY_SPELL, Json::array({i}));
            }
        }
        for (int i = 0; i < minions; ++i) {
            if (!ready(side.board, i)) continue;
            for (int target = 0; target < targets; ++target) yield(ATTACK, Json::array({i + 1, target}));
        }
        yield(END_TURN, Json::array());
        if (found.size() > most) found.resize(most);
        return found;
    }

    Turn forfeit(const Position& position, const Faults& faults, Luck&) const override {
        Turn turn{position};
        for (const auto& [seat, fault] : faults) {
            leave(turn, seat);
            turn.punish(seat);
        }
        finish(turn, walkover(turn, faults.begin()->second.kind));
        return asking(turn);
    }

    Turn stop(const Position& position, const std::string& reason) const override {
        Turn turn{position};
        finish(turn, {{1, 1}, {0.5, 0.5}, reason});
        return asking(turn);
    }

    Turn deal(const Position& position, std::optional<int> /*seat*/, Luck& luck) const override {
        Turn turn{position};
        for (int seat : {0, 1}) {
            Side& side = turn.position.sides[seat];
            const bool hand_too = plays(position, 1 - seat);
            std::vector<int> hidden = side.deck;
            hidden.insert(hidden.end(), side.burnt.begin(), side.burnt.end());
            if (hand_too) hidden.insert(hidden.end(), side.hand.begin(), side.hand.end());
            std::sort(hidden.begin(), hidden.end());
            luck.shuffle(hidden);
            auto next = hidden.begin();
            if (hand_too) next = deal_into(side.hand, next);
            next = deal_into(side.deck, next);
            side.burnt.assign(next, hidden.end());
        }
        return asking(turn);
    }

   private:
    using Cards = std::vector<int>::iterator;

    static Cards deal_into(std::vector<int>& place, Cards from) {
        std::copy_n(from, place.size(), place.begin());
        return from + place.size();
    }

    // Asks the awaited seats.
    static Turn& asking(Turn& turn) {
        const Position& position = turn.position;
        turn.text = drawn(position, {});
        turn.out.insert(position.out.begin(), position.out.end());
        if (const auto& scores = position.scores; !scores.empty()) {
            turn.result = Result{{1 + (scores[0] < scores[1]), 1 + (scores[1] < scores[0])}, scores, position.reason};
        }
        for (int seat : {0, 1}) {
            if (position.phase == "start") turn.ask(seat, "start");
            if (plays(position, seat)) turn.ask(seat, "play", {{"state", seen_by(position, seat)}});
            if (position.phase == "end" && !turn.out.count(seat)) {
                turn.ask(seat, "end", {{"victory", position.scores[seat] == 1}});
            }
        }
        return turn;
    }

    static void leave(Turn& turn, int seat) {
        turn.position.out.push_back(seat);
        std::sort(turn.position.out.begin(), turn.position.out.end());
    }

    static void punish(Turn& turn, int seat, const Fault& fault, const std::string& penalty) {
        if (fault.fatal()) leave(turn, seat);
        turn.punish(seat, penalty);
    }

    static void finish(Turn& turn, const Result& result) {
        turn.position.scores = result.scores;
        turn.position.reason = result.reason;
        turn.position.phase = turn.position.out.size() == 2 ? "over" : "end";
    }

    // The result when the seats in `out` have lost.
    static Result walkover(const Turn& turn, const std::string& reason) {
        const auto& out = turn.position.out;
        return out.size() == 2 ? Result{{1, 1}, {0.5, 0.5}, "no_winner"} : win(1 - out[0], reason);
    }

    static void started(Turn& turn, const Answers& answers) {
        std::vector<int> lost;
        std::string reason;
        for (const auto& [seat, answer] : answers) {
            if (!answer.fault) continue;
            punish(turn, seat, *answer.fault, "loses");
            if (lost.empty()) reason = answer.fault->kind;
            lost.push_back(seat);
        }
        if (lost.empty()) {
            turn.position.phase = "play";
            begin_turn(turn, turn.position.active);
        } else {
            finish(turn, lost.size() == 2 ? Result{{1, 1}, {0.5, 0.5}, "no_winner"} : win(1 - lost[0], reason));
        }
    }

    static void begin_turn(Turn& turn, int player) {
        Position& position = turn.position;
        ++position.turn;
        position.active = player;
        Side& side = position.sides[player];
        side.max_mana = side.mana = std::min(MAX_MANA, side.max_mana + 1);
        side.power_used = false;
        for (auto& each : position.sides) {
            for (auto& minion : each.board) {
                ++minion.turns_in_play;
                minion.attacks = 0;
            }
        }
        draw_card(side);
        if (side.health == 0) finish(turn, win(1 - player, "fatigue"));
    }

    static void draw_card(Side& side) {
        if (side.deck.empty()) {
            side.health = std::max(0, side.health - ++side.fatigue);
            return;
        }
        (side.hand.size() < HAND_SIZE ? side.hand : side.burnt).push_back(side.deck.front());
        side.deck.erase(side.deck.begin());
    }

    static void play(Turn& turn, int player, const Json& answer, Luck& luck) {
        Position& position = turn.position;
        Move move{END_TURN};
        try {
            move = read_move(position, player, answer);
        } catch (const Refused& refused) {
            turn.refuse(player, refused.detail, cost(turn, player, {"illegal", refused.detail}));
            return;
        }
        Side &side = position.sides[player], &rival = position.sides[1 - player];
        switch (move.action) {
            case END_TURN:
                begin_turn(turn, 1 - player);
                return;
            case PLACE_MINION:
                take(side, move.first);
                return;
            case HERO_POWER:
                side.mana -= HERO_POWER_COST;
                side.power_used = true;
                hit(rival, 0, HERO_POWER_DAMAGE);
                break;
            case PLAY_SPELL:
                cast(side, rival, move.first, move.second, luck);
                break;
            default:
                fight(side, rival, move.first - 1, move.second);
        }
        bury(turn, player);
    }

    static int take(Side& side, int index) {
        const int card = side.hand[index];
        side.mana -= PRINTS[card].cost;
        side.hand.erase(side.hand.begin() + index);
        if (is_minion(card)) side.board.push_back({card});
        return card;
    }

    static void cast(Side& side, Side& rival, int index, int target, Luck& luck) {
        const int card = take(side, index);
        if (card == DEADLY_SHOT) destroy(rival.board[luck.below(rival.board.size())]);
        if (card == HOUNDS) summon(side, HOUND, rival.board.size());
        if (card == ARCANE_SHOT) hit(rival, target, 2);
        if (card == FIREBALL) hit(rival, target, 6);
        if (card == KILL_COMMAND) hit(rival, target, side.board.empty() ? 3 : 5);
    }

    static void bury(Turn& turn, int player) {
        std::vector<int> dead[2];
        for (int seat : {0, 1}) {
            Board left;
            for (const auto& m : turn.position.sides[seat].board) {
                if (m.damage >= m.max_health()) {
                    dead[seat].push_back(m.id);
                } else {
                    left.push_back(m);
                }
            }
            turn.position.sides[seat].board = left;
        }
        if (turn.position.sides[1 - player].health == 0) return finish(turn, win(player, "hero_dead"));
        for (int seat : {0, 1}) {
            Side& side = turn.position.sides[seat];
            for (int card : dead[seat]) {
                for (auto& m : side.board) m.growth += m.id == SCAVENGER;
                if (card == HIGHMANE) summon(side, CUB, 2);
            }
        }
    }

    // What a fault in `play` costs.
    static std::string cost(Turn& turn, int player, const Fault& fault) {
        Position& position = turn.position;
        Side& side = position.sides[player];
        std::string penalty = "turn ends";
        if (fault.kind == "timeout") {
            penalty += ", time-out " + std::to_string(++side.timeouts) + " of " +
                       std::to_string(position.timeouts_allowed);
        }
        if (fault.fatal() || side.timeouts >= position.timeouts_allowed) {
            if (fault.fatal()) leave(turn, player);
            finish(turn, win(1 - player, fault.kind));
            return "loses";
        }
        begin_turn(turn, 1 - player);
        return penalty;
    }
};

int main() { return run_rules<CardGame>(); }
