// The rules of a game as a program, for `referee --game ./folder` (protocol/SPEC.md, part two).
//
// Rules are pure functions. The referee sends a position, the answers and the luck; the rules return the next position
// and what follows from it. They keep nothing in between, and read no clock, file or random numbers.
//
// A game derives from `Rules<Position>` and returns `run_rules<MyGame>()` from main. A `Position` is a type that
// nlohmann's library converts, such as a struct with NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE, or a `Json`. `random_game` is
// for its tests.

#pragma once

#include <algorithm>
#include <map>
#include <referee/json.hpp>
#include <set>
#include <type_traits>

namespace referee::rules {

// The luck of one step: the same luck gives the same draws. A game without luck ignores it. SplitMix64, as in the other
// kits and in the referee's own games.
class Luck {
   public:
    explicit Luck(std::uint64_t of) : seed(of), state_(of) {}

    const std::uint64_t seed;

    // Draws 64 random bits.
    std::uint64_t bits() {
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }

    // Draws a whole number 0 … n-1.
    std::uint64_t below(std::uint64_t n) {
        if (n == 0) throw std::invalid_argument("nothing to draw from");
        const std::uint64_t spare = -n % n;  // 2^64 % n: the last numbers would favour small results
        for (;;) {
            const std::uint64_t value = bits();
            if (value <= ~spare) return value % n;
        }
    }

    // Draws one of the items.
    template <class Items>
    const typename Items::value_type& choice(const Items& items) {
        return items.at(below(items.size()));
    }

    // Shuffles the items in place.
    template <class Items>
    void shuffle(Items& items) {
        for (std::size_t i = items.size(); i-- > 1;) std::swap(items[i], items[below(i + 1)]);
    }

   private:
    std::uint64_t state_;
};

// Thrown by `start` for options that make no match. The user sees the message.
struct InvalidOptions : Refusal {
    explicit InvalidOptions(const std::string& message) : Refusal(-32602, message) {}
};

// Thrown for the number of a position that is not kept any more. The referee then sends the position.
struct UnknownPosition : Refusal {
    UnknownPosition() : Refusal(UNKNOWN_POSITION, "unknown position") {}
};

// Why a bot gave no answer, or none of the right type.
struct Fault {
    std::string kind;  // timeout, crash, illegal, …: SPEC.md, 17
    std::string detail;  // a line for the bot's author
    Json answer = nullptr;  // what the bot sent, if the kind is illegal

    // Whether the bot's process has ended: the seat is out, and no turn may await it.
    bool fatal() const { return kind != "timeout" && kind != "error" && kind != "illegal"; }
};

// The answer of a seat: a value, or the fault that stands for it.
struct Answer {
    Json value;
    std::optional<Fault> fault = {};
};

using Answers = std::map<int, Answer>;  // by seat
using Faults = std::map<int, Fault>;

// How the match ended, in the order of the seats.
struct Result {
    std::vector<int> ranks;  // 1 = best; ties share a rank
    std::vector<double> scores;  // 1, 0.5 and 0 for win, draw and loss, or points
    std::string reason;  // in a few words
};

// What a seat may see, and perhaps the position drawn for it.
struct View {
    Json view;  // an object
    std::string text = {};
};

// A position and what follows from it. The functions add to it.
template <class Position>
struct Turn {
    Position position;
    std::optional<Result> result = {};
    std::set<int> out = {};  // the seats that are never called again
    std::string text = {};  // the position, drawn for people
    std::vector<double> scores = {};  // how well each seat stands, for people only
    Json marks = Json::object();  // what a painter draws besides the view
    bool opening = false;  // the calls have the time limit of the opening
    std::vector<std::string> warnings = {};  // after `start`: options that are not played exactly as given
    std::map<int, Json> calls = {};  // by seat; none = the match is over
    Json notices = Json::array(), rulings = Json::array();

