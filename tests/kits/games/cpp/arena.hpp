// What the Arena's games share: the flipped table (tictactoe.md, A4-B1), as games/arena.py has it.

#pragma once

#include <algorithm>
#include <cstdio>
#include <referee/rules.hpp>

namespace arena {

using namespace referee;
using namespace referee::rules;

inline const std::string FLIP = "(╯°□°)╯︵ ┻━┻";
inline const std::string UNKNOWN_ACTION = "unknown action type";
inline const std::string OUT_OF_TIME = "You ran out of time";

struct Position {
    std::string board;
    std::optional<int> to_move, pending;
    std::string reason;  // why the pending move was invalid
    std::string id;
    bool auto_flip = false;
    int columns = 0, rows = 0, inarow = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Position, board, to_move, pending, reason, id, auto_flip, columns, rows, inarow)

// The first characters of a text in UTF-8.
inline std::string first_characters(const std::string& text, std::size_t count) {
    std::size_t end = 0;
    for (; end < text.size(); ++end) {
        if ((text[end] & 0xc0) != 0x80 && count-- == 0) break;
    }
    return text.substr(0, end);
}

// A member as the original's messages print it.
inline std::string as_printed(const Json& answer, const char* name) {
    const auto member = answer.find(name);
    if (member == answer.end()) return "undefined";
    return first_characters(member->is_string() ? member->get<std::string>() : member->dump(), 100);
}

inline bool is(const Json& answer, const char* name, const std::string& text) {
    const auto member = answer.find(name);
    return member != answer.end() && member->is_string() && member->get_ref<const std::string&>() == text;
}

inline Result win(int winner, const std::string& reason) {
    return winner == 0 ? Result{{1, 2}, {1, 0}, reason} : Result{{2, 1}, {0, 1}, reason};
}

class Battle : public Rules<Position> {
   public:
    Turn start(const Json& options, int /*seats*/, Luck& luck) const override {
        Turn turn{begin(options)};
        Position& position = turn.position;
        position.to_move = 0;
        position.id = uuid(luck);
        position.auto_flip = options.value("flip", "manual") == "auto";
        for (int seat : {0, 1}) {
            turn.notice("event", {{"youAre", sides[seat]}, {"id", position.id}}, {seat});
        }
        return shown(turn);
    }

    Turn step(const Position& position, const Answers& answers, Luck& /*luck*/) const override {
        Turn turn{position};
        const auto& [player, answer] = *answers.begin();
        if (answer.fault && answer.fault->answer.is_object()) {
            refuse(turn, player, answer.fault->answer, answer.fault->detail, true);
        } else if (answer.fault) {
            lose(turn, player, *answer.fault, true);
        } else if (const auto detail = refusal(position, answer.value)) {
            if (answer.value.is_object()) {
                refuse(turn, player, answer.value, *detail, false);
            } else {
                lose(turn, player, {"illegal", *detail}, false);
            }
        } else if (position.pending) {
            flip(turn, player, position.reason, answer.value);
        } else {
            show(turn, player, answer.value);
            turn.position.to_move = 1 - player;
            if (const auto result = play(turn.position, player, answer.value)) finish(turn, *result);
        }
        return shown(turn);
    }

    View view(const Position& position, std::optional<int> seat) const override {
        const auto side = [&](std::optional<int> of) { return of ? Json(sides[*of]) : Json(nullptr); };
        Json view = {
            {"board", position.board}, {"to_move", side(position.to_move)}, {"pending", side(position.pending)}};
        if (!seat) view["pending_reason"] = position.reason;
        return {view};
    }

    std::optional<std::vector<Json>> legal(const Position& position, int, std::size_t most) const override {
        auto answers = position.pending ? std::vector<Json>{{{"action", FLIP}}} : moves(position);
        if (answers.size() > most) answers.resize(most);
        return answers;
    }

    Turn forfeit(const Position& position, const Faults& faults, Luck& /*luck*/) const override {
        Turn turn{position};
        for (const auto& [seat, fault] : faults) {
            turn.out.insert(seat);
            turn.punish(seat);
        }
        if (faults.size() == 2) {
            finish(turn, draw("no_winner"));
        } else {
            const auto& [loser, fault] = *faults.begin();
            flip(turn, 1 - loser, reason_of(fault));
        }
        return shown(turn);
    }

    Turn stop(const Position& position, const std::string& reason) const override {
        Turn turn{position};
        finish(turn, draw(reason));
        return shown(turn);
    }

   protected:
    std::vector<std::string> sides, wins;
    std::string signs;

