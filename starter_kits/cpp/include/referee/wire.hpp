// The wire between a bot and the referee, so that a bot need not know it: JSON-RPC 2.0 on standard input and output,
// as JSON lines or as MessagePack. A bot includes <referee/GAME.hpp>, derives from that game's bot class and calls
// `referee::run<MyBot>("its name")` from main.
//
// A program that includes this file is a bot: before main, its standard output is turned to standard error and its
// standard input to /dev/null, and the library keeps the pipes for itself. So `std::cout` can be used for debugging.

#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// nlohmann's library learnt about std::optional only after 3.11: null = empty.
template <class T>
struct nlohmann::adl_serializer<std::optional<T>> {
    static void to_json(json& into, const std::optional<T>& value) {
        if (value) {
            into = *value;
        } else {
            into = nullptr;
        }
    }
    static void from_json(const json& from, std::optional<T>& value) {
        value.reset();
        if (!from.is_null()) value = from.get<T>();
    }
};

namespace referee {

using Json = nlohmann::json;

// Reads a member that is always there; throws a Json::exception that names it when it is not.
template <class T>
void read(const Json& object, const char* name, T& into) {
    object.at(name).get_to(into);
}

// Reads a member that may be absent or null. A value of another type counts as absent too: some events show what a
// rival sent, and a rival may send anything. `std::optional<Json>` tells null from absent.
template <class T>
void read(const Json& object, const char* name, std::optional<T>& into) {
    into.reset();
    const auto member = object.find(name);
    if (member == object.end()) return;
    if constexpr (std::is_same_v<T, Json>) {
        into = *member;
    } else if (!member->is_null()) {
        try {
            into = member->template get<T>();
        } catch (const Json::exception&) {
        }
    }
}

// Writes a member; an empty optional is left out.
template <class T>
void write(Json& object, const char* name, const T& value) {
    object[name] = value;
}
template <class T>
void write(Json& object, const char* name, const std::optional<T>& value) {
    if (value) object[name] = *value;
}

// The limits of a match; empty = no such limit.
struct Limits {
    std::optional<std::int64_t> startup_ms;
    std::optional<std::int64_t> call_ms;
    std::optional<std::int64_t> initial_ms;  // the bank of time that the bot starts with
    std::optional<std::int64_t> increment_ms;  // added to it after every answer
    std::optional<std::int64_t> cpu_ms;
    std::optional<std::int64_t> memory_bytes;
};

// What `initialize` told about the match.
struct Match {
    std::string game;
    Json options;
    int seat = 0;  // 0 moves first
    std::vector<std::string> names;  // in the order of the seats
    Limits limits;
    std::uint64_t seed = 0;  // for the bot's own luck: the same match gives the same seed
};

// The clock as a call shows it; empty = no such limit, or not yet known.
struct Clock {
    std::optional<std::int64_t> call_ms;  // the limit of this call
    std::optional<std::int64_t> remaining_ms;  // what is left in the bank
    std::optional<std::int64_t> last_ms;  // what the previous call was charged
};

inline void from_json(const Json& json, Limits& limits) {
    read(json, "startup_ms", limits.startup_ms);
    read(json, "call_ms", limits.call_ms);
    read(json, "initial_ms", limits.initial_ms);
    read(json, "increment_ms", limits.increment_ms);
    read(json, "cpu_ms", limits.cpu_ms);
    read(json, "memory_bytes", limits.memory_bytes);
}

inline void from_json(const Json& json, Match& match) {
    read(json, "game", match.game);
    match.options = json.value("options", Json::object());
    match.seat = json.value("seat", 0);
    match.names = json.value("names", std::vector<std::string>());
    match.limits = json.value("limits", Limits());
    match.seed = json.value("seed", std::uint64_t{0});
}

inline void from_json(const Json& json, Clock& clock) {
    read(json, "call_ms", clock.call_ms);
    read(json, "remaining_ms", clock.remaining_ms);
    read(json, "last_ms", clock.last_ms);
}

// Thrown by `Bot::answer` for a method that the bot does not know.
struct UnknownMethod : std::runtime_error {
    explicit UnknownMethod(const std::string& method) : std::runtime_error("unknown method " + method) {}
};

// A bot for one match, untyped. The games' headers derive typed ones from it; each match gets a new object.
class Bot {
   public:
    Bot() : match(starting()) {}
    Bot(const Bot&) = delete;
    Bot& operator=(const Bot&) = delete;
    virtual ~Bot() = default;

    // Answers a call. Whatever it throws goes to the referee as this call's error.
    virtual Json answer(const std::string& method, const Json& /*params*/) { throw UnknownMethod(method); }

    // Hears a notification; unknown ones are ignored.
    virtual void notice(const std::string& /*method*/, const Json& /*params*/) {}

    const Match match;  // filled before the derived class's members: `std::mt19937_64 luck{match.seed};` works
    Clock clock;  // of the call being answered

