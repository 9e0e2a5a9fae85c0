// ReAntics as fast as a program can answer: a fixed placement, then END and nothing else. It plays against itself: the
// food lies on tiles that its own layout, seen from the other side, leaves free.

#include "instant.hpp"

using namespace std::literals;

namespace {

// Row 0 and (0, 1); from the other side: row 9 and (9, 8).
constexpr auto LAYOUT_JSON = "[[0,0],[1,0],[2,0],[3,0],[4,0],[5,0],[6,0],[7,0],[8,0],[9,0],[0,1]]"sv;
constexpr auto LAYOUT_MSGPACK =
    "\x9b\x92\0\0\x92\1\0\x92\2\0\x92\3\0\x92\4\0\x92\5\0\x92\6\0\x92\7\0\x92\x8\0\x92\x9\0\x92\0\1"sv;
constexpr auto FOOD_JSON = "[[0,6],[1,6]]"sv;
constexpr auto FOOD_MSGPACK = "\x92\x92\0\6\x92\1\6"sv;
constexpr auto END_JSON = R"({"moveType":2})"sv;
constexpr auto END_MSGPACK = "\x81\xa8moveType\2"sv;

struct Ender {
    void start() {}
    void notice(const instant::Frame&) {}

    std::string_view answer(const instant::Frame& frame, bool msgpack) const {
        if (frame.method == "getMove") return msgpack ? END_MSGPACK : END_JSON;
        if (frame.method == "registerWin") return msgpack ? "\xc0"sv : "null"sv;
        if (frame.method != "getPlacement") instant::fail("asked for an attack, though no ant ever moves");
        const auto phase_1 = msgpack ? "\xa5phase\1"sv : R"("phase":1)"sv;
        if (frame.rest.find(phase_1) != std::string_view::npos) return msgpack ? LAYOUT_MSGPACK : LAYOUT_JSON;
        return msgpack ? FOOD_MSGPACK : FOOD_JSON;
    }
};

}  // namespace

int main() { return instant::serve(Ender()); }
