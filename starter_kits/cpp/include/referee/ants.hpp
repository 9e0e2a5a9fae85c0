// What a bot asks of a position of ReAntics, under the names that the original gave its agents (rules, section 11.3).
//
// The functions look at the inventories and never at `board`. Orders, and paths that come twice, are part of what is
// promised.

#pragma once

#include <algorithm>
#include <cstdlib>
#include <referee/reantics.hpp>
#include <utility>

namespace referee::reantics {

// What an ant of a type can do.
struct UnitStats {
    int movement, health, attack, range;
    int cost;  // in food; a queen cannot be built
    bool ignoresGrass;
};

// By type of ant. The kit sets a worker's health to the option `worker_health` when a match begins, before the bot is
// made.
inline UnitStats UNIT_STATS[] = {
    {2, 10, 4, 1, 0, false}, {2, 4, 0, 1, 1, false}, {3, 4, 2, 1, 2, true},
    {2, 8, 4, 1, 2, false},  {1, 2, 3, 3, 2, true},
};
inline const UnitStats& statsOf(AntType type) { return UNIT_STATS[static_cast<int>(type)]; }

namespace detail {

inline void follow(const Match& match) {
    UNIT_STATS[static_cast<int>(AntType::WORKER)].health = static_cast<int>(match.option("worker_health").value_or(4));
}

[[maybe_unused]] static const bool follows = (on_match(&follow), true);

}  // namespace detail

// The index of the inventory that holds grass and food.
constexpr int NEUTRAL = 2;

// What stands where.

// Whether that is a tile of the board.
constexpr bool legalCoord(Coord tile) {
    return tile.x >= 0 && tile.x < BOARD_LENGTH && tile.y >= 0 && tile.y < BOARD_LENGTH;
}

// The ant on a tile; null: there is none.
inline const Ant* getAntAt(const GameState& state, Coord tile) {
    for (const auto& inventory : state.inventories) {
        for (const auto& ant : inventory.ants) {
            if (ant.coords == tile) return &ant;
        }
    }
    return nullptr;
}

// The construction on a tile; null: there is none.
inline const Construction* getConstrAt(const GameState& state, Coord tile) {
    for (const auto& inventory : state.inventories) {
        for (const auto& constr : inventory.constrs) {
            if (constr.coords == tile) return &constr;
        }
    }
    return nullptr;
}

// What the player to move has.
inline const Inventory& getCurrPlayerInventory(const GameState& state) { return state.inventories[state.whoseTurn]; }
inline Inventory& getCurrPlayerInventory(GameState& state) { return state.inventories[state.whoseTurn]; }

// What the opponent of the player to move has.
inline const Inventory& getEnemyInv(const GameState& state) { return state.inventories[1 - state.whoseTurn]; }
inline Inventory& getEnemyInv(GameState& state) { return state.inventories[1 - state.whoseTurn]; }

// A player's queen; null if she is dead or not yet placed.
inline const Ant* queenOf(const Inventory& inventory) {
    for (const auto& ant : inventory.ants) {
        if (ant.type == AntType::QUEEN) return &ant;
    }
    return nullptr;
}

// A player's anthill; null before it is placed.
inline const Construction* anthillOf(const Inventory& inventory) {
    for (const auto& constr : inventory.constrs) {
        if (constr.type == ConstructionType::ANTHILL) return &constr;
    }
    return nullptr;
}

namespace detail {

inline Ant* antOf(Inventory& inventory, Coord tile) {
    for (auto& ant : inventory.ants) {
        if (ant.coords == tile) return &ant;
    }
    return nullptr;
}

inline bool hasWon(const GameState& state, int player) {
    const auto &own = state.inventories[player], &enemy = state.inventories[1 - player];
    const auto* hill = anthillOf(enemy);
    if (!queenOf(enemy) || (hill && hill->captureHealth.value_or(1) <= 0)) return true;
    return own.foodCount >= FOOD_GOAL || (enemy.foodCount == 0 && enemy.ants.size() == 1);
}

// Left, right, above, below.
constexpr Coord STEPS[] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};

constexpr Coord beside(Coord tile, Coord step) { return {tile.x + step.x, tile.y + step.y}; }

}  // namespace detail

