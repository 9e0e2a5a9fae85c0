// The board of AIBG 5 to walk and to shoot on: distances, neighbours, rings, lines of fire, and what stands where.
//
// A cell is (q, r). r is the row and grows downwards, q grows to the right along a row; the third coordinate of a
// hexagon is -q-r. The board holds the cells at most RADIUS from the centre, (0, 0).

#pragma once

#include <algorithm>
#include <cstdlib>
#include <referee/aibg5.hpp>
#include <string_view>

namespace referee::aibg5 {

struct Cell {
    int q = 0;
    int r = 0;
};

inline bool operator==(Cell one, Cell other) { return one.q == other.q && one.r == other.r; }
inline bool operator!=(Cell one, Cell other) { return !(one == other); }

inline Cell cellOf(const Player& player) { return {player.q, player.r}; }
inline Cell cellOf(const AttackedTile& tile) { return {tile.q, tile.r}; }

constexpr Cell CENTRE{0, 0};

// East, south-east, south-west, west, north-west, north-east.
constexpr std::array<Cell, 6> DIRECTIONS = {{{1, 0}, {0, 1}, {-1, 1}, {-1, 0}, {0, -1}, {1, -1}}};

// Steps from one cell to the other; from CENTRE, the cell's ring.
inline int distance(Cell one, Cell other) {
    const int dq = other.q - one.q, dr = other.r - one.r;
    return std::max({std::abs(dq), std::abs(dr), std::abs(dq + dr)});
}

inline bool isOnBoard(Cell cell) { return distance(CENTRE, cell) <= RADIUS; }

// The cells of the board at most so far from this one, row by row.
inline std::vector<Cell> within(Cell middle, int steps) {
    std::vector<Cell> cells;
    for (int r = middle.r - steps; r <= middle.r + steps; ++r) {
        for (int q = middle.q - steps; q <= middle.q + steps; ++q) {
            if (isOnBoard({q, r}) && distance(middle, {q, r}) <= steps) cells.push_back({q, r});
        }
    }
    return cells;
}

// All cells, row by row.
inline const std::vector<Cell> CELLS = within(CENTRE, RADIUS);

// The neighbouring cells on the board, in the order of DIRECTIONS.
inline std::vector<Cell> neighbours(Cell cell) {
    std::vector<Cell> found;
    for (const auto way : DIRECTIONS) {
        const Cell beside{cell.q + way.q, cell.r + way.r};
        if (isOnBoard(beside)) found.push_back(beside);
    }
    return found;
}

// The cells of a ring around the centre, clockwise from (0, -radius).
inline std::vector<Cell> ring(int radius) {
    if (radius == 0) return {CENTRE};
    std::vector<Cell> cells;
    Cell cell{0, -radius};
    for (const auto way : DIRECTIONS) {
        for (int step = 0; step < radius; ++step) {
            cells.push_back(cell);
            cell = {cell.q + way.q, cell.r + way.r};
        }
    }
    return cells;
}

// part / steps as a whole number, halves upwards.
inline int roundedPart(int part, int steps) {
    const auto quotient = std::div(2 * part + steps, 2 * steps);
    return quotient.rem < 0 ? quotient.quot - 1 : quotient.quot;  // division here rounds towards 0
}

// The cell nearest to (q / steps, r / steps): halves go up, and the worst rounded coordinate is corrected.
inline Cell rounded(int q, int r, int steps) {
    const Cell near{roundedPart(q, steps), roundedPart(r, steps)};
    const int s = roundedPart(-q - r, steps);
    const int qError = std::abs(near.q * steps - q);
    const int rError = std::abs(near.r * steps - r);
    const int sError = std::abs(s * steps + q + r);
    if (qError > rError && qError > sError) return {-near.r - s, near.r};
    return rError > sError ? Cell{near.q, -near.q - s} : near;
}

// The cells strictly between, nearest first.
inline std::vector<Cell> lineOfFire(Cell shooter, Cell target) {
    const int steps = distance(shooter, target);
    std::vector<Cell> line;
    for (int i = 1; i < steps; ++i) {
        const auto offset = rounded((target.q - shooter.q) * i, (target.r - shooter.r) * i, steps);
        line.push_back({shooter.q + offset.q, shooter.r + offset.r});
    }
    return line;
}

// What a call shows. It refers to the state.
class Board {
   public:
    explicit Board(const GameState& state) : rows_(state.map.tiles) {
        for (const auto* player : {&state.player1, &state.player2, &state.player3, &state.player4}) {
            if (*player) players.push_back(&**player);
        }
    }

    std::vector<const Player*> players;  // without the disqualified

    // `cell` is on the board.
    const Tile& tile(Cell cell) const {
        return rows_[cell.r + RADIUS][cell.q - std::max(-RADIUS, -RADIUS - cell.r)];
    }

    // Null: nobody.
    const Player* playerOn(Cell cell) const {
        for (const auto* player : players) {
            if (cellOf(*player) == cell) return player;
        }
        return nullptr;
    }

    // Nobody and nothing is in the way; false for a wormhole too, whose exit may be blocked, and off the board.
    bool mayEnter(Cell cell) const {
        if (!isOnBoard(cell)) return false;
        const Tile& there = tile(cell);
        return there.tileType == TileType::NORMAL && there.entity.type != EntityType::WORMHOLE && !playerOn(cell);
    }

    // A player, an asteroid or the boss is there; false off the board, too.
    bool isTarget(Cell cell) const {
        return isOnBoard(cell) && (playerOn(cell) || isOneOf(cell, {EntityType::ASTEROID, EntityType::BOSS}));
    }

    // The cell that an attack on `target` really hits; none if the attack is not legal.
    std::optional<Cell> hit(Cell shooter, Cell target) const {
        const int steps = distance(shooter, target);
        if (!isOnBoard(shooter) || steps == 0 || steps > ATTACK_RANGE || !isTarget(target)) return std::nullopt;
        for (const auto cell : lineOfFire(shooter, target)) {
            if (isTarget(cell)) return cell;
            if (isOneOf(cell, {EntityType::BLACKHOLE, EntityType::WORMHOLE})) return std::nullopt;
        }
        return target;
    }

    // The cells that may be attacked, row by row.
    std::vector<Cell> targets(Cell shooter) const {
        std::vector<Cell> found;
        for (const auto cell : within(shooter, ATTACK_RANGE)) {
            if (hit(shooter, cell)) found.push_back(cell);
        }
        return found;
    }

   private:
    bool isOneOf(Cell cell, std::initializer_list<EntityType> types) const {
        return std::find(types.begin(), types.end(), tile(cell).entity.type) != types.end();
    }

    const std::vector<std::vector<Tile>>& rows_;
};

inline Action move(Cell cell) { return {"move," + std::to_string(cell.q) + "," + std::to_string(cell.r)}; }
inline Action attack(Cell cell) { return {"attack," + std::to_string(cell.q) + "," + std::to_string(cell.r)}; }

}  // namespace referee::aibg5
