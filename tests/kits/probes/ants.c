// Says of every position what the kit's functions for ReAntics make of it: as ants.py.
#include <referee/ants.h>
#include <stdio.h>

enum { EVERY = 5 };

static void tiles(const char* before, reantics_coord_list path) {
    for (size_t i = 0; i < path.count; ++i) printf("%s%d,%d", i ? " " : before, path.items[i].x, path.items[i].y);
}

static void position(const char* head, const reantics_game_state* state) {
    printf("%s %d", head, state->whose_turn);
    for (int player = 0; player < 2; ++player) {
        const reantics_inventory* inventory = &state->inventories.items[player];
        printf(" food %d", inventory->food_count);
        for (size_t i = 0; i < inventory->ants.count; ++i) {
            const reantics_ant* ant = &inventory->ants.items[i];
            printf(" %d,%d %d %d %d %d", ant->coords.x, ant->coords.y, ant->id, ant->type, ant->player, ant->health);
            printf("%s%s", ant->carrying ? " carrying" : "", ant->has_moved ? " moved" : "");
        }
        for (size_t i = 0; i < inventory->constrs.count; ++i) {
            const reantics_construction* constr = &inventory->constrs.items[i];
            printf(" %d,%d %d %d", constr->coords.x, constr->coords.y, constr->type, constr->capture_health.value);
        }
    }
    printf("\n");
}

static void report(referee_match* match, const reantics_game_state* state) {
    const reantics_ant* queen = reantics_get_curr_player_queen(state);
    printf("winner %d\n", reantics_get_winner(state));
    if (queen)
        printf("queen %d,%d\n", queen->coords.x, queen->coords.y);
    else
        printf("queen -\n");
    printf("health");
    for (reantics_ant_type type = REANTICS_QUEEN; type <= REANTICS_R_SOLDIER; ++type) {
        printf(" %d", reantics_stats_of(match, type).health);
    }
    printf("\n");
    reantics_coord_list goals = reantics_new_coord_list(match, 100);
    size_t number = 0;
    for (int player = 0; player < 3; ++player) {
        const reantics_construction_list constrs = state->inventories.items[player].constrs;
        for (size_t i = 0; i < constrs.count; ++i) {
            if (number++ % 4 == 0) goals.items[goals.count++] = constrs.items[i].coords;
        }
    }
    const reantics_ant_list ants = reantics_get_curr_player_inventory(state)->ants;
    for (size_t i = 0; i < ants.count; ++i) {
        const reantics_ant* ant = &ants.items[i];
        const reantics_unit_stats stats = reantics_stats_of(match, ant->type);
        const reantics_construction* under = reantics_get_constr_at(state, ant->coords);
        printf("ant %d,%d ", ant->coords.x, ant->coords.y);
        if (under)
            printf("%d\nsteps", under->type);
        else
            printf("none\nsteps");
        for (int to = 0; to < 100; to += 7) {
            printf(" %d", reantics_steps_to_reach(state, ant->coords, (reantics_coord){to / 10, to % 10}));
        }
        printf("\nnear");
        tiles(" ", reantics_list_reachable_adjacent(match, state, ant->coords, stats.movement, stats.ignores_grass));
        printf("\nrange");
        tiles(" ", reantics_list_attackable(match, ant->coords, stats.range));
        printf("\ntoward");
        for (size_t j = 0; j < goals.count; ++j) {
            const reantics_coord goal = goals.items[j];
            tiles(j ? ";" : " ", reantics_create_path_toward(match, state, ant->coords, goal, stats.movement));
        }
        const reantics_path_list paths =
            reantics_list_all_movement_paths(match, state, ant->coords, stats.movement, stats.ignores_grass);
        printf("\npaths %zu", paths.count);
        tiles(" ", paths.items[paths.count / 2]);
        printf("\n");
    }
    const reantics_move_list moves = reantics_list_all_legal_moves(match, state);
    for (size_t i = 0; i < moves.count; ++i) {
        const reantics_move* move = &moves.items[i];
        printf("move %d ", move->move_type);
        tiles("", move->coord_list);
        printf(" %d\n", move->build_type.present ? move->build_type.value : 0);
        if (i % EVERY != 0 && move->move_type != REANTICS_BUILD) continue;
        position("next", reantics_get_next_state(match, state, move));
        position("then", reantics_get_next_state_adversarial(match, state, move));
    }
}

static reantics_coord_list get_placement(referee_match* match, const reantics_game_state* state) {
    return (void)state, reantics_new_coord_list(match, 1);
}

static reantics_move get_move(referee_match* match, const reantics_game_state* state) {
    report(match, state);
    printf("=\n");
    return (reantics_move){.move_type = REANTICS_END};
}

static reantics_coord get_attack(referee_match* match, const reantics_game_state* state, const reantics_ant* ant,
                                 reantics_coord_list enemies) {
    return (void)match, (void)state, (void)ant, enemies.items[0];
}

int main(void) {
    return reantics_run(&(reantics_bot){
        .name = "Ants", .get_placement = get_placement, .get_move = get_move, .get_attack = get_attack});
}