// The queen of the player to move; null if there is none.
inline const Ant* getCurrPlayerQueen(const GameState& state) {
    return queenOf(getCurrPlayerInventory(state));
}

// 1 if the player to move has won, 0 if its opponent has, else empty (section 6).
inline std::optional<int> getWinner(const GameState& state) {
    if (detail::hasWon(state, state.whoseTurn)) return 1;
    if (detail::hasWon(state, 1 - state.whoseTurn)) return 0;
    return std::nullopt;
}

// Distances and ways.

// Columns plus rows between two tiles.
inline int approxDist(Coord one, Coord other) { return std::abs(one.x - other.x) + std::abs(one.y - other.y); }

// The tiles left, right, above and below, in this order, as far as they are on the board.
inline std::vector<Coord> listAdjacent(Coord tile) {
    std::vector<Coord> found;
    if (!legalCoord(tile)) return found;
    for (const Coord step : detail::STEPS) {
        const Coord near = detail::beside(tile, step);
        if (legalCoord(near)) found.push_back(near);
    }
    return found;
}

// The tiles at a distance of 1 to `reach`, by column and then by row.
inline std::vector<Coord> listAttackable(Coord tile, int reach = 1) {
    std::vector<Coord> found;
    for (int dx = -reach; dx <= reach; ++dx) {
        const int rest = reach - std::abs(dx);
        for (int dy = -rest; dy <= rest; ++dy) {
            const Coord near{tile.x + dx, tile.y + dy};
            if (near != tile && legalCoord(near)) found.push_back(near);
        }
    }
    return found;
}

namespace detail {

// What a walker has to know of a state, gathered once for many questions.
class Ground {
   public:
    using Paths = std::vector<std::vector<Coord>>;

    explicit Ground(const GameState& state) {
        for (auto& column : costs_) column.fill(1);
        for (const auto& inventory : state.inventories) {
            for (const auto& ant : inventory.ants) occupied_[ant.coords.x][ant.coords.y] = true;
            for (const auto& constr : inventory.constrs) costs_[constr.coords.x][constr.coords.y] = constr.movementCost;
        }
    }

    int cost(Coord tile) const { return costs_[tile.x][tile.y]; }

    // What is left of the movement when a tile has been entered; negative: it cannot be.
    int left(Coord tile, int movement, bool ignoresGrass) const {
        if (!legalCoord(tile) || occupied_[tile.x][tile.y]) return -1;
        return movement - (ignoresGrass ? 1 : cost(tile));
    }

    // Adds every path that goes on from the end of `way` to `found`.
    void paths(std::vector<Coord>& way, int movement, bool ignoresGrass, Paths& found) const {
        if (movement <= 0) return;
        std::array<std::pair<Coord, int>, 4> next;
        int count = 0;
        for (const Coord step : STEPS) {
            const Coord near = beside(way.back(), step);
            const int rest = left(near, movement, ignoresGrass);
            if (rest < 0) continue;
            next[count++] = {near, rest};
            way.push_back(near);
            found.push_back(way);
            way.pop_back();
        }
        for (int i = 0; i < count; ++i) {
            way.push_back(next[i].first);
            paths(way, next[i].second, ignoresGrass, found);
            way.pop_back();
        }
        found.push_back(way);
    }

    std::pair<std::vector<Coord>, int> toward(Coord tile, Coord goal, int movement, bool ignoresGrass) const {
        const int distance = approxDist(tile, goal);
        std::pair<std::vector<Coord>, int> best{{tile}, distance};
        if (distance == 0 || movement <= 0) return best;
        for (const Coord step : STEPS) {
            const Coord near = beside(tile, step);
            const int rest = left(near, movement, ignoresGrass);
            if (rest < 0) continue;
            auto further = toward(near, goal, rest, ignoresGrass);
            if (further.second >= best.second) continue;
            best = std::move(further);
            best.first.insert(best.first.begin(), tile);
            if (best.second == 0 || best.second == distance - movement) break;
        }
        return best;
    }

