// Steps along its shortest way, puts a wall where it is behind and that gains more than a step, and flips the table
// when, and only when, the rival's answer was invalid.

#include <algorithm>
#include <referee/quoridor.hpp>

using namespace referee;
using namespace referee::quoridor;

namespace {

constexpr int UP = 9, RIGHT = 1, DOWN = -9, LEFT = -1;  // what a step adds to a square
constexpr int NOWHERE = -1;
constexpr int SHUT_IN = 1000;  // more steps than any way has

// a1 = 0, b1 = 1, a2 = 9; what names no square is NOWHERE.
int squareOf(const std::string& name) {
    if (name.size() != 2 || name[0] < 'a' || name[0] > 'i' || name[1] < '1' || name[1] > '9') return NOWHERE;
    return 9 * (name[1] - '1') + name[0] - 'a';
}

std::string nameOf(int square) { return {static_cast<char>('a' + square % 9), static_cast<char>('1' + square / 9)}; }

// `square` is the one to the lower left of its middle, `direction` is h or v.
struct Wall {
    int square;
    char direction;
};

std::vector<Wall> allWalls() {
    std::vector<Wall> walls;
    for (int square = 0; square < 72; ++square) {
        if (square % 9 < 8) walls.insert(walls.end(), {{square, 'h'}, {square, 'v'}});
    }
    return walls;
}

// Pawns and walls. A player is a seat: 0 is first, 1 is second.
class Board {
   public:
    Board() {
        for (int square = 0; square < 81; ++square) {
            up_[square] = square < 72;
            right_[square] = square % 9 < 8;
        }
    }

    int wallsLeft(int player) const { return wallsLeft_[player]; }

    // The squares that the pawn may move to.
    std::vector<int> targets(int player) const {
        const int own = pawns_[player], rival = pawns_[1 - player];
        std::vector<int> found;
        for (const int step : {UP, RIGHT, DOWN, LEFT}) {
            int target = beside(own, step);
            if (target == rival) {
                target = beside(rival, step);  // the jump
                if (target == NOWHERE) {       // to the sides then
                    const int aside = step == UP || step == DOWN ? RIGHT : UP;
                    found.push_back(beside(rival, aside));
                    found.push_back(beside(rival, -aside));
                }
            }
            found.push_back(target);
        }
        found.erase(std::remove(found.begin(), found.end(), NOWHERE), found.end());
        return found;
    }

    // How many steps it is from each square to the player's goal row; pawns are in nobody's way.
    std::array<int, 81> ways(int player) const {
        std::array<int, 81> ways, queue;
        ways.fill(SHUT_IN);
        int queued = 0;
        for (int column = 0; column < 9; ++column) {
            queue[queued] = player == 0 ? 72 + column : column;
            ways[queue[queued++]] = 0;
        }
        for (int next = 0; next < queued; ++next) {
            for (const int step : {UP, RIGHT, DOWN, LEFT}) {
                const int target = beside(queue[next], step);
                if (target == NOWHERE || ways[target] != SHUT_IN) continue;
                ways[target] = ways[queue[next]] + 1;
                queue[queued++] = target;
            }
        }
        return ways;
    }

    int way(int player) const { return ways(player)[pawns_[player]]; }

    // Whether it overlaps and crosses no other wall. A wall that overlaps it blocks one of its two steps.
    bool fits(Wall wall) const {
        const bool open = wall.direction == 'h' ? up_[wall.square] && up_[wall.square + RIGHT]
                                                : right_[wall.square] && right_[wall.square + UP];
        return open && !middles_[wall.square];
    }

    // Both players' ways if this wall stood, which fits.
    std::array<int, 2> waysBehind(Wall wall) {
        put(wall, true);
        const std::array<int, 2> ways{way(0), way(1)};
        put(wall, false);
        return ways;
    }

