// Looks six plies ahead on a board that it keeps from the events, and flips the table when, and only when, the rival's
// move was invalid or out of turn.

#include <referee/connectfour.h>

enum { DEPTH = 6, STRIDE = CONNECTFOUR_ROWS + 1 };
static const int ORDER[CONNECTFOUR_COLUMNS_COUNT] = {3, 2, 4, 1, 5, 0, 6};  // the columns from the middle outwards

// Seven bits a column from its lowest cell on, the seventh always 0. So two cells that are neighbours in a direction
// are the same number of bits apart everywhere, and no line runs over the edge.
typedef uint64_t Cells;

typedef struct {
    const char* me;
    bool yellowIsToMove;
    Cells mine, theirs;
    bool rivalWasInvalid;
} Dropper;

// The lowest free cell of a column; none if it is full.
static Cells landing(Cells taken, int column) {
    const Cells lowest = (Cells)1 << STRIDE * column;
    return (taken + lowest) & ((lowest << CONNECTFOUR_ROWS) - lowest);
}

static bool hasFour(Cells tokens) {
    static const int directions[] = {1, STRIDE - 1, STRIDE, STRIDE + 1};
    for (int i = 0; i < 4; ++i) {
        const Cells pairs = tokens & tokens >> directions[i];
        if (pairs & pairs >> 2 * directions[i]) return true;
    }
    return false;
}

// What the owner of `own`, who is to move, can reach within `depth` plies: above 0 a win, the sooner the higher; below
// 0 a loss. Only what lies between `low` and `high` matters. `best`, if wanted, becomes the column that leads there.
static int solve(Cells own, Cells rival, int depth, int low, int high, int* best) {
    int value = -DEPTH - 1;
    for (int i = 0; depth > 0 && i < CONNECTFOUR_COLUMNS_COUNT && value < high; ++i) {
        const Cells cell = landing(own | rival, ORDER[i]);
        if (!cell) continue;
        const int floor = value > low ? value : low;
        const int reply = hasFour(own | cell) ? depth : -solve(rival, own | cell, depth - 1, -high, -floor, NULL);
        if (reply > value) {
            value = reply;
            if (best) *best = ORDER[i];
        }
    }
    return value < -DEPTH ? 0 : value;  // a full board, or the end of what it looks at
}

static connectfour_action play(referee_match* match, const char* id) {
    (void)id;
    Dropper* self = match->memory;
    if (self->rivalWasInvalid) return (connectfour_action){.action = CONNECTFOUR_FLIP};
    int column = 0;
    solve(self->mine, self->theirs, DEPTH, -DEPTH, DEPTH, &column);
    return (connectfour_action){.action = "putToken", .column = CONNECTFOUR_COLUMNS[column]};
}

// The cell that a legal move fills; none for every other answer.
static Cells filled(const Dropper* self, const connectfour_arena_event* event) {
    if (!referee_is_text(event->action, "putToken")) return 0;
    for (int column = 0; column < CONNECTFOUR_COLUMNS_COUNT; ++column) {
        if (referee_is_text(event->column, CONNECTFOUR_COLUMNS[column]))
            return landing(self->mine | self->theirs, column);
    }
    return 0;
}

// `player` decides what kind of event it is: an invalid answer is shown with all its members, and one of them may well
// be called `winner`.
static void event(referee_match* match, const connectfour_arena_event* event) {
    Dropper* self = match->memory;
    if (!event->player) {
        if (event->youAre) self->me = referee_keep_text(match, event->youAre);
        return;
    }
    const bool isMine = self->me && strcmp(event->player, self->me) == 0;
    const bool inTurn = strcmp(event->player, self->yellowIsToMove ? CONNECTFOUR_YELLOW : CONNECTFOUR_RED) == 0;
    const Cells cell = inTurn ? filled(self, event) : 0;
    if (cell) {
        *(isMine ? &self->mine : &self->theirs) |= cell;
        self->yellowIsToMove = !self->yellowIsToMove;
    }
    if (!isMine) self->rivalWasInvalid = !cell;
}

int main(void) {
    return connectfour_run(
        &(connectfour_bot){.name = "Dropper (C)", .memory = sizeof(Dropper), .play = play, .event = event});
}