    virtual Position begin(const Json& options) const = 0;
    virtual std::optional<std::string> malformed(const Position&, const Json& answer) const = 0;
    virtual std::optional<std::string> forbidden(const Position&, const Json& answer) const = 0;
    virtual std::optional<Result> play(Position&, int player, const Json& move) const = 0;
    virtual std::vector<Json> moves(const Position&) const = 0;
    virtual std::string drawn(const Position&) const = 0;

    static Result draw(const std::string& reason = "DRAW") { return {{1, 1}, {0.5, 0.5}, reason}; }

   private:
    static std::string uuid(Luck& luck) {
        char digits[33];
        std::snprintf(digits, 17, "%016llx", static_cast<unsigned long long>(luck.bits()));
        std::snprintf(digits + 16, 17, "%016llx", static_cast<unsigned long long>(luck.bits()));
        const std::string d = digits;
        const char variant = "89ab"[std::stoi(d.substr(16, 1), nullptr, 16) & 3];
        return d.substr(0, 8) + "-" + d.substr(8, 4) + "-4" + d.substr(13, 3) + "-" + variant + d.substr(17, 3) + "-" +
               d.substr(20);
    }

    Turn& shown(Turn& turn) const {
        const Position& position = turn.position;
        turn.text = drawn(position);
        if (position.to_move) {
            turn.ask(*position.to_move, "play", {{"id", position.id}});
            if (position.pending) {
                turn.text += std::string("\n") + signs[*position.pending] + "'s invalid move waits for a flip";
            }
        }
        return turn;
    }

    std::optional<std::string> refusal(const Position& position, const Json& answer) const {
        if (!answer.is_object()) return "the answer is not an object; wanted one with an action";
        if (is(answer, "action", FLIP) || is(answer, "action", "flipTable")) {
            if (position.pending) return std::nullopt;
            return "You are not supposed to flip the table now";
        }
        const auto bad = malformed(position, answer);
        const auto barred = bad ? std::nullopt : forbidden(position, answer);
        if (!position.pending) return bad ? bad : barred;
        return (bad ? *bad + "\n" : "") + "You should have flipped the table now" + (barred ? "\n" + *barred : "");
    }

    void show(Turn& turn, int player, Json answer, bool alias = true) const {
        answer["player"] = sides[player];
        if (alias && is(answer, "action", "flipTable")) answer["action"] = FLIP;
        turn.notice("event", std::move(answer));
    }

    void finish(Turn& turn, const Result& result) const {
        turn.position.to_move.reset();
        turn.result = result;
        const std::string winner = result.ranks[0] == result.ranks[1] ? "draw" : sides[result.ranks[0] == 1 ? 0 : 1];
        turn.notice("event", {{"winner", winner}});
    }

    void flip(Turn& turn, int winner, const std::string& reason, const Json& answer = {{"action", FLIP}}) const {
        show(turn, winner, answer);
        finish(turn, win(winner, "FLIPPED: " + reason));
    }

    void lose(Turn& turn, int player, const Fault& fault, bool given) const {
        rule(turn, player, fault.detail, "loses", given);
        if (fault.fatal()) turn.out.insert(player);
        flip(turn, 1 - player, reason_of(fault));
    }

    // An invalid move waits for the rival's flip. A second one, in answer to it, loses.
    void refuse(Turn& turn, int player, const Json& answer, const std::string& detail, bool given) const {
        Position& position = turn.position;
        show(turn, player, answer, ("\n" + detail + "\n").find("\n" + UNKNOWN_ACTION + "\n") == std::string::npos);
        if (position.pending || position.auto_flip) {
            rule(turn, player, detail, "loses", given);
            flip(turn, 1 - player, detail);
            return;
        }
        rule(turn, player, detail, "the rival may flip the table and win", given);
        position.pending = player;
        position.reason = detail;
        position.to_move = 1 - player;
    }

    static void rule(Turn& turn, int player, const std::string& detail, const std::string& penalty, bool given) {
        if (given) {
            turn.punish(player, penalty);
        } else {
            turn.refuse(player, detail, penalty);
        }
    }

    static std::string reason_of(const Fault& fault) {
        const auto& detail = fault.detail;
        const auto begins = [&](const std::string& text) { return detail.compare(0, text.size(), text) == 0; };
        if (begins("game already started") || begins("didnt start game with ")) return detail;
        if (fault.kind == "timeout") {
            const std::string late = "\n" + OUT_OF_TIME;
            const bool ends = detail.size() >= late.size() &&
                              detail.compare(detail.size() - late.size(), late.size(), late) == 0;
            return ends ? detail : OUT_OF_TIME;
        }
        if (fault.kind == "protocol") return "protocol error";
        return fault.kind == "illegal" ? "invalid action" : "crashed";
    }
};

}  // namespace arena