    // Makes a legal move; false for anything else.
    bool apply(int player, const Anything& sent, const Anything& position) {
        const auto action = sent.as<ActionType>();
        const std::string name = position.text().value_or("");
        const int square = squareOf(name.substr(0, 2));
        if (square == NOWHERE) return false;
        if (action == ActionType::MOVE && name.size() == 2) {
            const auto squares = targets(player);
            if (std::count(squares.begin(), squares.end(), square) == 0) return false;
            pawns_[player] = square;
            return true;
        }
        if (action == ActionType::PUT_WALL && name.size() == 3 && (name[2] == 'h' || name[2] == 'v')) {
            const Wall wall{square, name[2]};
            if (square >= 72 || square % 9 == 8 || wallsLeft_[player] == 0 || !fits(wall)) return false;
            const auto ways = waysBehind(wall);
            if (ways[0] == SHUT_IN || ways[1] == SHUT_IN) return false;
            put(wall, true);
            --wallsLeft_[player];
            return true;
        }
        return false;
    }

   private:
    // The square one step on; NOWHERE behind a wall or the edge.
    int beside(int square, int step) const {
        const int lower = std::min(square, square + step);
        const auto& steps = step == UP || step == DOWN ? up_ : right_;
        return lower >= 0 && steps[lower] ? square + step : NOWHERE;
    }

    // Puts a wall that fits, or takes it away again.
    void put(Wall wall, bool stands) {
        if (wall.direction == 'h') {
            up_[wall.square] = up_[wall.square + RIGHT] = !stands;
        } else {
            right_[wall.square] = right_[wall.square + UP] = !stands;
        }
        middles_[wall.square] = stands;
    }

    std::array<bool, 81> up_, right_;  // whether the step up, or right, from a square is open
    std::array<bool, 81> middles_{};   // whether a wall has its middle at the square's upper right corner
    std::array<int, 2> pawns_{4, 76};  // e1 and e9
    std::array<int, 2> wallsLeft_{WALLS_EACH, WALLS_EACH};
};

}  // namespace

class Mason : public QuoridorBot {
   public:
    using QuoridorBot::QuoridorBot;

    Action play(const std::string& /*id*/) override {
        if (rivalWasInvalid_) return {ActionType::FLIP};
        const auto ways = board_.ways(me_);
        const auto targets = board_.targets(me_);
        const int target =
            *std::min_element(targets.begin(), targets.end(), [&](int a, int b) { return ways[a] < ways[b]; });
        if (ways[target] > 0) {
            if (const auto wall = bestWall()) return {ActionType::PUT_WALL, nameOf(wall->square) + wall->direction};
        }
        return {ActionType::MOVE, nameOf(target)};
    }

    void event(const ArenaEvent& event) override {
        if (!event.player) {
            if (event.youAre) me_ = *event.youAre == Side::SECOND;
            return;
        }
        const int player = *event.player == Side::SECOND;
        if (player == toMove_ && board_.apply(player, event.action, event.position)) {
            toMove_ = 1 - player;
        } else if (player != me_) {
            rivalWasInvalid_ = true;  // a flip too: had it been right, nobody would ask us again
        }
    }

   private:
    // The wall that lengthens the rival's way most, beside our own. None: ours is shorter, or a step is as good.
    std::optional<Wall> bestWall() {
        const int own = board_.way(me_), rival = board_.way(1 - me_);
        if (rival > own || board_.wallsLeft(me_) == 0) return std::nullopt;
        std::optional<Wall> best;
        int most = rival == 1 ? 0 : 1;  // more than a step gains; a rival who is about to win must be held up
        for (const Wall wall : allWalls()) {
            if (!board_.fits(wall)) continue;
            const auto ways = board_.waysBehind(wall);
            if (ways[0] == SHUT_IN || ways[1] == SHUT_IN) continue;
            const int gain = ways[1 - me_] - rival - (ways[me_] - own);
            if (gain <= most) continue;
            best = wall;
            most = gain;
        }
        return best;
    }

    int me_ = 0;
    Board board_;
    int toMove_ = 0;
    bool rivalWasInvalid_ = false;
};

int main() { return run<Mason>("Mason (C++)"); }