   private:
    std::array<std::array<bool, BOARD_LENGTH>, BOARD_LENGTH> occupied_{};
    std::array<std::array<int, BOARD_LENGTH>, BOARD_LENGTH> costs_;
};

}  // namespace detail

// The neighbours without an ant that cost at most `movement` to enter.
inline std::vector<Coord> listReachableAdjacent(const GameState& state, Coord tile, int movement,
                                                bool ignoresGrass = false) {
    const detail::Ground ground(state);
    auto found = listAdjacent(tile);
    const auto shut = [&](Coord near) { return ground.left(near, movement, ignoresGrass) < 0; };
    found.erase(std::remove_if(found.begin(), found.end(), shut), found.end());
    return found;
}

// Every path from a tile: first those of one step, then each of them with what may follow, at last staying. Shorter
// paths come more than once, since each step may be followed by staying. A queen's may leave her home.
inline std::vector<std::vector<Coord>> listAllMovementPaths(const GameState& state, Coord tile, int movement,
                                                            bool ignoresGrass = false) {
    std::vector<std::vector<Coord>> found;
    std::vector<Coord> way{tile};
    detail::Ground(state).paths(way, movement, ignoresGrass, found);
    return found;
}

// About what it costs to walk from one tile to another, grass at 2, ants not counted; -1 for no tile. Each tile is
// looked at once, in the order found: the way that is found first through grass may not be the cheapest.
inline int stepsToReach(const GameState& state, Coord from, Coord to) {
    if (!legalCoord(from) || !legalCoord(to)) return -1;
    const detail::Ground ground(state);
    std::array<std::array<int, BOARD_LENGTH>, BOARD_LENGTH> costs;
    for (auto& column : costs) column.fill(-1);
    std::vector<Coord> queue{from};
    costs[from.x][from.y] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
        const Coord here = queue[i];
        if (here == to) break;
        for (const Coord step : detail::STEPS) {
            const Coord near = detail::beside(here, step);
            if (!legalCoord(near)) continue;
            const int cost = costs[here.x][here.y] + ground.cost(near);
            int& known = costs[near.x][near.y];
            if (known < 0) queue.push_back(near);
            known = known < 0 ? cost : std::min(known, cost);
        }
    }
    return costs[to.x][to.y];
}

// The path that brings the ant on a tile nearest to another within `movement`, the first of equals. Each step is taken
// for the distance alone, so that it may stay where a way round would help.
inline std::vector<Coord> createPathToward(const GameState& state, Coord from, Coord to, int movement) {
    const auto* ant = getAntAt(state, from);
    return detail::Ground(state).toward(from, to, movement, ant && statsOf(ant->type).ignoresGrass).first;
}

// Moves.

// Whether a path keeps out of the two rows in the middle.
inline bool isPathOkForQueen(const std::vector<Coord>& path) {
    return std::none_of(path.begin(), path.end(), [](Coord tile) { return tile.y == 4 || tile.y == 5; });
}

// A MOVE_ANT for every path of every ant of the player to move that has not moved yet.
inline std::vector<Move> listAllMovementMoves(const GameState& state) {
    const detail::Ground ground(state);
    std::vector<Move> moves;
    for (const auto& ant : getCurrPlayerInventory(state).ants) {
        if (ant.hasMoved) continue;
        const auto& stats = statsOf(ant.type);
        std::vector<std::vector<Coord>> paths;
        std::vector<Coord> way{ant.coords};
        ground.paths(way, stats.movement, stats.ignoresGrass, paths);
        for (auto& path : paths) {
            if (ant.type == AntType::QUEEN && !isPathOkForQueen(path)) continue;
            moves.push_back({MoveType::MOVE_ANT, std::move(path)});
        }
    }
    return moves;
}

// A BUILD for every ant that the player to move can pay, if its anthill is free.
inline std::vector<Move> listAllBuildMoves(const GameState& state) {
    std::vector<Move> moves;
    const auto& own = getCurrPlayerInventory(state);
    const auto* hill = anthillOf(own);
    if (!hill || getAntAt(state, hill->coords)) return moves;
    for (const auto type : {AntType::WORKER, AntType::DRONE, AntType::SOLDIER, AntType::R_SOLDIER}) {
        if (own.foodCount >= statsOf(type).cost) moves.push_back({MoveType::BUILD, {{hill->coords}}, type});
    }
    return moves;
}

