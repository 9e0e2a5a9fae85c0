// What a bot sees of the library. A bot includes <referee/GAME.hpp>, derives from that game's bot class and calls
// `referee::run<MyBot>("its name")` from main. The wire itself is in src/: JSON-RPC 2.0 on standard input and output,
// as JSON lines or as MessagePack, compiled once.
//
// `run` turns standard output to standard error and standard input to /dev/null, and keeps the pipes for itself; where
// the referee has started the program that is done before main. So `std::cout` can be used for debugging.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace referee {

using Json = nlohmann::json;  // include <referee/json.hpp> to use one

// A member that may be any JSON value, just as it was sent, or absent.
class Anything {
   public:
    Anything() = default;
    explicit Anything(std::shared_ptr<const Json> value) : value_(std::move(value)) {}

    // False: it is absent, which is not the same as null.
    bool has_value() const { return value_ != nullptr; }
    // The text, if it is one.
    std::optional<std::string> text() const;
    // As one of the game's choices, such as `event.action.as<ActionType>()`, if it is one of them.
    template <class Choice>
    std::optional<Choice> as() const {
        Choice choice{};
        const auto found = text();
        return found && from_text(*found, choice) ? std::optional(choice) : std::nullopt;
    }
    // The value, for <referee/json.hpp>; it must be there.
    const Json& json() const { return *value_; }

   private:
    std::shared_ptr<const Json> value_;
};

// The limits of a match; empty = no such limit.
struct Limits {
    std::optional<std::int64_t> startup_ms;
    std::optional<std::int64_t> call_ms;
    std::optional<std::int64_t> opening_ms;  // in the opening, where it is another than later
    std::optional<std::int64_t> closing_ms;  // for a call after the result
    std::optional<std::int64_t> exit_ms;  // from exit to the program's end
    std::optional<std::int64_t> initial_ms;  // the bank of time that the bot starts with
    std::optional<std::int64_t> increment_ms;  // added to it after every answer
    std::optional<std::int64_t> cpu_ms;
    std::optional<std::int64_t> memory_bytes;
    std::optional<std::int64_t> processes;  // that live at a time
    std::optional<std::int64_t> frame_bytes;  // one frame of the bot's
    std::optional<std::int64_t> call_output_bytes;  // standard output in one call
    std::optional<std::int64_t> stderr_bytes;  // standard error that is kept
    std::optional<std::int64_t> file_bytes;  // one file that is written
    std::optional<std::int64_t> scratch_bytes;  // all files in HOME together
};

// The facts about the match.
struct Match {
    std::string game;
    Anything options;  // an object
    int seat = 0;  // 0 moves first
    std::vector<std::string> names;  // in the order of the seats
    Limits limits;
    std::uint64_t seed = 0;  // for the bot's own luck: the same match gives the same seed

    // An option that is a whole number; empty: the match has no such option.
    std::optional<std::int64_t> option(const std::string& name) const;
};

// Calls `follow` with each match when it begins, before its bot is made. A game's tables that depend on the options are
// set this way.
void on_match(void (*follow)(const Match&));

// The clock as a call shows it; empty = no such limit, or not yet known.
struct Clock {
    std::optional<std::int64_t> call_ms;  // the limit of this call
    std::optional<std::int64_t> remaining_ms;  // what is left in the bank
    std::optional<std::int64_t> last_ms;  // what the previous call was charged
    std::optional<std::int64_t> answers_left;  // until the bank gets more; empty = it will not
};

// An error with a code of its own.
struct Refusal : std::runtime_error {
    Refusal(int with_code, const std::string& message) : std::runtime_error(message), code(with_code) {}
    int code;
};

inline constexpr int UNKNOWN_POSITION = -32001;  // the code of a refusal that is no failure of rules

// Thrown by `Bot::answer` for a method that the bot does not know.
struct UnknownMethod : Refusal {
    explicit UnknownMethod(const std::string& method) : Refusal(-32601, "unknown method " + method) {}
};

// A bot for one match, untyped. The games' headers derive typed ones from it; each match gets a new object.
class Bot {
   public:
    explicit Bot(const Match& of) : match(of) {}
    Bot(const Bot&) = delete;
    Bot& operator=(const Bot&) = delete;
    virtual ~Bot() = default;

    // Answers a call. Whatever it throws goes to the referee as this call's error.
    virtual Json answer(const std::string& method, const Json& params);

    // Hears a notification; unknown ones are ignored.
    virtual void notice(const std::string& method, const Json& params);

    const Match match;  // filled before the derived class's members: `std::mt19937_64 luck{match.seed};` works
    Clock clock;  // of the call being answered
};

// What a program says of itself.
struct Identity {
    std::string name, version;
    std::string game;  // the one that it plays
};

// Answers the referee until it says `exit` or goes away, with a new bot for each match. The exit status of the program.
int serve(const Identity& identity, std::unique_ptr<Bot> (*new_bot)(const Match& match));

// Plays with bots of class `MyBot`, a new one for each match, until the referee ends the program.
template <class MyBot>
int run(const std::string& name, const std::string& version = "1") {
    return serve({name, version, MyBot::game},
                 [](const Match& match) -> std::unique_ptr<Bot> { return std::make_unique<MyBot>(match); });
}

}  // namespace referee
