// The wire between a bot and the referee: who is asked what, and what is answered.

#include <referee/wire.hpp>

#include <fcntl.h>
#include <unistd.h>

#ifdef __wasi__
#include <wasi/api.h>
#else
#include <csignal>
#endif
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "server.hpp"

namespace referee {

Json Bot::answer(const std::string& method, const Json& /*params*/) { throw UnknownMethod(method); }

void Bot::notice(const std::string& /*method*/, const Json& /*params*/) {}

std::optional<std::int64_t> Match::option(const std::string& name) const {
    std::optional<std::int64_t> value;
    if (options.has_value()) read(options.json(), name.c_str(), value);
    return value;
}

namespace {

// A function's own, so that a header may add to it before this file's variables are made.
std::vector<void (*)(const Match&)>& followers() {
    static std::vector<void (*)(const Match&)> all;
    return all;
}

using NewBot = std::unique_ptr<Bot> (*)(const Match&);

// The two ends of the wire, out of reach of everything else in the process and of its children.
struct Pipes {
    int in = -1, out = -1;
} pipes;  // constant from the start: the first of us to run fills it

#ifdef __wasi__

// WebAssembly cannot duplicate a descriptor: both are moved away, and the referee then takes descriptor 1 for standard
// error. Before anything of the bot's own, so that it may print whenever it likes.
__attribute__((constructor(101))) const Pipes& take_pipes() {
    if (pipes.in >= 0) return pipes;
    pipes = {10, 11};
    if (__wasi_fd_renumber(0, 10) || __wasi_fd_renumber(1, 11)) std::abort();
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    return pipes;
}

#else

// What was printed before and not written yet goes to standard error too.
const Pipes& take_pipes() {
    if (pipes.in >= 0) return pipes;
    pipes = {::fcntl(0, F_DUPFD_CLOEXEC, 3), ::fcntl(1, F_DUPFD_CLOEXEC, 3)};
    ::dup2(2, 1);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, 0);
    ::close(nothing);
    std::fflush(stdout);
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // what a bot printed last is there when it dies
    std::signal(SIGPIPE, SIG_IGN);  // a referee that went away is an end, not a crash
    return pipes;
}

// Where the referee has started the program, before anything of the bot's own, so that it may print whenever it likes.
__attribute__((constructor(101))) void take_at_once() {
    if (!std::getenv("REFEREE_BOT")) return;
    ::unsetenv("REFEREE_BOT");  // not for programs that the bot starts
    take_pipes();
}

#endif

Match read_match(const Json& json) {
    Match match;
    read(json, "game", match.game);
    match.options = Anything(std::make_shared<const Json>(json.value("options", Json::object())));
    match.seat = json.value("seat", 0);
    match.names = json.value("names", std::vector<std::string>());
    match.seed = json.value("seed", std::uint64_t{0});
    const Json limits = json.value("limits", Json::object());
    read(limits, "startup_ms", match.limits.startup_ms);
    read(limits, "call_ms", match.limits.call_ms);
    read(limits, "opening_ms", match.limits.opening_ms);
    read(limits, "closing_ms", match.limits.closing_ms);
    read(limits, "exit_ms", match.limits.exit_ms);
    read(limits, "initial_ms", match.limits.initial_ms);
    read(limits, "increment_ms", match.limits.increment_ms);
    read(limits, "cpu_ms", match.limits.cpu_ms);
    read(limits, "memory_bytes", match.limits.memory_bytes);
    read(limits, "processes", match.limits.processes);
    read(limits, "frame_bytes", match.limits.frame_bytes);
    read(limits, "call_output_bytes", match.limits.call_output_bytes);
    read(limits, "stderr_bytes", match.limits.stderr_bytes);
    read(limits, "file_bytes", match.limits.file_bytes);
    read(limits, "scratch_bytes", match.limits.scratch_bytes);
    return match;
}

Clock read_clock(const Json& params) {
    Clock clock;
    const auto shown = params.find("clock");
    if (shown == params.end()) return clock;
    read(*shown, "call_ms", clock.call_ms);
    read(*shown, "remaining_ms", clock.remaining_ms);
    read(*shown, "last_ms", clock.last_ms);
    read(*shown, "answers_left", clock.answers_left);
    return clock;
}

// Plays matches, each with a new bot.
class BotServer : public Server {
   public:
    BotServer(const Identity& identity, NewBot new_bot) : identity_(identity), new_bot_(new_bot) {}