// All that the player to move may do: its ants' paths, what it can build, and END.
inline std::vector<Move> listAllLegalMoves(const GameState& state) {
    auto moves = listAllMovementMoves(state);
    for (auto& build : listAllBuildMoves(state)) moves.push_back(std::move(build));
    moves.push_back({MoveType::END});
    return moves;
}

// Looking ahead.

// A copy without `board`.
inline GameState clone(const GameState& state) {
    return {state.phase, state.whoseTurn, state.inventories, std::nullopt};
}

namespace detail {

inline int nextId(const GameState& state) {
    int most = -1;
    for (const auto& inventory : state.inventories) {
        for (const auto& ant : inventory.ants) most = std::max(most, ant.id);
    }
    return most + 1;
}

inline void carry(const GameState& state, Inventory& own, Ant& ant) {
    const auto* under = getConstrAt(state, ant.coords);
    if (!under) return;
    const bool isHome = under->type == ConstructionType::ANTHILL || under->type == ConstructionType::TUNNEL;
    if (ant.carrying && isHome && under->player == own.player) {
        ant.carrying = false;
        ++own.foodCount;
    }
    if (!ant.carrying && ant.type == AntType::WORKER && under->type == ConstructionType::FOOD) ant.carrying = true;
}

inline void attack(Inventory& enemy, const Ant& ant) {
    for (const Coord tile : listAttackable(ant.coords, statsOf(ant.type).range)) {
        Ant* target = antOf(enemy, tile);
        if (!target) continue;
        target->health -= statsOf(ant.type).attack;
        if (target->health <= 0) enemy.ants.erase(enemy.ants.begin() + (target - enemy.ants.data()));
        return;
    }
}

}  // namespace detail

// About what a move leads to, in a new state: an ant may move again, food is taken and dropped at once, and an ant
// attacks the first enemy that it finds. END changes nothing.
inline GameState getNextState(const GameState& state, const Move& move) {
    GameState after = clone(state);
    auto &own = getCurrPlayerInventory(after), &enemy = getEnemyInv(after);
    for (auto& hill : own.constrs) {
        const bool isHill = hill.type == ConstructionType::ANTHILL && hill.captureHealth;
        if (isHill && detail::antOf(enemy, hill.coords)) --*hill.captureHealth;
    }
    if (!move.coordList || move.coordList->empty()) return after;
    const auto& path = *move.coordList;
    if (move.moveType == MoveType::BUILD && move.buildType) {
        const auto& stats = statsOf(*move.buildType);
        const int id = detail::nextId(after);
        own.ants.push_back({id, path.front(), *move.buildType, after.whoseTurn, stats.health, false, false});
        own.foodCount -= stats.cost;
    } else if (move.moveType == MoveType::MOVE_ANT) {
        if (Ant* ant = detail::antOf(own, path.front())) {
            ant->coords = path.back();
            ant->hasMoved = false;
            detail::carry(after, own, *ant);
            detail::attack(enemy, *ant);
        }
    }
    return after;
}

// As `getNextState`, for searches over several turns: an ant that moves has moved, and END passes the turn on. The
// board is not turned: coordinates stay those of the player whose turn it was.
inline GameState getNextStateAdversarial(const GameState& state, const Move& move) {
    GameState after = getNextState(state, move);
    auto& own = getCurrPlayerInventory(after);
    if (move.moveType == MoveType::MOVE_ANT && move.coordList && !move.coordList->empty()) {
        if (Ant* ant = detail::antOf(own, move.coordList->back())) ant->hasMoved = true;
    } else if (move.moveType == MoveType::END) {
        for (auto& ant : own.ants) ant.hasMoved = false;
        after.whoseTurn = 1 - after.whoseTurn;
    }
    return after;
}

}  // namespace referee::reantics
