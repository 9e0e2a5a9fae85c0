// Forager: two workers carry food home by the quickest way, the queen waits next to the anthill, and soldiers are
// built when enemies come near.
//
// It keeps nothing between calls. Each getMove looks at the state afresh and gives one order to one ant that has not
// moved yet; when there is nothing left to order, the turn ends.

#include <algorithm>
#include <queue>
#include <referee/ants.hpp>

using namespace referee;
using namespace referee::reantics;

namespace {

constexpr int WORKERS = 2;
constexpr int NEAR = 5;  // an enemy is near when its y is at most this: our side and the middle
constexpr int FRAIL = 4;  // a queen with so little health left runs away

bool isQueen(const Ant& ant) { return ant.type == AntType::QUEEN; }
bool isWorker(const Ant& ant) { return ant.type == AntType::WORKER; }
bool isFighter(const Ant& ant) { return !isQueen(ant) && !isWorker(ant); }

constexpr ConstructionType NOTHING{};

template <class T>
using Tiles = std::array<std::array<T, BOARD_LENGTH>, BOARD_LENGTH>;

// The state, laid out by tile.
struct Board {
    explicit Board(const GameState& state)
        : mine(state.inventories[state.whoseTurn]), theirs(state.inventories[1 - state.whoseTurn]) {
        for (auto& column : constr) column.fill(NOTHING);
        for (auto& column : ants) column.fill(false);
        for (const auto& inventory : state.inventories) {
            for (const auto& there : inventory.constrs) constr[there.coords.x][there.coords.y] = there.type;
            for (const auto& there : inventory.ants) ants[there.coords.x][there.coords.y] = true;
        }
    }

    ConstructionType at(Coord tile) const { return constr[tile.x][tile.y]; }
    bool hasAnt(Coord tile) const { return ants[tile.x][tile.y]; }
    bool isGrass(Coord tile) const { return at(tile) == ConstructionType::GRASS; }

    const Inventory& mine;
    const Inventory& theirs;
    Tiles<ConstructionType> constr;  // NOTHING = none
    Tiles<bool> ants;
};

// When an ant can be somewhere: after how many more ENDs, and how many of its moves it has then spent.
struct Arrival {
    int turns = 0;
    int spent = 0;
};
bool operator<(Arrival a, Arrival b) { return a.turns != b.turns ? a.turns < b.turns : a.spent < b.spent; }
constexpr Arrival NEVER{1000, 0};

// The quickest ways of one kind of ant from one tile to all others. A tile with an ant on it can be entered a turn
// later at the earliest, so the part of a way that is walked in this turn is always free.
class Ways {
   public:
    Ways(const Board& board, Coord from, AntType type) : board_(board), from_(from), type_(type) {
        for (auto& column : arrival_) column.fill(NEVER);
        set(from, {0, 0}, from);
        std::priority_queue<std::pair<std::array<int, 2>, Coord>, std::vector<std::pair<std::array<int, 2>, Coord>>,
                            std::greater<>>
            open;
        open.push({{0, 0}, from});
        while (!open.empty()) {
            const auto [key, tile] = open.top();
            open.pop();
            if (arrival(tile) < Arrival{key[0], key[1]}) continue;  // a quicker way was found meanwhile
            for (const Coord next : {Coord{tile.x - 1, tile.y}, Coord{tile.x + 1, tile.y}, Coord{tile.x, tile.y - 1},
                                     Coord{tile.x, tile.y + 1}}) {
                if (!mayEnter(next)) continue;
                const Arrival then = enter(next, arrival(tile));
                if (!(then < arrival(next))) continue;
                set(next, then, tile);
                open.push({{then.turns, then.spent}, next});
            }
        }
    }

    Arrival arrival(Coord tile) const { return arrival_[tile.x][tile.y]; }

    // All tiles where the ant can be in this turn, its own first.
    std::vector<Coord> now() const {
        std::vector<Coord> tiles{from_};
        for (int x = 0; x < BOARD_LENGTH; ++x) {
            for (int y = 0; y < BOARD_LENGTH; ++y) {
                if (Coord{x, y} != from_ && arrival({x, y}).turns == 0) tiles.push_back({x, y});
            }
        }
        return tiles;
    }

    // This turn's part of the way to `to`, the ant's own tile first.
    std::vector<Coord> path(Coord to) const {
        std::vector<Coord> tiles;
        if (arrival(to).turns < NEVER.turns) {
            for (Coord tile = to; tile != from_; tile = before_[tile.x][tile.y]) {
                if (arrival(tile).turns == 0) tiles.push_back(tile);
            }
        }
        tiles.push_back(from_);
        std::reverse(tiles.begin(), tiles.end());
        return tiles;
    }

   private:
    bool mayEnter(Coord tile) const {
        return legalCoord(tile) && !(type_ == AntType::QUEEN && (tile.y == 4 || tile.y == 5));
    }

