// Prints before it plays, or uses the kit without playing.

#include <referee/tictactoe.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static tictactoe_action play(referee_match* match, const char* id) {
    return (void)match, (void)id, (tictactoe_action){TICTACTOE_ACTION_TYPE_FLIP};
}

int main(void) {
    printf("buffered");
    if (getenv("ONLY_USES_THE_KIT")) return 0;
    if (getenv("AT_ONCE")) fflush(stdout), write(1, "+ at once", 9);
    return tictactoe_run(&(tictactoe_bot){.name = "Prints", .play = play});
}
