// Tells what it knows, and fails in the ways of a program in C.

#include <referee/wire.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((constructor(65535))) static void early(void) { puts("early"); }

static void begin(referee_match* match) {
    if (match->seat == 7) referee_fail(match, "no seat %d", match->seat);
}

static referee_value known(referee_match* match) {
    referee_value all = referee_new_list(), names = referee_new_list();
    for (size_t i = 0; i < match->names.count; ++i) {
        referee_append(match, &names, referee_new_text(match->names.items[i]));
    }
    referee_append(match, &all, referee_new_text(match->game));
    referee_append(match, &all, referee_new_int(match->seat));
    referee_append(match, &all, names);
    referee_append(match, &all, *referee_member(match->options, "deep"));
    referee_append(match, &all, referee_new_int(match->limits.startup_ms));
    referee_append(match, &all, referee_new_int(match->limits.call_ms));
    referee_append(match, &all, referee_new_int(match->limits.processes));
    referee_append(match, &all, referee_new_int(match->limits.scratch_bytes));
    referee_append(match, &all, (referee_value){REFEREE_VALUE_LARGE, 0, {.large = match->seed}});
    return all;
}

static bool answer(referee_match* match, const char* method, const referee_value* params, referee_value* result) {
    int* calls = match->memory;
    ++*calls;
    if (strcmp(method, "match") == 0) return *result = known(match), true;
    if (strcmp(method, "alive") == 0) return *result = referee_new_int(*calls), true;
    if (strcmp(method, "bytes") == 0) return *result = referee_new_text("a\xff" "b"), true;
    if (strcmp(method, "words") == 0) referee_fail(match, "\xff");
    if (strcmp(method, "stdin") == 0) return *result = referee_new_int(getchar()), true;
    if (strcmp(method, "child") == 0) return *result = referee_new_int(system("echo a child; ls /dev/fd/ | wc -l")), true;
    if (strcmp(method, "large") == 0) {
        return *result = referee_new_int(((char*)referee_allocate(match, 1 << 25))[1 << 24]), true;
    }
    return (void)params, false;
}

static void notice(referee_match* match, const char* method, const referee_value* params) {
    (void)params;
    referee_fail(match, "in %s", method);
}

int main(void) {
    return referee_serve(&(referee_bot){.name = "Odd",
                                        .version = "2.1",
                                        .game = "odd",
                                        .memory = sizeof(int),
                                        .begin = begin,
                                        .answer = answer,
                                        .notice = notice});
}
