// Says of every position what the kit's functions for ReAntics make of it: as ants.py.
#include <referee/ants.h>
#include <stdio.h>

enum { EVERY = 5 };

static void tiles(const char* before, CoordList path) {
    for (size_t i = 0; i < path.count; ++i) printf("%s%d,%d", i ? " " : before, path.items[i].x, path.items[i].y);
}

static void position(const char* head, const GameState* state) {
    printf("%s %d", head, state->whoseTurn);
    for (int player = 0; player < 2; ++player) {
        const Inventory* inventory = &state->inventories.items[player];
        printf(" food %d", inventory->foodCount);
        for (size_t i = 0; i < inventory->ants.count; ++i) {
            const Ant* ant = &inventory->ants.items[i];
            printf(" %d,%d %d %d %d %d", ant->coords.x, ant->coords.y, ant->id, ant->type, ant->player, ant->health);
            printf("%s%s", ant->carrying ? " carrying" : "", ant->hasMoved ? " moved" : "");
        }
        for (size_t i = 0; i < inventory->constrs.count; ++i) {
            const Construction* constr = &inventory->constrs.items[i];
            printf(" %d,%d %d %d", constr->coords.x, constr->coords.y, constr->type, constr->captureHealth.value);
        }
    }
    printf("\n");
}

static void report(Match* match, const GameState* state) {
    const Ant* queen = referee_get_curr_player_queen(state);
    printf("winner %d\n", referee_get_winner(state));
    if (queen) printf("queen %d,%d\n", queen->coords.x, queen->coords.y);
    else printf("queen -\n");
    CoordList goals = referee_new_coord_list(match, 100);
    size_t number = 0;
    for (int player = 0; player < 3; ++player) {
        const ConstructionList constrs = state->inventories.items[player].constrs;
        for (size_t i = 0; i < constrs.count; ++i) {
            if (number++ % 4 == 0) goals.items[goals.count++] = constrs.items[i].coords;
        }
    }
    const AntList ants = referee_get_curr_player_inventory(state)->ants;
    for (size_t i = 0; i < ants.count; ++i) {
        const Ant* ant = &ants.items[i];
        const UnitStats* stats = &UNIT_STATS[ant->type];
        const Construction* under = referee_get_constr_at(state, ant->coords);
        printf("ant %d,%d ", ant->coords.x, ant->coords.y);
        if (under) printf("%d\nsteps", under->type);
        else printf("none\nsteps");
        for (int to = 0; to < 100; to += 7) {
            printf(" %d", referee_steps_to_reach(state, ant->coords, (Coord){to / 10, to % 10}));
        }
        printf("\nnear");
        tiles(" ", referee_list_reachable_adjacent(match, state, ant->coords, stats->movement, stats->ignoresGrass));
        printf("\nrange");
        tiles(" ", referee_list_attackable(match, ant->coords, stats->range));
        printf("\ntoward");
        for (size_t j = 0; j < goals.count; ++j) {
            const Coord goal = goals.items[j];
            tiles(j ? ";" : " ", referee_create_path_toward(match, state, ant->coords, goal, stats->movement));
        }
        const PathList paths =
            referee_list_all_movement_paths(match, state, ant->coords, stats->movement, stats->ignoresGrass);
        printf("\npaths %zu", paths.count);
        tiles(" ", paths.items[paths.count / 2]);
        printf("\n");
    }
    const MoveList moves = referee_list_all_legal_moves(match, state);
    for (size_t i = 0; i < moves.count; ++i) {
        const Move* move = &moves.items[i];
        printf("move %d ", move->moveType);
        tiles("", move->coordList);
        printf(" %d\n", move->buildType.present ? move->buildType.value : 0);
        if (i % EVERY != 0) continue;
        position("next", referee_get_next_state(match, state, move));
        position("then", referee_get_next_state_adversarial(match, state, move));
    }
}

static CoordList getPlacement(Match* match, const GameState* state) {
    return (void)state, referee_new_coord_list(match, 1);
}

static Move getMove(Match* match, const GameState* state) {
    report(match, state);
    printf("=\n");
    return (Move){.moveType = END};
}

static Coord getAttack(Match* match, const GameState* state, const Ant* ant, CoordList enemies) {
    return (void)match, (void)state, (void)ant, enemies.items[0];
}

int main(void) {
    return referee_run(&(ReAnticsBot){
        .name = "Ants", .getPlacement = getPlacement, .getMove = getMove, .getAttack = getAttack});
}
