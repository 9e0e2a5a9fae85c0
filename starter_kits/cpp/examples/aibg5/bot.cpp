// Does what brings most points a turn: shoots the boss as long as it lives, for who dies comes back healed; shoots
// players and takes items, which is experience; and keeps out of the boss's next pattern.

#include <referee/hexgrid.hpp>
#include <referee/json.hpp>

using namespace referee;
using namespace referee::aibg5;

namespace {

constexpr int ROUNDS = 300;        // how long a match is expected to be if nothing is said
constexpr int LEVEL_WORTH = 14;    // points a turn: half of what a level brings, which must be reached first
constexpr int HIT_XP = 30, KILL_XP = 100, EXPERIENCE_XP = 100, ASTEROID_XP = 20, KILL_SCORE = 50;
constexpr int DIRECT_RING = 4;     // up to here the boss hits in every round; only from here can it be hit
constexpr int SHORTEST_PAUSE = 3;  // rounds without a pattern
constexpr int DETOUR = 3;          // steps that it is worth going to keep out of a pattern
constexpr int UNKNOWN = 1000000;   // turns to a cell to which no way is known
const std::vector<Cell> BOSS_CELLS = ring(1);

bool contains(const std::vector<Cell>& cells, Cell cell) {
    return std::find(cells.begin(), cells.end(), cell) != cells.end();
}

// The eight cells of a step of the boss's pattern 1: 0, 1 or 2.
std::vector<Cell> pattern1(int step) {
    std::vector<Cell> cells = {{-6 + 2 * step, -2 - 2 * step}, {-5 + 2 * step, -3 - 2 * step}};
    for (int i : {0, 1}) cells.push_back({-cells[i].q, -cells[i].r});
    for (int i : {0, 1, 2, 3}) cells.push_back({-cells[i].q - cells[i].r, cells[i].r});
    return cells;
}

// The boss's patterns, which come in turn: three steps of pattern 1, a pause, a ring, a pause.
class Schedule {
   public:
    // Sees the boss's last turn: to be called once in every round.
    void watch(const std::vector<AttackedTile>& attacked) {
        std::vector<Cell> pattern;
        for (const auto& tile : attacked) {
            if (distance(CENTRE, cellOf(tile)) > DIRECT_RING) pattern.push_back(cellOf(tile));
        }
        if (pattern.empty()) {
            --wait_;
            return;
        }
        const int steps = -pattern[0].r / 2;  // of pattern 1: its first cell is in row -2, -4 or -6
        if (pattern.size() > 8) {
            ring_ = ring_ == 10 ? 6 : ring_ + 2;
            next_ = pattern1(0);
            wait_ = SHORTEST_PAUSE;
        } else if (steps < 3) {
            next_ = pattern1(steps);
            wait_ = 0;
        } else {
            next_ = ring(ring_);
            wait_ = SHORTEST_PAUSE;
        }
    }

    // The cells that the boss may strike after this round, beside those near it.
    std::vector<Cell> struck() const { return wait_ <= 0 ? next_ : std::vector<Cell>(); }

   private:
    std::vector<Cell> next_ = pattern1(0);
    int ring_ = 6;
    int wait_ = 2;  // rounds that are sure to have no pattern; a match begins with one, and none is over yet
};

// What can be done now, and how many points a turn it brings.
class Turn {
   public:
    Turn(const Board& board, int playerIdx, std::vector<Cell> struck, int roundsLeft)
        : board_(board), struck_(std::move(struck)) {
        for (const auto* player : board.players) {
            if (player->playerIdx == playerIdx) me_ = player;
        }
        here_ = cellOf(*me_);
        if (me_->level < static_cast<int>(POWER.size())) {
            xpWorth_ = static_cast<double>(LEVEL_WORTH * roundsLeft) / LEVEL_XP;
        }
        for (auto& row : turns_) row.fill(UNKNOWN);
    }

    Action best() {
        double worth = 0;
        std::optional<Action> action;
        for (const auto target : board_.targets(here_)) {
            const double brings = worthOfShot(target);
            if (brings > worth) {
                worth = brings;
                action = attack(target);
            }
        }
        findWays();
        for (const auto cell : CELLS) {
            if (turns(cell) == UNKNOWN || worthOfGoing(cell) <= worth) continue;
            worth = worthOfGoing(cell);
            action = step(first(cell));
        }
        return action ? *action : anyAction();
    }

   private:
    double worthOfShot(Cell target) const {
        const double brings = worthOfHitting(board_.hit(here_, target).value_or(target));
        // With as much health the boss could be shot once more.
        return contains(struck_, here_) ? brings - me_->power : brings;
    }