    // Asks a seat for an answer. `params`: what this seat may see.
    Turn& ask(int seat, const std::string& method, Json params = Json::object()) {
        calls[seat] = {{"method", method}, {"params", std::move(params)}};
        return *this;
    }

    // Tells every seat something, or those in `to`. An empty `to`: the replay and its viewers.
    Turn& notice(const std::string& method, Json params) {
        notices.push_back({{"method", method}, {"params", std::move(params)}});
        return *this;
    }
    Turn& notice(const std::string& method, Json params, const std::vector<int>& to) {
        notice(method, std::move(params)).notices.back()["to"] = to;
        return *this;
    }

    // Refuses an answer. `detail`: a line with what came and what was expected; `penalty`: what it costs.
    Turn& refuse(int seat, const std::string& detail, const std::string& penalty = "loses") {
        return rule({{"seat", seat}, {"kind", "illegal"}, {"detail", detail}, {"penalty", penalty}});
    }

    // Says what a given fault costs. Every fault needs this.
    Turn& punish(int seat, const std::string& penalty = "loses") {
        return rule({{"seat", seat}, {"penalty", penalty}});
    }

    // The turn as it is sent. Members that say nothing are left out.
    Json to_json() const& { return Turn(*this).to_json(); }

    // The same. Only the position is left of this turn.
    Json to_json() && {
        Json json = {{"position", position}, {"calls", Json::object()}};
        for (auto& [seat, call] : calls) json["calls"][std::to_string(seat)] = std::move(call);
        if (!notices.empty()) json["notices"] = std::move(notices);
        if (!rulings.empty()) json["rulings"] = std::move(rulings);
        if (result) {
            json["result"] = {{"ranks", result->ranks}, {"scores", result->scores}, {"reason", result->reason}};
        }
        if (!out.empty()) json["out"] = out;
        if (!text.empty()) json["text"] = std::move(text);
        if (!scores.empty()) json["scores"] = scores;
        if (!marks.empty()) json["marks"] = std::move(marks);
        if (opening) json["opening"] = true;
        if (!warnings.empty()) json["warnings"] = warnings;
        if (is_canonical(json["position"])) json["canonical"] = true;
        return json;
    }

   private:
    // Whether this kit writes a value in the canonical form: fractions may be written in another way.
    static bool is_canonical(const Json& value) {
        return !value.is_number_float() &&
               (!value.is_structured() || std::all_of(value.begin(), value.end(), is_canonical));
    }

    Turn& rule(Json ruling) {
        if (!notices.empty()) ruling["after"] = notices.size();
        rulings.push_back(std::move(ruling));
        return *this;
    }
};

// The rules of a game. The kit tells the referee which of the optional functions a game overrides. A game has to have
// `static constexpr const char* game`, its name in game.toml.
template <class Position>
class Rules {
   public:
    using Turn = rules::Turn<Position>;

    virtual ~Rules() = default;

    // Returns the first position. Throws InvalidOptions if the options make no match.
    virtual Turn start(const Json& options, int seats, Luck& luck) const = 0;

    // Returns the next position after one answer for each seat that was called.
    virtual Turn step(const Position& position, const Answers& answers, Luck& luck) const = 0;

    // The rest is optional.

    // Returns what a seat may see; no seat: everything. Without it, nothing is hidden.
    virtual View view(const Position&, std::optional<int> /*seat*/) const { throw UnknownMethod("view"); }

    // Returns the legal answers of an awaited seat in a fixed order, at most `most`. Empty: too many to list.
    virtual std::optional<std::vector<Json>> legal(const Position&, int /*seat*/, std::size_t /*most*/) const {
        return std::nullopt;
    }

    // Draws a legal answer. Needed where `legal` is empty.
    virtual Json sample(const Position&, int /*seat*/, Luck&) const { throw UnknownMethod("sample"); }

