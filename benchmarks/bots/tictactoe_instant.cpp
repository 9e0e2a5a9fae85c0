// Tic-tac-toe as fast as a program can answer: the first cell that is free, by watching the events.
//
//     tictactoe_instant [MICROSECONDS [ORDER ...]]
//
// It thinks for MICROSECONDS before every answer, at full speed. ORDER has the digits 0 to 8 in the order in which it
// prefers the cells, from NW to SE. Of several orders, the first match has the first, the next one the second, and so on.

#include <array>
#include <chrono>
#include <cstdlib>
#include <utility>
#include <vector>

#include "instant.hpp"

using namespace std::literals;

namespace {

constexpr std::array<std::string_view, 9> CELLS = {"NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"};

class FirstFree {
   public:
    FirstFree(std::chrono::microseconds thinks, std::vector<std::string_view> orders)
        : thinks_(thinks), orders_(std::move(orders)) {
        for (std::size_t cell = 0; cell < CELLS.size(); ++cell) {
            const std::string name(CELLS[cell]);
            json_[cell] = R"({"action":"putSymbol","position":")" + name + "\"}";
            msgpack_[cell] = "\x82\xa6" "action\xa9putSymbol\xa8position" +
                             std::string(1, static_cast<char>(0xa0 + name.size())) + name;
        }
    }

    void start() {
        taken_ = 0;
        order_ = orders_[matches_++ % orders_.size()];
    }

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
        std::size_t place = 0;
        while (taken_ >> (order_[place] - '0') & 1) ++place;
        return (msgpack ? msgpack_ : json_)[static_cast<std::size_t>(order_[place] - '0')];
    }

   private:
    std::chrono::microseconds thinks_;
    std::vector<std::string_view> orders_;
    std::string_view order_;
    std::size_t matches_ = 0;
    unsigned taken_ = 0;
    std::array<std::string, 9> json_, msgpack_;
};

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string_view> orders(argv + (argc > 2 ? 2 : argc), argv + argc);
    if (orders.empty()) orders = {"012345678"};
    return instant::serve(FirstFree(std::chrono::microseconds(argc > 1 ? std::atoi(argv[1]) : 0), orders));
}