    double worthOfHitting(Cell cell) const {
        const auto* player = board_.playerOn(cell);
        if (player && player->health <= me_->power) return (HIT_XP + KILL_XP) * xpWorth_ + KILL_SCORE;
        if (player) return HIT_XP * xpWorth_;
        const int shots = shotsAt(cell);
        return shots ? ASTEROID_XP * xpWorth_ / shots : me_->power;  // an asteroid, or the boss
    }

    // For the item that is there, or to shoot the boss from there until the end.
    double worthOfGoing(Cell cell) const {
        const auto entity = board_.tile(cell).entity.type;
        const double worth = entity == EntityType::EXPERIENCE ? EXPERIENCE_XP * xpWorth_ / turns(cell) : 0;
        int shots = entity == EntityType::HEALTH ? (MAX_HEALTH[me_->level - 1] - me_->health) / BOSS_POWER : 0;
        if (canHitBoss(cell)) shots = std::max(shots, (me_->health - 1) / BOSS_POWER);
        return std::max(worth, static_cast<double>(shots * me_->power) / (turns(cell) + shots));
    }

    bool canHitBoss(Cell cell) const {
        if (distance(CENTRE, cell) > DIRECT_RING) return false;
        return std::any_of(BOSS_CELLS.begin(), BOSS_CELLS.end(), [&](Cell target) {
            const auto hit = board_.hit(cell, target);
            return hit && contains(BOSS_CELLS, *hit);
        });
    }

    // Fills `turns` and `first`. A cell comes again when a quicker way to it is found.
    void findWays() {
        std::vector<Cell> queue = {here_};
        for (std::size_t next = 0; next < queue.size(); ++next) {
            const auto cell = queue[next];
            const bool now = cell == here_;
            for (const auto beside : neighbours(cell)) {
                if (!isOpen(beside)) continue;
                const int needed = (now ? 0 : turns(cell)) + turnsInto(beside, now);
                if (needed >= turns(beside)) continue;
                turns_[beside.r + RADIUS][beside.q + RADIUS] = needed;
                first_[beside.r + RADIUS][beside.q + RADIUS] = now ? beside : first(cell);
                queue.push_back(beside);
            }
        }
    }

    // To a cell, from here.
    int turns(Cell cell) const { return turns_[cell.r + RADIUS][cell.q + RADIUS]; }

    // The first cell of the way there.
    Cell first(Cell cell) const { return first_[cell.r + RADIUS][cell.q + RADIUS]; }

    // A way may lead there. Asteroids can be shot.
    bool isOpen(Cell cell) const {
        const auto entity = board_.tile(cell).entity.type;
        return entity == EntityType::ASTEROID || (entity != EntityType::BLACKHOLE && board_.mayEnter(cell));
    }

    int turnsInto(Cell cell, bool now) const {
        return 1 + shotsAt(cell) + (now && contains(struck_, cell) ? DETOUR : 0);
    }

    // How many an asteroid takes, if there is one.
    int shotsAt(Cell cell) const {
        return (board_.tile(cell).entity.health.value_or(0) + me_->power - 1) / me_->power;
    }

    Action step(Cell cell) const { return shotsAt(cell) ? attack(cell) : move(cell); }

    // A legal one, where there is one.
    Action anyAction() const {
        for (const auto cell : neighbours(here_)) {
            if (board_.mayEnter(cell)) return move(cell);
        }
        const auto targets = board_.targets(here_);
        return targets.empty() ? move(here_) : attack(targets.front());
    }

    const Board& board_;
    const std::vector<Cell> struck_;
    const Player* me_ = nullptr;
    Cell here_;
    double xpWorth_ = 0;
    std::array<std::array<int, SIZE>, SIZE> turns_;
    std::array<std::array<Cell, SIZE>, SIZE> first_;
};

}  // namespace

class Duellist : public AIBG5Bot {
   public:
    explicit Duellist(const Match& match) : AIBG5Bot(match) {
        const auto rounds = match.options.json().find("rounds");
        if (rounds != match.options.json().end() && rounds->is_number()) roundsLeft_ = rounds->get<int>();
    }

    Action doAction(int playerIdx, const GameState& gameState, const std::optional<std::string>& /*message*/) override {
        schedule_.watch(gameState.boss.bossAttackedTiles);
        roundsLeft_ = std::max(0, roundsLeft_ - 1);
        const Board board(gameState);
        return Turn(board, playerIdx, schedule_.struck(), roundsLeft_).best();
    }

   private:
    Schedule schedule_;
    int roundsLeft_ = ROUNDS;
};

int main() { return run<Duellist>("Duellist (C++)"); }