    // The match that the next bot is made for. Set by `serve`; here so that a bot's constructor needs no argument.
    static Match& starting() {
        static Match match;
        return match;
    }
};

enum class Encoding { json, msgpack };

// Cuts a stream of MessagePack values without decoding them: counts the values still to come, so that a frame that
// arrives in many pieces is looked at once.
class MessagePackCutter {
   public:
    // Looks at `data`, the bytes from the frame's start that are there. The frame's length, or 0: not all there yet.
    std::size_t cut(const unsigned char* data, std::size_t size) {
        while (values_ > 0 && at_ < size) {
            const unsigned char type = data[at_];
            std::uint64_t bytes = 0, inside = 0;
            if (type >= 0xc0 && type <= 0xdf) {
                const Head head = heads[type - 0xc0];
                if (size - at_ <= head.width) return 0;
                std::uint64_t length = 0;
                for (unsigned i = 1; i <= head.width; ++i) length = length << 8 | data[at_ + i];
                bytes = head.width + head.bytes + (head.inside == 0 ? length : 0);
                inside = head.inside * length;
            } else if (type >= 0xa0 && type < 0xc0) {
                bytes = type & 0x1f;
            } else if (type >= 0x90 && type < 0xa0) {
                inside = type & 0x0f;
            } else if (type >= 0x80 && type < 0x90) {
                inside = 2u * (type & 0x0f);
            }
            at_ += 1 + bytes;
            values_ += inside - 1;
        }
        if (values_ > 0 || at_ > size) return 0;
        const std::size_t length = at_;
        *this = MessagePackCutter();
        return length;
    }

   private:
    // What follows a type byte: a length of `width` bytes, `bytes` more, and per unit of length `inside` values
    // (1 array, 2 map) or, where that is 0, one byte each.
    struct Head {
        unsigned char width, bytes, inside;
    };
    static constexpr Head heads[32] = {
        {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0},             // c0 nil, c1 never used, c2 false, c3 true
        {1, 0, 0}, {2, 0, 0}, {4, 0, 0},                        // c4 bin
        {1, 1, 0}, {2, 1, 0}, {4, 1, 0},                        // c7 ext
        {0, 4, 0}, {0, 8, 0},                                   // ca float
        {0, 1, 0}, {0, 2, 0}, {0, 4, 0}, {0, 8, 0},             // cc uint
        {0, 1, 0}, {0, 2, 0}, {0, 4, 0}, {0, 8, 0},             // d0 int
        {0, 2, 0}, {0, 3, 0}, {0, 5, 0}, {0, 9, 0}, {0, 17, 0},  // d4 fixext
        {1, 0, 0}, {2, 0, 0}, {4, 0, 0},                        // d9 str
        {2, 0, 1}, {4, 0, 1},                                   // dc array
        {2, 0, 2}, {4, 0, 2},                                   // de map
    };
    std::size_t at_ = 0;
    std::uint64_t values_ = 1;
};

// The referee's messages, one frame at a time.
class Reader {
   public:
    explicit Reader(int fd) : fd_(fd), buffer_(1 << 16) {}

    // Waits for a frame. Empty at the end of the stream. Throws a Json::parse_error for bytes that are no frame.
    std::optional<Json> next(Encoding encoding) {
        for (;;) {
            if (const std::size_t length = cut(encoding)) {
                const unsigned char* frame = buffer_.data() + start_;
                start_ += length;
                if (encoding == Encoding::msgpack) return Json::from_msgpack(frame, frame + length);
                if (frame[0] == '\n' || frame[0] == '\r') continue;
                return Json::parse(frame, frame + length);
            }
            if (!fill()) return std::nullopt;
        }
    }

   private:
    // The length of the frame at `start_`, its line feed included; 0: not all there yet.
    std::size_t cut(Encoding encoding) {
        const unsigned char* data = buffer_.data() + start_;
        const std::size_t size = end_ - start_;
        if (encoding == Encoding::msgpack) return cutter_.cut(data, size);
        const void* feed = std::memchr(data + seen_, '\n', size - seen_);
        seen_ = feed ? 0 : size;
        return feed ? static_cast<std::size_t>(static_cast<const unsigned char*>(feed) - data) + 1 : 0;
    }

    // Reads what is there, at least a byte; false at the end of the stream.
    bool fill() {
        std::memmove(buffer_.data(), buffer_.data() + start_, end_ - start_);
        end_ -= start_;
        start_ = 0;
        if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
        ssize_t count;
        do {
            count = ::read(fd_, buffer_.data() + end_, buffer_.size() - end_);
        } while (count < 0 && errno == EINTR);
        if (count > 0) end_ += static_cast<std::size_t>(count);
        return count > 0;
    }

