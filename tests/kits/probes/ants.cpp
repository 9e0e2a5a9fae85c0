// Says of every position what the kit's functions for ReAntics make of it: as ants.py.
#include <iostream>
#include <referee/ants.hpp>

using namespace referee;
using namespace referee::reantics;

constexpr std::size_t EVERY = 5;

template <class Choice>
int number(Choice choice) {
    return static_cast<int>(choice);
}

std::ostream& operator<<(std::ostream& out, Coord tile) { return out << tile.x << ',' << tile.y; }

std::ostream& operator<<(std::ostream& out, const std::vector<Coord>& path) {
    for (std::size_t i = 0; i < path.size(); ++i) out << (i ? " " : "") << path[i];
    return out;
}

std::ostream& operator<<(std::ostream& out, const GameState& state) {
    out << state.whoseTurn;
    for (int player : {0, 1}) {
        const auto& inventory = state.inventories[player];
        out << " food " << inventory.foodCount;
        for (const auto& ant : inventory.ants) {
            out << ' ' << ant.coords << ' ' << ant.id << ' ' << number(ant.type) << ' ' << ant.player << ' ' << ant.health
                << (ant.carrying ? " carrying" : "") << (ant.hasMoved ? " moved" : "");
        }
        for (const auto& constr : inventory.constrs) {
            out << ' ' << constr.coords << ' ' << number(constr.type) << ' ' << *constr.captureHealth;
        }
    }
    return out;
}

class Ants : public ReAnticsBot {
   public:
    using ReAnticsBot::ReAnticsBot;

    std::vector<Coord> getPlacement(const GameState&) override { return {}; }
    Coord getAttack(const GameState&, const Ant&, const std::vector<Coord>&) override { return {}; }

    Move getMove(const GameState& state) override {
        report(state, std::cout);
        std::cout << "=" << std::endl;
        return {MoveType::END};
    }

   private:
    static void report(const GameState& state, std::ostream& out) {
        const auto* queen = getCurrPlayerQueen(state);
        out << "winner " << getWinner(state).value_or(-1) << "\nqueen ";
        if (queen) out << queen->coords << '\n'; else out << "-\n";
        out << "health";
        for (const auto& stats : UNIT_STATS) out << ' ' << stats.health;
        out << '\n';
        std::vector<Coord> goals;
        std::size_t count = 0;
        for (const auto& inventory : state.inventories) {
            for (const auto& constr : inventory.constrs) {
                if (count++ % 4 == 0) goals.push_back(constr.coords);
            }
        }
        for (const auto& ant : getCurrPlayerInventory(state).ants) {
            const auto& stats = statsOf(ant.type);
            out << "ant " << ant.coords << ' ';
            const auto* under = getConstrAt(state, ant.coords);
            out << (under ? std::to_string(number(under->type)) : "none");
            out << "\nsteps";
            for (int i = 0; i < 100; i += 7) out << ' ' << stepsToReach(state, ant.coords, {i / 10, i % 10});
            out << "\nnear " << listReachableAdjacent(state, ant.coords, stats.movement, stats.ignoresGrass);
            out << "\nrange " << listAttackable(ant.coords, stats.range) << "\ntoward ";
            for (std::size_t i = 0; i < goals.size(); ++i) {
                out << (i ? ";" : "") << createPathToward(state, ant.coords, goals[i], stats.movement);
            }
            const auto paths = listAllMovementPaths(state, ant.coords, stats.movement, stats.ignoresGrass);
            out << "\npaths " << paths.size() << ' ' << paths[paths.size() / 2] << '\n';
        }
        const auto moves = listAllLegalMoves(state);
        for (std::size_t i = 0; i < moves.size(); ++i) {
            const auto& move = moves[i];
            out << "move " << number(move.moveType) << ' ' << move.coordList.value_or(std::vector<Coord>()) << ' '
                << (move.buildType ? number(*move.buildType) : 0) << '\n';
            if (i % EVERY != 0 && move.moveType != MoveType::BUILD) continue;
            out << "next " << getNextState(state, move) << "\nthen " << getNextStateAdversarial(state, move) << '\n';
        }
    }
};

int main() { return run<Ants>("Ants"); }