    // Takes seats out that cannot play on. Without it, each loses, and the others share the win.
    virtual Turn forfeit(const Position&, const Faults&, Luck&) const { throw UnknownMethod("forfeit"); }

    // Ends the match from outside. Without it: a draw.
    virtual Turn stop(const Position&, const std::string& /*reason*/) const { throw UnknownMethod("stop"); }

    // Draws again what is hidden from the awaited seats. Without it, a person cannot take back an answer.
    virtual Turn deal(const Position&, std::optional<int> /*seat*/, Luck&) const { throw UnknownMethod("deal"); }

    // Plays what a seat did out of turn. Without it, nobody can act out of turn.
    virtual Turn inject(const Position&, int /*seat*/, const std::vector<Json>& /*answers*/,
                        const std::string& /*reason*/, Luck&) const {
        throw UnknownMethod("inject");
    }
};

// Answers the requests of the referee. Keeps the last positions under numbers, so that the referee need not send them
// again. No function can change one, so the answers are the same.
template <class Position>
class Answering {
   public:
    explicit Answering(const Rules<Position>& rules) : rules_(rules) {}

    Json answer(const std::string& method, const Json& params) {
        Luck luck(std::stoull(params.value("luck", "0"), nullptr, 16));
        if (method == "start") return kept(rules_.start(params.at("options"), params.at("seats"), luck));
        const auto named = [&](const char* name) -> const Json& { return params.at(name); };
        std::optional<Position> sent;
        const auto position = [&]() -> const Position& {
            return params.contains("at") ? known(named("at")) : sent.emplace(named("position").template get<Position>());
        };
        if (method == "step") return kept(rules_.step(position(), answers(params), luck));
        if (method == "view") {
            const auto [view, text] = rules_.view(position(), named("seat").template get<std::optional<int>>());
            return text.empty() ? Json{{"view", view}} : Json{{"view", view}, {"text", text}};
        }
        if (method == "legal") return rules_.legal(position(), named("seat"), named("most"));
        if (method == "sample") return rules_.sample(position(), named("seat"), luck);
        if (method == "forfeit") return kept(rules_.forfeit(position(), faults(params), luck));
        if (method == "stop") return kept(rules_.stop(position(), named("reason")));
        if (method == "deal") {
            const bool for_one = params.contains("seat") && params["seat"].is_number_integer();
            return kept(rules_.deal(position(), for_one ? std::optional<int>(params["seat"]) : std::nullopt, luck));
        }
        if (method == "inject") {
            return kept(rules_.inject(position(), named("seat"), named("answers"), named("reason"), luck));
        }
        throw UnknownMethod(method);
    }

   private:
    static constexpr std::size_t KEPT = 32;

    struct Numbered {
        std::uint64_t number;
        Position position;
    };

    Json kept(Turn<Position> turn) {
        const std::uint64_t number = next_++;
        Json json = std::move(turn).to_json();
#ifndef __wasi__  // there, whatever is thrown ends the program, an unknown position too
        json["at"] = number;
#endif
        Numbered last{number, std::move(turn.position)};
        if (positions_.size() < KEPT) {
            positions_.push_back(std::move(last));
        } else {
            positions_[number % KEPT] = std::move(last);
        }
        return json;
    }

    const Position& known(std::uint64_t number) const {
        const std::size_t place = number % KEPT;
        if (place >= positions_.size() || positions_[place].number != number) {
            throw UnknownPosition();
        }
        return positions_[place].position;
    }

    static Faults faults(const Json& params) {
        Faults faults;
        for (const auto& [seat, fault] : params.at("faults").items()) {
            faults[std::stoi(seat)] = {fault.at("kind"), fault.at("detail"), fault.value("answer", Json())};
        }
        return faults;
    }

    static Answers answers(const Json& params) {
        Answers answers;
        for (const auto& [seat, value] : params.at("answers").items()) answers[std::stoi(seat)].value = value;
        for (auto& [seat, fault] : faults(params)) answers[seat].fault = std::move(fault);
        return answers;
    }