    int fd_;
    std::vector<unsigned char> buffer_;
    std::size_t start_ = 0, end_ = 0;  // the bytes not yet given out
    std::size_t seen_ = 0;  // how many of them hold no line feed
    MessagePackCutter cutter_;
};

// The bytes of a frame. Text that is no UTF-8 is mended, and a number that is none (NaN) becomes null, in both
// encodings: nlohmann's MessagePack writer lets either through, so it is given what the JSON text says.
inline std::string encode(const Json& frame, Encoding encoding) {
    std::string text = frame.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (encoding == Encoding::json) return text + "\n";
    std::string bytes;
    Json::to_msgpack(Json::parse(text), bytes);
    return bytes;
}

// Writes a whole frame; false when the referee is gone.
inline bool write_all(int fd, const std::string& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t count = ::write(fd, bytes.data() + done, bytes.size() - done);
        if (count >= 0) {
            done += static_cast<std::size_t>(count);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

// The two ends of the wire, out of reach of everything else in the process and of its children.
struct Pipes {
    int in, out;
};
inline Pipes take_pipes() {
    const Pipes pipes{::fcntl(0, F_DUPFD_CLOEXEC, 3), ::fcntl(1, F_DUPFD_CLOEXEC, 3)};
    ::dup2(2, 1);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, 0);
    ::close(nothing);
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // what a bot printed last is there when it dies
    std::signal(SIGPIPE, SIG_IGN);  // a referee that went away is an end, not a crash
    return pipes;
}
inline const Pipes pipes = take_pipes();

// What a program says of itself.
struct Identity {
    std::string name, version;
    std::string game;  // the one that it plays
};

// Answers the referee until it says `exit` or goes away. The exit status of the program.
class Server {
   public:
    Server(Identity identity, std::function<std::unique_ptr<Bot>()> fresh_bot)
        : identity_(std::move(identity)), fresh_bot_(std::move(fresh_bot)), reader_(pipes.in) {}

    int serve() {
        try {
            while (auto frame = reader_.next(encoding_)) {
                const std::string method = frame->value("method", "");
                if (method == "exit") return 0;
                Json params = Json::object();
                if (frame->contains("params")) params = std::move(frame->at("params"));
                if (!frame->contains("id")) {
                    attempt(method, [&] { return notice(method, params); });
                } else if (!respond(frame->at("id"), attempt(method, [&] { return answer(method, params); }))) {
                    return 0;
                }
                encoding_ = agreed_.value_or(Encoding::json);
            }
            return 0;
        } catch (const Json::exception& error) {
            std::fprintf(stderr, "not a frame of the protocol: %s\n", error.what());
            return 1;
        }
    }

   private:
    // `{"result": …}`, or `{"error": …}` with the words of whatever was thrown, which go to standard error too.
    template <class Work>
    static Json attempt(const std::string& method, Work work) {
        int code = -32000;
        std::string message;
        try {
            return {{"result", work()}};
        } catch (const UnknownMethod& error) {
            code = -32601;
            message = error.what();
        } catch (const std::exception& error) {
            message = error.what();
        } catch (...) {
            message = "threw something that is no std::exception";
        }
        std::fprintf(stderr, "%s: %s\n", method.c_str(), message.c_str());
        return {{"error", {{"code", code}, {"message", message}}}};
    }

    bool respond(const Json& id, Json frame) {
        frame["jsonrpc"] = "2.0";
        frame["id"] = id;
        return write_all(pipes.out, encode(frame, encoding_));
    }

    Json answer(const std::string& method, Json& params) {
        if (method == "initialize") return initialize(params);
        if (!bot_) throw std::runtime_error(method + " came before initialize");
        bot_->clock = params.value("clock", Clock());
        params.erase("clock");
        return bot_->answer(method, params);
    }

    Json notice(const std::string& method, const Json& params) {
        if (bot_) bot_->notice(method, params);
        return nullptr;
    }

    Json initialize(const Json& params) {
        if (params.value("protocol", 1) != 1) {
            throw std::runtime_error("protocol " + params.at("protocol").dump() + " is unknown here; this is 1");
        }
        const Match match = params.get<Match>();
        if (match.game != identity_.game) {
            throw std::runtime_error("this bot plays " + identity_.game + ", not " + match.game);
        }
        const auto chosen = agreed_ ? *agreed_ : choose(params.value("encodings", std::vector<std::string>{"json"}));
        Bot::starting() = match;
        bot_ = nullptr;  // the last match's bot ends before the next begins
        bot_ = fresh_bot_();
        agreed_ = chosen;  // only now: a match that the bot's constructor refuses agrees on nothing
        return {{"name", identity_.name},
                {"version", identity_.version},
                {"encoding", chosen == Encoding::json ? "json" : "msgpack"},
                {"reuse", true}};
    }

    static Encoding choose(const std::vector<std::string>& offered) {
        for (const auto& name : offered) {
            if (name == "json") return Encoding::json;
            if (name == "msgpack") return Encoding::msgpack;
        }
        throw std::runtime_error("this bot speaks json and msgpack, and was offered " + Json(offered).dump());
    }

    Identity identity_;
    std::function<std::unique_ptr<Bot>()> fresh_bot_;
    Reader reader_;
    std::unique_ptr<Bot> bot_;
    Encoding encoding_ = Encoding::json;  // of the frame at hand: the first answer is still JSON
    std::optional<Encoding> agreed_;  // from the next frame on, as long as the process lives
};

// Plays with bots of class `MyBot`, a new one for each match, until the referee ends the program.
template <class MyBot>
int run(const std::string& name, const std::string& version = "1") {
    return Server({name, version, MyBot::game}, [] { return std::make_unique<MyBot>(); }).serve();
}

}  // namespace referee
