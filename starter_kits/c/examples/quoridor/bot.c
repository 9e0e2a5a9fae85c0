// Steps along its shortest way, puts a wall where it is behind and that gains more than a step, and flips the table
// when, and only when, the rival's answer was invalid.

#include <referee/quoridor.h>

enum { UP = 9, RIGHT = 1, DOWN = -9, LEFT = -1 };  // what a step adds to a square
enum { NOWHERE = -1 };
enum { SHUT_IN = 1000 };  // more steps than any way has
static const int STEPS[] = {UP, RIGHT, DOWN, LEFT};

// `square` is the one to the lower left of its middle, `direction` is h or v.
typedef struct {
    int square;
    char direction;
} Wall;

// Pawns and walls. A player is a seat: 0 is first, 1 is second.
typedef struct {
    bool up[81], right[81];  // whether the step up, or right, from a square is open
    bool middles[81];        // whether a wall has its middle at the square's upper right corner
    int pawns[2];
    int wallsLeft[2];
} Board;

typedef struct {
    int me;
    Board board;
    int toMove;
    bool rivalWasInvalid;
} Mason;

typedef struct {
    int squares[8];
    int count;
} Squares;

static void begin(referee_match* match) {
    Board* board = &((Mason*)match->memory)->board;
    for (int square = 0; square < 81; ++square) {
        board->up[square] = square < 72;
        board->right[square] = square % 9 < 8;
    }
    board->pawns[0] = 4;   // e1
    board->pawns[1] = 76;  // e9
    board->wallsLeft[0] = board->wallsLeft[1] = QUORIDOR_WALLS_EACH;
}

// a1 = 0, b1 = 1, a2 = 9; what begins with no square is NOWHERE.
static int squareOf(const char* name) {
    if (name[0] < 'a' || name[0] > 'i' || name[1] < '1' || name[1] > '9') return NOWHERE;
    return 9 * (name[1] - '1') + name[0] - 'a';
}

// With the direction of a wall behind it, or 0.
static const char* nameOf(referee_match* match, int square, char direction) {
    char* name = referee_allocate(match, 4);
    name[0] = (char)('a' + square % 9);
    name[1] = (char)('1' + square / 9);
    name[2] = direction;
    return name;
}

// The square one step on; NOWHERE behind a wall or the edge.
static int beside(const Board* board, int square, int step) {
    const int lower = step < 0 ? square + step : square;
    const bool* steps = step == UP || step == DOWN ? board->up : board->right;
    return lower >= 0 && steps[lower] ? square + step : NOWHERE;
}

static void add(Squares* found, int square) {
    if (square != NOWHERE) found->squares[found->count++] = square;
}

// The squares that the pawn may move to.
static Squares targets(const Board* board, int player) {
    const int own = board->pawns[player], rival = board->pawns[1 - player];
    Squares found = {.count = 0};
    for (int i = 0; i < 4; ++i) {
        int target = beside(board, own, STEPS[i]);
        if (target == rival) {
            target = beside(board, rival, STEPS[i]);  // the jump
            if (target == NOWHERE) {                  // to the sides then
                const int aside = i % 2 == 0 ? RIGHT : UP;
                add(&found, beside(board, rival, aside));
                add(&found, beside(board, rival, -aside));
            }
        }
        add(&found, target);
    }
    return found;
}

// How many steps it is from each square to the player's goal row; pawns are in nobody's way.
static void findWays(const Board* board, int player, int ways[81]) {
    int queue[81], queued = 0;
    for (int square = 0; square < 81; ++square) ways[square] = SHUT_IN;
    for (int column = 0; column < 9; ++column) {
        queue[queued] = player == 0 ? 72 + column : column;
        ways[queue[queued++]] = 0;
    }
    for (int next = 0; next < queued; ++next) {
        for (int i = 0; i < 4; ++i) {
            const int target = beside(board, queue[next], STEPS[i]);
            if (target == NOWHERE || ways[target] != SHUT_IN) continue;
            ways[target] = ways[queue[next]] + 1;
            queue[queued++] = target;
        }
    }
}

static int wayOf(const Board* board, int player) {
    int ways[81];
    findWays(board, player, ways);
    return ways[board->pawns[player]];
}