   private:
    Json answer(const std::string& method, Json& params) override {
        if (method == "initialize") return initialize(params);
        if (!bot_) throw std::runtime_error(method + " came before initialize");
        bot_->clock = read_clock(params);
        params.erase("clock");
        return bot_->answer(method, params);
    }

    void notice(const std::string& method, const Json& params) override {
        if (bot_) bot_->notice(method, params);
    }

    Json initialize(const Json& params) {
        if (params.value("protocol", 1) != 1) {
            throw std::runtime_error("protocol " + params.at("protocol").dump() + " is unknown here; this is 1");
        }
        const Match match = read_match(params);
        if (match.game != identity_.game) {
            throw std::runtime_error("this bot plays " + identity_.game + ", not " + match.game);
        }
        const Encoding chosen = agreed_ ? *agreed_ : choose(params);
        bot_ = nullptr;  // the last match's bot ends before the next begins
        for (const auto follow : followers()) follow(match);
        bot_ = new_bot_(match);
        agreed_ = chosen;  // only now: a match that the bot's constructor refuses agrees on nothing
        return {{"name", identity_.name}, {"version", identity_.version}, {"encoding", name(chosen)}, {"reuse", true}};
    }

    const Identity& identity_;
    const NewBot new_bot_;
    std::unique_ptr<Bot> bot_;
};

}  // namespace

void on_match(void (*follow)(const Match&)) { followers().push_back(follow); }

int serve(const Identity& identity, NewBot new_bot) { return BotServer(identity, new_bot).serve(); }

Server::Server() : reader_(take_pipes().in) {
    std::cout.flush();  // to standard error, whatever it still held
}

int Server::serve() {
    try {
        while (auto frame = reader_.next(encoding_)) {
            const std::string method = frame->value("method", "");
            if (method == "exit") return 0;
            Json params = Json::object();
            if (frame->contains("params")) params = std::move(frame->at("params"));
            if (!frame->contains("id")) {
                attempt([&] { return notice(method, params), nullptr; }, method);
            } else if (!respond(frame->at("id"), attempt([&] { return answer(method, params); }, method))) {
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

// `{"result": …}`, or `{"error": …}` with the words of whatever was thrown, which go to standard error too.
template <class Work>
Json Server::attempt(Work work, const std::string& method) {
    int code = -32000;
    std::string message;
    try {
        return {{"result", work()}};
    } catch (const Refusal& error) {
        code = error.code;
        message = error.what();
    } catch (const std::exception& error) {
        message = error.what();
    } catch (...) {
        message = "threw something that is no std::exception";
    }
    if (code != UNKNOWN_POSITION) std::fprintf(stderr, "%s: %s\n", method.c_str(), message.c_str());
    return {{"error", {{"code", code}, {"message", message}}}};
}

bool Server::respond(const Json& id, Json frame) {
    frame["jsonrpc"] = "2.0";
    frame["id"] = id;
    return write_all(take_pipes().out, encode(frame, encoding_));
}

Encoding Server::choose(const Json& params) {
    const auto offered = params.value("encodings", std::vector<std::string>{"json"});
    for (const auto& name : offered) {
        if (name == "json") return Encoding::json;
        if (name == "msgpack") return Encoding::msgpack;
    }
    throw std::runtime_error("this program speaks json and msgpack, and was offered " + Json(offered).dump());
}

}  // namespace referee

#ifdef __wasi__

// Exceptions do not exist here: whatever is thrown ends the bot.
extern "C" void* __cxa_allocate_exception(std::size_t) { std::abort(); }
extern "C" void __cxa_throw(void*, void*, void (*)(void*)) {
    std::fputs("an exception was thrown; it ends a module of WebAssembly\n", stderr);
    std::abort();
}

#endif