    Arrival enter(Coord tile, Arrival before) const {
        const int cost = board_.isGrass(tile) && !statsOf(type_).ignoresGrass ? 2 : 1;
        const int moves = statsOf(type_).movement;
        if (board_.hasAnt(tile)) return {before.turns + 1, cost};
        if (before.spent + cost <= moves) return {before.turns, before.spent + cost};
        return {before.turns + 1, std::min(cost, moves)};
    }

    void set(Coord tile, Arrival arrival, Coord before) {
        arrival_[tile.x][tile.y] = arrival;
        before_[tile.x][tile.y] = before;
    }

    const Board& board_;
    Coord from_;
    AntType type_;
    Tiles<Arrival> arrival_;
    Tiles<Coord> before_;
};

constexpr std::initializer_list<ConstructionType> BUILDINGS = {ConstructionType::ANTHILL, ConstructionType::TUNNEL};

std::vector<Coord> find(const std::vector<Construction>& constrs, std::initializer_list<ConstructionType> types) {
    std::vector<Coord> tiles;
    for (const auto& constr : constrs) {
        if (std::find(types.begin(), types.end(), constr.type) != types.end()) tiles.push_back(constr.coords);
    }
    return tiles;
}

std::vector<Coord> nearEnemies(const Board& board) {
    std::vector<Coord> tiles;
    for (const auto& enemy : board.theirs.ants) {
        if (enemy.coords.y <= NEAR) tiles.push_back(enemy.coords);
    }
    return tiles;
}

// The tile with the least `rank`; the first of equals. `tiles` is not empty.
template <class Rank>
Coord best(const std::vector<Coord>& tiles, Rank rank) {
    return *std::min_element(tiles.begin(), tiles.end(), [&](Coord a, Coord b) { return rank(a) < rank(b); });
}

Move walk(const Ways& ways, Coord to) { return {MoveType::MOVE_ANT, ways.path(to)}; }

// A move that attacks one of `targets` in this turn: from the tile that is quickest to reach.
std::optional<Move> attackNow(const Ways& ways, const Ant& ant, const std::vector<Coord>& targets) {
    std::vector<Coord> stands;
    for (const Coord tile : ways.now()) {
        const auto inRange = [&](Coord target) { return approxDist(tile, target) <= statsOf(ant.type).range; };
        if (std::any_of(targets.begin(), targets.end(), inRange)) stands.push_back(tile);
    }
    if (stands.empty()) return std::nullopt;
    return walk(ways, best(stands, [&](Coord tile) { return ways.arrival(tile); }));
}

// A worker goes for food, or home with it, to whichever is reached first.
std::optional<Move> work(const Board& board, const Ant& worker, const std::vector<Coord>& foods) {
    const auto goals = worker.carrying ? find(board.mine.constrs, BUILDINGS) : foods;
    if (goals.empty()) return std::nullopt;
    const Ways ways(board, worker.coords, AntType::WORKER);
    const Move move = walk(ways, best(goals, [&](Coord goal) { return ways.arrival(goal); }));
    if (move.coordList->size() == 1) return std::nullopt;
    return move;
}

// Two workers that got no work and block each other: the first steps aside.
std::optional<Move> stepAside(const Board& board) {
    std::vector<Ant> waiting;
    for (const auto& ant : board.mine.ants) {
        if (isWorker(ant) && !ant.hasMoved) waiting.push_back(ant);
    }
    if (waiting.size() < 2) return std::nullopt;
    const Coord from = waiting.front().coords;
    const Ways ways(board, from, AntType::WORKER);
    const Coord to = best(ways.now(), [&](Coord tile) { return std::make_pair(tile == from, ways.arrival(tile)); });
    if (to == from) return std::nullopt;
    return walk(ways, to);
}

// A fighter attacks whom it can, else walks towards the enemy that it reaches first, else leaves the tiles that the
// workers need.
std::optional<Move> fight(const Board& board, const Ant& fighter, const std::vector<Coord>& enemies) {
    const Ways ways(board, fighter.coords, fighter.type);
    if (const auto attack = attackNow(ways, fighter, enemies)) return attack;
    if (!enemies.empty()) {
        const Move move = walk(ways, best(enemies, [&](Coord enemy) { return ways.arrival(enemy); }));
        if (move.coordList->size() > 1) return move;
    } else if (board.at(fighter.coords) != NOTHING || fighter.coords.y < 3) {
        std::vector<Coord> posts;
        for (int x = 0; x < BOARD_LENGTH; ++x) {
            for (int y = 3; y <= 4; ++y) {
                if (board.at({x, y}) == NOTHING) posts.push_back({x, y});
            }
        }
        if (posts.empty()) return std::nullopt;
        const Move move = walk(ways, best(posts, [&](Coord post) { return ways.arrival(post); }));
        if (move.coordList->size() > 1) return move;
    }
    return std::nullopt;
}

// The queen strikes at who comes near, runs when she is frail, and otherwise keeps off the tiles that others need.
std::optional<Move> rule(const Board& board, const Ant& queen, const std::vector<Coord>& enemies) {
    const Ways ways(board, queen.coords, AntType::QUEEN);
    if (queen.health > FRAIL || ways.now().size() == 1) {
        if (const auto attack = attackNow(ways, queen, enemies)) return attack;
    }
    const auto danger = [&](Coord tile) {
        int sum = 0;
        for (const auto& enemy : board.theirs.ants) {
            if (isFighter(enemy)) sum += std::max(0, 8 - approxDist(tile, enemy.coords));
        }
        return sum;
    };
    const Coord to = best(ways.now(), [&](Coord tile) {
        const bool inTheWay = board.at(tile) != NOTHING && !board.isGrass(tile);
        const bool frail = queen.health <= FRAIL;
        return std::array<int, 3>{inTheWay, frail ? danger(tile) : 0, tile.y};
    });
    if (to == queen.coords) return std::nullopt;
    return walk(ways, to);
}

// What the anthill should make now, if anything: soldiers against enemies that are near, else the second worker.
std::optional<AntType> wanted(const Board& board, std::size_t enemies) {
    const auto& ants = board.mine.ants;
    const auto workers = std::count_if(ants.begin(), ants.end(), isWorker);
    const auto fighters = std::count_if(ants.begin(), ants.end(), isFighter);
    if (workers == 0) return AntType::WORKER;
    if (fighters < static_cast<std::ptrdiff_t>(enemies)) return AntType::SOLDIER;
    if (workers < WORKERS) return AntType::WORKER;
    return std::nullopt;
}

}  // namespace

