// Tic-tac-toe as fast as a program can answer: the first cell that is free, by watching the events. With a number as
// argument it thinks for so many microseconds before every answer, at full speed.

#include <array>
#include <chrono>
#include <cstdlib>

#include "instant.hpp"

using namespace std::literals;

namespace {

constexpr std::array<std::string_view, 9> CELLS = {"NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"};

class FirstFree {
   public:
    explicit FirstFree(std::chrono::microseconds thinks) : thinks_(thinks) {
        for (std::size_t cell = 0; cell < CELLS.size(); ++cell) {
            const std::string name(CELLS[cell]);
            json_[cell] = R"({"action":"putSymbol","position":")" + name + "\"}";
            msgpack_[cell] = "\x82\xa6" "action\xa9putSymbol\xa8position" +
                             std::string(1, static_cast<char>(0xa0 + name.size())) + name;
        }
    }

    void start() { taken_ = 0; }

    // The cell follows `"position":"` or, in MessagePack, `position` and a byte with its length.
    void notice(const instant::Frame& frame) {
        const auto key = frame.rest.find("position"sv);
        if (key == std::string_view::npos) return;
        auto cell = frame.rest.substr(key + 8);
        const bool json = cell[0] == '"';
        cell = json ? cell.substr(3, cell.find('"', 3) - 3) : cell.substr(1, cell[0] & 31);
        for (std::size_t index = 0; index < CELLS.size(); ++index) {
            if (CELLS[index] == cell) taken_ |= 1u << index;
        }
    }

    std::string_view answer(const instant::Frame&, bool msgpack) const {
        if (thinks_.count()) {
            const auto until = std::chrono::steady_clock::now() + thinks_;
            while (std::chrono::steady_clock::now() < until) {
            }
        }
        std::size_t cell = 0;
        while (taken_ >> cell & 1) ++cell;
        return (msgpack ? msgpack_ : json_)[cell];
    }

   private:
    std::chrono::microseconds thinks_;
    unsigned taken_ = 0;
    std::array<std::string, 9> json_, msgpack_;
};

}  // namespace

int main(int argc, char** argv) {
    return instant::serve(FirstFree(std::chrono::microseconds(argc > 1 ? std::atoi(argv[1]) : 0)));
}
