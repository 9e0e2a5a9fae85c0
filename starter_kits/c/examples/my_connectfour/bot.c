// Your Connect Four bot: it plays random legal moves as it stands; make it win. The types are in
// <referee/connectfour.h>.

#include <referee/connectfour.h>
#include <stdlib.h>

// What it remembers: `match->memory`, all zero when a match begins.
typedef struct {
    int filled[CONNECTFOUR_COLUMN_COUNT];
} my_bot;

// The same match gives the same luck.
static void begin(referee_match* match) { srand((unsigned)match->seed); }

static connectfour_action play(referee_match* match, const char* id) {
    (void)id;
    const my_bot* self = match->memory;
    connectfour_column open[CONNECTFOUR_COLUMN_COUNT];
    int count = 0;
    for (connectfour_column column = 0; column < CONNECTFOUR_COLUMN_COUNT; ++column) {
        if (self->filled[column] < CONNECTFOUR_ROWS) open[count++] = column;
    }
    // After an invalid move of the rival, (connectfour_action){CONNECTFOUR_ACTION_TYPE_FLIP} wins, and nothing else
    // does.
    return (connectfour_action){CONNECTFOUR_ACTION_TYPE_PUT_TOKEN, .column = referee_some(open[rand() % count])};
}

// Every answer is shown here, the rival's and your own, as it was sent.
static void event(referee_match* match, const connectfour_arena_event* event) {
    my_bot* self = match->memory;
    connectfour_action_type action;
    connectfour_column column;
    if (connectfour_read_action_type(match, event->action, &action) && action == CONNECTFOUR_ACTION_TYPE_PUT_TOKEN &&
        connectfour_read_column(match, event->column, &column)) {
        ++self->filled[column];
    }
}

int main(void) {
    return connectfour_run(&(connectfour_bot){
        .name = "My Connect Four bot", .memory = sizeof(my_bot), .begin = begin, .play = play, .event = event});
}