class Forager : public ReAnticsBot {
   public:
    using ReAnticsBot::ReAnticsBot;

    // Anthill and tunnel share our side, so that no tile of it is far from both; the grass lies where food would be
    // farthest.
    std::vector<Coord> getPlacement(const GameState& currentState) override {
        if (currentState.phase == Phase::SETUP_PHASE_1) {
            return {{2, 1}, {7, 1}, {0, 3}, {4, 3}, {5, 3}, {9, 3}, {0, 0}, {9, 0}, {4, 0}, {5, 0}, {1, 3}};
        }
        return farFromHome(currentState);
    }

    Move getMove(const GameState& currentState) override {
        const Board board(currentState);
        const auto enemies = nearEnemies(board);
        const auto foods = find(currentState.inventories[2].constrs, {ConstructionType::FOOD});
        for (const auto& ant : board.mine.ants) {
            if (ant.hasMoved) continue;
            const auto move = isQueen(ant)    ? rule(board, ant, enemies)
                              : isWorker(ant) ? work(board, ant, foods)
                                              : fight(board, ant, enemies);
            if (move) return *move;
        }
        if (const auto move = stepAside(board)) return *move;
        const Coord hill = find(board.mine.constrs, {ConstructionType::ANTHILL}).front();
        const auto type = wanted(board, enemies.size());
        if (type && !board.hasAnt(hill) && board.mine.foodCount >= statsOf(*type).cost) {
            return {MoveType::BUILD, {{hill}}, type};
        }
        return {MoveType::END};
    }

    // An ant that one blow kills, then one on our buildings, then the weakest.
    Coord getAttack(const GameState& currentState, const Ant& attackingAnt,
                    const std::vector<Coord>& enemyLocations) override {
        const Board board(currentState);
        return best(enemyLocations, [&](Coord tile) {
            const auto& ants = board.theirs.ants;
            const auto enemy = std::find_if(ants.begin(), ants.end(), [&](const Ant& a) { return a.coords == tile; });
            const bool survives = enemy->health > statsOf(attackingAnt.type).attack;
            const bool harmless = board.at(tile) != ConstructionType::ANTHILL;
            return std::array<int, 4>{!isQueen(*enemy), survives, harmless, enemy->health};
        });
    }

   private:
    // The two free tiles of the enemy's side that are the longest way from its anthill and its tunnel.
    static std::vector<Coord> farFromHome(const GameState& state) {
        const Board board(state);
        std::vector<std::pair<Arrival, Coord>> tiles;
        std::vector<Ways> homes;
        for (const Coord home : find(board.theirs.constrs, BUILDINGS)) homes.emplace_back(board, home, AntType::WORKER);
        for (int x = 0; x < BOARD_LENGTH; ++x) {
            for (int y = 6; y < BOARD_LENGTH; ++y) {
                if (board.at({x, y}) != NOTHING) continue;
                Arrival nearest = NEVER;
                for (const auto& home : homes) nearest = std::min(nearest, home.arrival({x, y}));
                tiles.push_back({nearest, {x, y}});
            }
        }
        std::sort(tiles.begin(), tiles.end(), [](const auto& a, const auto& b) { return b.first < a.first; });
        return {tiles[0].second, tiles[1].second};
    }
};

int main() { return run<Forager>("Forager (C++)"); }
