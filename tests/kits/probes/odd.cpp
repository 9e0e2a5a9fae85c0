// Tells what it knows, and fails in the ways of a program in C++.

#include <cstdlib>
#include <iostream>
#include <referee/json.hpp>

const bool early = [] { return std::cout << "early" << std::endl, true; }();
int lives = 0;

struct Odd : referee::Bot {
    static constexpr const char* game = "odd";

    explicit Odd(const referee::Match& match) : Bot(match) {
        if (match.seat == 7) throw std::runtime_error("no seat 7");
        ++lives;
    }
    ~Odd() { --lives; }

    referee::Json answer(const std::string& method, const referee::Json& params) override {
        if (method == "match") {
            const auto& limits = match.limits;
            return {match.game, match.seat, match.names, match.options.json().at("deep"), limits.startup_ms,
                    limits.call_ms, limits.processes, limits.scratch_bytes, match.seed};
        }
        if (method == "alive") return lives;
        if (method == "bytes") return "a\xff" "b";
        if (method == "words") throw std::runtime_error("\xff");
        if (method == "number") throw 5;
        if (method == "stdin") return std::cin.get();
        if (method == "child") return std::system("echo a child; ls /dev/fd/ | wc -l");
        return Bot::answer(method, params);
    }

    void notice(const std::string& method, const referee::Json&) override { throw std::runtime_error("in " + method); };
};

int main() { return referee::run<Odd>("Odd", "2.1"); }
