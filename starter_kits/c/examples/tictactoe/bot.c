// A perfect player: keeps its own board from the events, looks ahead to the end of the game, and flips the table when,
// and only when, the rival's move was invalid or out of turn.

#include <referee/tictactoe.h>

static const int LINES[8][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}};

typedef struct {
    const char* me;
    bool xIsToMove;
    int board[TICTACTOE_CELLS_COUNT];  // in the order of TICTACTOE_CELLS: 0 empty, +1 mine, -1 the rival's
    bool rivalWasInvalid;
} Perfect;

static bool hasLine(const int* board, int side) {
    for (int i = 0; i < 8; ++i) {
        const int* line = LINES[i];
        if (board[line[0]] == side && board[line[1]] == side && board[line[2]] == side) return true;
    }
    return false;
}

// How the game ends for `side`, who is to move, when both play well: above 0 a win, the sooner the higher; below 0 a
// loss. `best`, if wanted, becomes the cell that leads there.
static int solve(int* board, int side, int* best) {
    int empty = 0, value = -100;
    for (int cell = 0; cell < TICTACTOE_CELLS_COUNT; ++cell) empty += board[cell] == 0;
    if (hasLine(board, -side)) return -1 - empty;
    if (empty == 0) return 0;
    for (int cell = 0; cell < TICTACTOE_CELLS_COUNT; ++cell) {
        if (board[cell] != 0) continue;
        board[cell] = side;
        const int reply = -solve(board, -side, NULL);
        board[cell] = 0;
        if (reply > value) {
            value = reply;
            if (best) *best = cell;
        }
    }
    return value;
}

static tictactoe_action play(referee_match* match, const char* id) {
    (void)id;
    Perfect* self = match->memory;
    if (self->rivalWasInvalid) return (tictactoe_action){.action = TICTACTOE_FLIP};
    int cell = 0;
    solve(self->board, 1, &cell);
    return (tictactoe_action){.action = "putSymbol", .position = TICTACTOE_CELLS[cell]};
}

// The cell that a legal move fills; NULL for every other answer.
static int* emptyCell(Perfect* self, const tictactoe_arena_event* event) {
    if (!referee_is_text(event->action, "putSymbol")) return NULL;
    for (int cell = 0; cell < TICTACTOE_CELLS_COUNT; ++cell) {
        if (referee_is_text(event->position, TICTACTOE_CELLS[cell]))
            return self->board[cell] == 0 ? &self->board[cell] : NULL;
    }
    return NULL;
}

// `player` decides what kind of event it is: an invalid answer is shown with all its members, and one of them may well
// be called `winner`.
static void event(referee_match* match, const tictactoe_arena_event* event) {
    Perfect* self = match->memory;
    if (!event->player) {
        if (event->youAre) self->me = referee_keep_text(match, event->youAre);
        return;
    }
    const int side = self->me && strcmp(event->player, self->me) == 0 ? 1 : -1;
    const bool inTurn = strcmp(event->player, self->xIsToMove ? "X" : "O") == 0;
    int* cell = inTurn ? emptyCell(self, event) : NULL;
    if (cell) {
        *cell = side;
        self->xIsToMove = !self->xIsToMove;
    }
    if (side == -1) self->rivalWasInvalid = !cell;
}

int main(void) {
    return tictactoe_run(
        &(tictactoe_bot){.name = "Perfect (C)", .memory = sizeof(Perfect), .play = play, .event = event});
}