    const Rules<Position>& rules_;
    std::vector<Numbered> positions_;  // number n is at n % KEPT
    std::uint64_t next_ = 0;
};

// Serves the rules until the referee ends the program. The exit status of the program.
int serve(const std::string& game, const std::vector<std::string>& requests,
          const std::function<Json(const std::string& method, const Json& params)>& answer);

template <class MyRules, class Position>
int run_rules(const Rules<Position>& rules) {
    std::vector<std::string> requests;
    const auto defined = [&](const char* name, bool overridden) {
        if (overridden) requests.push_back(name);
    };
    using Base = Rules<Position>;
    defined("view", !std::is_same_v<decltype(&MyRules::view), decltype(&Base::view)>);
    defined("legal", !std::is_same_v<decltype(&MyRules::legal), decltype(&Base::legal)>);
    defined("sample", !std::is_same_v<decltype(&MyRules::sample), decltype(&Base::sample)>);
    defined("forfeit", !std::is_same_v<decltype(&MyRules::forfeit), decltype(&Base::forfeit)>);
    defined("stop", !std::is_same_v<decltype(&MyRules::stop), decltype(&Base::stop)>);
    defined("deal", !std::is_same_v<decltype(&MyRules::deal), decltype(&Base::deal)>);
    defined("inject", !std::is_same_v<decltype(&MyRules::inject), decltype(&Base::inject)>);
    Answering<Position> answering(rules);
    return serve(MyRules::game, requests,
                 [&](const std::string& method, const Json& params) { return answering.answer(method, params); });
}

// The same: `int main() { return run_rules<MyRules>(); }`.
template <class MyRules>
int run_rules() {
    return run_rules<MyRules>(MyRules());
}

// For a game's tests: plays random legal answers to the end, and returns all turns.
//
// Throws a std::logic_error for what `referee check` would find too: a legal answer that is ruled, a step that does not
// follow from what it is given, a result that does not rank all seats, a match without end.
template <class Position>
std::vector<Turn<Position>> random_game(const Rules<Position>& rules, const Json& options = Json::object(),
                                        int seats = 2, std::uint64_t seed = 1, std::size_t most = 10'000) {
    const auto hold = [](bool holds, const std::string& rule) {
        if (!holds) throw std::logic_error(rule);
    };
    const auto asked_twice = [&](const auto& ask, std::uint64_t bits) {
        Luck luck(bits), again(bits);
        Turn<Position> turn = ask(luck);
        const Json sent = turn.to_json();
        hold(sent == ask(again).to_json(), "the same question has another answer than " + sent.dump());
        turn.position = Json::parse(sent.at("position").dump()).template get<Position>();  // as the referee keeps it
        return turn;
    };
    Luck luck(seed);
    std::vector<Turn<Position>> turns;
    turns.push_back(asked_twice([&](Luck& given) { return rules.start(options, seats, given); }, luck.bits()));
    while (!turns.back().calls.empty()) {
        hold(turns.size() <= most, "no end after " + std::to_string(most) + " steps");
        const Position& position = turns.back().position;
        Answers answers;
        for (const auto& [seat, call] : turns.back().calls) {
            const auto legal = rules.legal(position, seat, 1000);
            answers[seat].value = legal ? luck.choice(*legal) : rules.sample(position, seat, luck);
        }
        auto turn = asked_twice([&](Luck& given) { return rules.step(position, answers, given); }, luck.bits());
        hold(turn.rulings.empty(), "a legal answer is ruled: " + turn.to_json().dump());
        turns.push_back(std::move(turn));
    }
    const auto& result = turns.back().result;
    hold(result.has_value(), "the match is over without a result");
    const auto count = static_cast<std::size_t>(seats);
    hold(result->ranks.size() == count && result->scores.size() == count, "the result does not rank all seats");
    return turns;
}

}  // namespace referee::rules