// Whether it overlaps and crosses no other wall. A wall that overlaps it blocks one of its two steps.
static bool fits(const Board* board, Wall wall) {
    const bool open = wall.direction == 'h' ? board->up[wall.square] && board->up[wall.square + RIGHT]
                                            : board->right[wall.square] && board->right[wall.square + UP];
    return open && !board->middles[wall.square];
}

// Puts a wall that fits.
static void putWall(Board* board, Wall wall) {
    if (wall.direction == 'h') {
        board->up[wall.square] = board->up[wall.square + RIGHT] = false;
    } else {
        board->right[wall.square] = board->right[wall.square + UP] = false;
    }
    board->middles[wall.square] = true;
}

// Both players' ways if this wall stood, which fits. False: it would shut one of them in.
static bool waysBehind(const Board* board, Wall wall, int ways[2]) {
    Board then = *board;
    putWall(&then, wall);
    ways[0] = wayOf(&then, 0);
    ways[1] = wayOf(&then, 1);
    return ways[0] != SHUT_IN && ways[1] != SHUT_IN;
}

// Makes a legal move; false for anything else.
static bool apply(Board* board, int player, const quoridor_arena_event* event) {
    const char* name = referee_text_of(event->position);
    const int square = name ? squareOf(name) : NOWHERE;
    if (square == NOWHERE) return false;
    if (referee_is_text(event->action, "move") && event->position->count == 2) {
        const Squares found = targets(board, player);
        for (int i = 0; i < found.count; ++i) {
            if (found.squares[i] != square) continue;
            board->pawns[player] = square;
            return true;
        }
        return false;
    }
    if (referee_is_text(event->action, "putWall") && event->position->count == 3 &&
        (name[2] == 'h' || name[2] == 'v')) {
        const Wall wall = {square, name[2]};
        int ways[2];
        if (square >= 72 || square % 9 == 8 || board->wallsLeft[player] == 0 || !fits(board, wall)) return false;
        if (!waysBehind(board, wall, ways)) return false;
        putWall(board, wall);
        --board->wallsLeft[player];
        return true;
    }
    return false;
}

// The wall that lengthens the rival's way most, beside our own. False: ours is shorter, or a step is as good.
static bool bestWall(const Mason* self, Wall* best) {
    const int own = wayOf(&self->board, self->me), rival = wayOf(&self->board, 1 - self->me);
    if (rival > own || self->board.wallsLeft[self->me] == 0) return false;
    const int least = rival == 1 ? 0 : 1;  // more than a step gains; a rival who is about to win must be held up
    int most = least;
    for (int i = 0; i < 2 * 72; ++i) {
        const Wall wall = {i / 2, i % 2 == 0 ? 'h' : 'v'};
        int ways[2];
        if (wall.square % 9 == 8 || !fits(&self->board, wall) || !waysBehind(&self->board, wall, ways)) continue;
        const int gain = ways[1 - self->me] - rival - (ways[self->me] - own);
        if (gain <= most) continue;
        *best = wall;
        most = gain;
    }
    return most > least;
}

static quoridor_action play(referee_match* match, const char* id) {
    (void)id;
    const Mason* self = match->memory;
    if (self->rivalWasInvalid) return (quoridor_action){.action = QUORIDOR_FLIP};
    int ways[81];
    findWays(&self->board, self->me, ways);
    const Squares found = targets(&self->board, self->me);
    int target = found.squares[0];
    for (int i = 1; i < found.count; ++i) {
        if (ways[found.squares[i]] < ways[target]) target = found.squares[i];
    }
    Wall wall = {0, 'h'};
    if (ways[target] > 0 && bestWall(self, &wall)) {
        return (quoridor_action){.action = "putWall", .position = nameOf(match, wall.square, wall.direction)};
    }
    return (quoridor_action){.action = "move", .position = nameOf(match, target, 0)};
}

static void event(referee_match* match, const quoridor_arena_event* event) {
    Mason* self = match->memory;
    if (!event->player) {
        if (event->youAre) self->me = strcmp(event->youAre, "second") == 0;
        return;
    }
    const int player = strcmp(event->player, "second") == 0;
    if (player == self->toMove && apply(&self->board, player, event)) {
        self->toMove = 1 - player;
    } else if (player != self->me) {
        self->rivalWasInvalid = true;  // a flip too: had it been right, nobody would ask us again
    }
}

int main(void) {
    return quoridor_run(
        &(quoridor_bot){.name = "Mason (C)", .memory = sizeof(Mason), .begin = begin, .play = play, .event = event});
}
