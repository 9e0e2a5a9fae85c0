// Answers each position with the results of the kit's functions for AIBG 5, like hexgrid.py.

#include <referee/hexgrid.h>
#include <stdio.h>

static char text[1 << 16];
static size_t length;

static void say(const char* word) { length += (size_t)sprintf(text + length, "%s", word); }

static void say_flag(bool value) { say(value ? "yes " : "no "); }

static void say_cells(aibg5_cell_list cells) {
    for (size_t i = 0; i < cells.count; ++i) {
        length += (size_t)sprintf(text + length, "%s%d,%d", i ? " " : "", cells.items[i].q, cells.items[i].r);
    }
}

static aibg5_action do_action(referee_match* match, int player_idx, const aibg5_game_state* state,
                              const char* message) {
    (void)player_idx, (void)message;
    const aibg5_player* me = state->player1;
    const aibg5_cell here = {me->q, me->r}, there = {me->kills, me->deaths};
    length = (size_t)sprintf(text, "%d;", aibg5_distance(here, there));
    say_flag(aibg5_is_on_board(here));
    say_flag(aibg5_is_on_board(there));
    say(";");
    say_cells(aibg5_neighbours(match, here));
    say(";");
    say_cells(aibg5_within(match, here, me->level));
    say(";");
    say_cells(aibg5_ring(match, me->level));
    say(";");
    say_cells(aibg5_line_of_fire(match, here, there));
    say(";");
    say_flag(aibg5_may_enter(state, there));
    say_flag(aibg5_is_target(state, there));
    say(";");
    aibg5_cell hit;
    if (aibg5_find_hit(match, state, here, there, &hit)) {
        say_cells((aibg5_cell_list){&hit, 1});
    } else {
        say("-");
    }
    say(";");
    say_cells(aibg5_targets_from(match, state, here));
    return (aibg5_action){text};
}

int main(void) { return aibg5_run(&(aibg5_bot){.name = "Hexes", .do_action = do_action}); }
