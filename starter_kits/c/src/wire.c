// The conversation with the referee, from the pipes to the bot's functions.

#define _POSIX_C_SOURCE 200809L

#include "referee/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#ifndef __wasi__
#include <setjmp.h>
#include <signal.h>
#endif
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "encoding.h"

#ifdef __wasi__
#include <wasi/api.h>

// WebAssembly has no way back out of a function here: `referee_fail` ends the bot.
typedef char jmp_buf[1];
#define setjmp(back) 0
#define longjmp(back, value) exit(value)
#endif

// The two ends of the wire, out of reach of everything else in the process and of its children.
static int pipe_in = -1, pipe_out;

#ifdef __wasi__

// WebAssembly cannot duplicate a descriptor: both are moved away, and the referee then takes descriptor 1 for standard
// error. Before `main` already, so that `main` may print.
__attribute__((constructor)) static void take_pipes(void) {
    if (pipe_in >= 0) return;
    pipe_in = 10;
    pipe_out = 11;
    if (__wasi_fd_renumber(0, 10) || __wasi_fd_renumber(1, 11)) abort();
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
}

#else

// The first time it is called. What was printed before and not written yet goes to standard error too.
static void take_pipes(void) {
    if (pipe_in >= 0) return;
    pipe_in = fcntl(0, F_DUPFD_CLOEXEC, 3);
    pipe_out = fcntl(1, F_DUPFD_CLOEXEC, 3);
    dup2(2, 1);
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, 0);
    close(nothing);
    fflush(stdout);
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);  // what a bot printed last is there when it dies
    signal(SIGPIPE, SIG_IGN);               // a referee that went away is an end, not a crash
}

// Before `main` already where the referee has started the program, so that `main` may print.
__attribute__((constructor)) static void take_pipes_at_once(void) {
    if (!getenv("REFEREE_BOT")) return;
    unsetenv("REFEREE_BOT");  // not for programs that the bot starts
    take_pipes();
}

#endif

// What a bot calls.

void* referee_allocate(referee_match* match, size_t size) { return referee_take_from(match->call, size); }

void* referee_allocate_for_match(referee_match* match, size_t size) {
    return referee_take_from(match->whole_match, size);
}

const char* referee_keep_text(referee_match* match, const char* text) {
    return strcpy(referee_allocate_for_match(match, strlen(text) + 1), text);
}

const referee_value* referee_keep_value(referee_match* match, const referee_value* value) {
    return referee_copied(match->whole_match, value);
}

// Where `referee_fail` goes, and with which words.
typedef struct {
    jmp_buf back;
    char words[1024];
} referee_failure;

_Noreturn void referee_fail_at(referee_match* match, const char* file, int line, const char* function,
                               const char* words, ...) {
    referee_failure* failure = match->failed;
    va_list arguments;
    va_start(arguments, words);
    vsnprintf(failure->words, sizeof failure->words, words, arguments);
    va_end(arguments);
    fflush(stdout);
    fprintf(stderr, "%s:%d: in %s: %s\n", file, line, function, failure->words);
    longjmp(failure->back, 1);
}

const referee_value* referee_member(const referee_value* object, const char* name) {
    if (!object || object->kind != REFEREE_VALUE_OBJECT) return NULL;
    for (size_t i = object->count; i-- > 0;) {  // of two members with one name the last counts
        if (strcmp(object->members[i].name, name) == 0) return &object->members[i].value;
    }
    return NULL;
}

const referee_value* referee_item(const referee_value* list, size_t index) {
    return list && list->kind == REFEREE_VALUE_LIST && index < list->count ? &list->items[index] : NULL;
}

bool referee_is_null(const referee_value* value) { return !value || value->kind == REFEREE_VALUE_NULL; }

const char* referee_text_of(const referee_value* value) {
    return value && value->kind == REFEREE_VALUE_TEXT ? value->text : NULL;
}

bool referee_is_text(const referee_value* value, const char* text) {
    return referee_text_of(value) && value->count == strlen(text) && memcmp(value->text, text, value->count) == 0;
}

bool referee_read_int(referee_match* match, const referee_value* value, int* into) {
    (void)match;
    if (!value || value->kind != REFEREE_VALUE_INT || value->integer < INT_MIN || value->integer > INT_MAX)
        return false;
    *into = (int)value->integer;
    return true;
}

bool referee_read_float(referee_match* match, const referee_value* value, double* into) {
    (void)match;
    if (!value) return false;
    *into = value->kind == REFEREE_VALUE_INT     ? (double)value->integer
            : value->kind == REFEREE_VALUE_LARGE ? (double)value->large
                                                 : value->number;
    return value->kind == REFEREE_VALUE_FLOAT || value->kind == REFEREE_VALUE_INT || value->kind == REFEREE_VALUE_LARGE;
}

bool referee_read_bool(referee_match* match, const referee_value* value, bool* into) {
    (void)match;
    if (!value || value->kind != REFEREE_VALUE_BOOL) return false;
    *into = value->truth;
    return true;
}

bool referee_read_text(referee_match* match, const referee_value* value, const char** into) {
    (void)match;
    *into = referee_text_of(value);
    return *into != NULL;
}

bool referee_read_any(referee_match* match, const referee_value* value, const referee_value** into) {
    (void)match;
    *into = value;
    return value != NULL;
}

bool referee_read_maybe_int(referee_match* match, const referee_value* value, referee_maybe_int* into) {
    into->present = referee_read_int(match, value, &into->value);
    return true;
}

bool referee_read_maybe_float(referee_match* match, const referee_value* value, referee_maybe_float* into) {
    into->present = referee_read_float(match, value, &into->value);
    return true;
}

bool referee_read_maybe_bool(referee_match* match, const referee_value* value, referee_maybe_bool* into) {
    into->present = referee_read_bool(match, value, &into->value);
    return true;
}

bool referee_read_maybe_text(referee_match* match, const referee_value* value, const char** into) {
    return referee_read_text(match, value, into) || true;
}

bool referee_read_maybe_any(referee_match* match, const referee_value* value, const referee_value** into) {
    return referee_read_any(match, value, into) || true;
}

referee_value referee_new_int(int64_t number) { return (referee_value){REFEREE_VALUE_INT, 0, {.integer = number}}; }

referee_value referee_new_text(const char* text) {
    return text ? (referee_value){REFEREE_VALUE_TEXT, strlen(text), {.text = text}}
                : (referee_value){.kind = REFEREE_VALUE_NULL};
}

referee_value referee_new_list(void) { return (referee_value){.kind = REFEREE_VALUE_LIST}; }

referee_value referee_new_object(void) { return (referee_value){.kind = REFEREE_VALUE_OBJECT}; }

// Room for one more at the end of `items`: it doubles when their number is a power of two.
static void* grown(referee_match* match, void* items, size_t count, size_t size) {
    if (count & (count - 1)) return items;
    void* more = referee_allocate(match, (count ? 2 * count : 1) * size);
    if (count) memcpy(more, items, count * size);
    return more;
}

void referee_append(referee_match* match, referee_value* list, referee_value item) {
    list->items = grown(match, list->items, list->count, sizeof(referee_value));
    list->items[list->count++] = item;
}

void referee_put(referee_match* match, referee_value* object, const char* name, referee_value value) {
    object->members = grown(match, object->members, object->count, sizeof(referee_named_value));
    object->members[object->count++] = (referee_named_value){name, value};
}

void referee_put_some(referee_match* match, referee_value* object, const char* name, referee_value value) {
    if (value.kind != REFEREE_VALUE_NULL) referee_put(match, object, name, value);
}

referee_value referee_write_int(referee_match* match, const int* number) {
    return (void)match, referee_new_int(*number);
}

referee_value referee_write_float(referee_match* match, const double* number) {
    return (void)match, (referee_value){REFEREE_VALUE_FLOAT, 0, {.number = *number}};
}

referee_value referee_write_bool(referee_match* match, const bool* truth) {
    return (void)match, (referee_value){REFEREE_VALUE_BOOL, 0, {.truth = *truth}};
}

referee_value referee_write_text(referee_match* match, const char* const* text) {
    return (void)match, referee_new_text(*text);
}

referee_value referee_write_any(referee_match* match, const referee_value* const* value) {
    return (void)match, *value ? **value : (referee_value){.kind = REFEREE_VALUE_NULL};
}

referee_value referee_write_maybe_int(referee_match* match, const referee_maybe_int* number) {
    return number->present ? referee_write_int(match, &number->value) : (referee_value){.kind = REFEREE_VALUE_NULL};
}

referee_value referee_write_maybe_float(referee_match* match, const referee_maybe_float* number) {
    return number->present ? referee_write_float(match, &number->value) : (referee_value){.kind = REFEREE_VALUE_NULL};
}

referee_value referee_write_maybe_bool(referee_match* match, const referee_maybe_bool* truth) {
    return truth->present ? referee_write_bool(match, &truth->value) : (referee_value){.kind = REFEREE_VALUE_NULL};
}

// What the referee calls.

typedef struct {
    const referee_bot* bot;
    referee_match match;  // its `memory` is NULL before the first one
    referee_failure failure;
    referee_arena call, whole_match;  // memory for one call, for one match
    referee_encoding encoding;        // of the frame at hand: the first answer is still REFEREE_JSON
    referee_encoding agreed;          // from the next frame on, as long as the process lives
    bool has_agreed;
    msgpack_sbuffer bytes;
} referee_server;

static int64_t limit(const referee_value* limits, const char* name) {
    const referee_value* value = referee_member(limits, name);
    return value && value->kind == REFEREE_VALUE_INT ? value->integer : REFEREE_NO_LIMIT;
}

static referee_encoding choose(referee_match* match, const referee_value* offered) {
    if (!offered) return REFEREE_JSON;
    for (size_t i = 0; i < offered->count; ++i) {
        if (referee_is_text(referee_item(offered, i), "json")) return REFEREE_JSON;
        if (referee_is_text(referee_item(offered, i), "msgpack")) return REFEREE_MSGPACK;
    }
    referee_fail(match, "this bot speaks json and msgpack, and was offered neither");
}

// All that is known from the beginning. Texts and options are copied: they outlive the call.
static void describe(referee_server* server, const referee_value* params) {
    referee_match* match = &server->match;
    const referee_value *names = referee_member(params, "names"), *limits = referee_member(params, "limits"),
                        *seed = referee_member(params, "seed");
    match->game = server->bot->game;
    match->options = referee_keep_value(match, referee_member(params, "options"));
    if (!referee_read_int(match, referee_member(params, "seat"), &match->seat)) match->seat = 0;
    match->names =
        (referee_text_list){referee_allocate_for_match(match, (names ? names->count : 0) * sizeof(char*)), 0};
    for (size_t i = 0; referee_text_of(referee_item(names, i)); ++i) {
        match->names.items[match->names.count++] = referee_keep_text(match, referee_text_of(referee_item(names, i)));
    }
    match->limits = (referee_limits){
        limit(limits, "startup_ms"),   limit(limits, "call_ms"),     limit(limits, "opening_ms"),
        limit(limits, "closing_ms"),   limit(limits, "exit_ms"),     limit(limits, "initial_ms"),
        limit(limits, "increment_ms"), limit(limits, "cpu_ms"),      limit(limits, "memory_bytes"),
        limit(limits, "processes"),    limit(limits, "frame_bytes"), limit(limits, "call_output_bytes"),
        limit(limits, "stderr_bytes"), limit(limits, "file_bytes"),  limit(limits, "scratch_bytes")};
    match->clock = (referee_clock){REFEREE_NO_LIMIT, REFEREE_NO_LIMIT, REFEREE_NO_LIMIT, REFEREE_NO_LIMIT};
    match->seed = !seed ? 0 : seed->kind == REFEREE_VALUE_LARGE ? seed->large : (uint64_t)seed->integer;
}

static referee_value initialize(referee_server* server, const referee_value* params) {
    const referee_bot* bot = server->bot;
    referee_match* match = &server->match;
    const referee_value *protocol = referee_member(params, "protocol"), *game = referee_member(params, "game");
    if (protocol && (protocol->kind != REFEREE_VALUE_INT || protocol->integer != 1)) {
        referee_fail(match, "this protocol is unknown here; this is 1");
    }
    if (!referee_is_text(game, bot->game))
        referee_fail(match, "this bot plays %s, not %s", bot->game, referee_text_of(game));
    if (!server->has_agreed) server->agreed = choose(match, referee_member(params, "encodings"));
    referee_clear_arena(&server->whole_match);  // the last match ends
    describe(server, params);
    match->memory = referee_allocate_for_match(match, bot->memory);
    if (bot->begin) bot->begin(match);
    server->has_agreed = true;  // not before: a match that is refused has agreed on nothing
    referee_value hello = referee_new_object();
    referee_put(match, &hello, "name", referee_new_text(bot->name));
    referee_put(match, &hello, "version", referee_new_text(bot->version ? bot->version : "1"));
    referee_put(match, &hello, "encoding", referee_new_text(server->agreed == REFEREE_JSON ? "json" : "msgpack"));
    referee_put(match, &hello, "reuse", (referee_value){REFEREE_VALUE_BOOL, 0, {.truth = true}});
    return hello;
}

static referee_value error_of(referee_match* match, int code, const char* words) {
    referee_value error = referee_new_object();
    referee_put(match, &error, "code", referee_new_int(code));
    referee_put(match, &error, "message", referee_new_text(words));
    return error;
}

// Puts the result or the error of a call into `answer`.
static void call(referee_server* server, const char* method, const referee_value* params, referee_value* answer) {
    referee_match* match = &server->match;
    if (setjmp(server->failure.back)) {
        if (strcmp(method, "initialize") == 0) match->memory = NULL;  // there is no match
        referee_put(match, answer, "error", error_of(match, -32000, server->failure.words));
        return;
    }
    referee_value result = {.kind = REFEREE_VALUE_NULL};
    if (strcmp(method, "initialize") == 0) {
        result = initialize(server, params);
    } else {
        if (!match->memory) referee_fail(match, "%s came before initialize", method);
        const referee_value* clock = referee_member(params, "clock");
        match->clock = (referee_clock){limit(clock, "call_ms"), limit(clock, "remaining_ms"), limit(clock, "last_ms"),
                                       limit(clock, "answers_left")};
        if (!server->bot->answer(match, method, params, &result)) {
            char* words = referee_allocate(match, strlen(method) + sizeof "unknown method ");
            referee_put(match, answer, "error",
                        error_of(match, -32601, strcat(strcpy(words, "unknown method "), method)));
            return;
        }
    }
    referee_put(match, answer, "result", result);
}

// Nobody awaits an answer: what fails is only printed.
static void notice(referee_server* server, const char* method, const referee_value* params) {
    if (!server->match.memory || !server->bot->notice || setjmp(server->failure.back)) return;
    server->bot->notice(&server->match, method, params);
}

// Writes a whole frame; false when the referee is gone.
static bool respond(referee_server* server, const referee_value* answer) {
    server->bytes.size = 0;
    referee_encode(answer, server->encoding, &server->call, &server->bytes);
    for (size_t done = 0; done < server->bytes.size;) {
        const ssize_t count = write(pipe_out, server->bytes.data + done, server->bytes.size - done);
        if (count >= 0) {
            done += (size_t)count;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

// False: the referee needs this program no more.
static bool handle(referee_server* server, const referee_value* frame) {
    const referee_value *id = referee_member(frame, "id"), *params = referee_member(frame, "params");
    const char* method = referee_text_of(referee_member(frame, "method"));
    if (!method) method = "";
    if (strcmp(method, "exit") == 0) return false;
    if (!id) {
        notice(server, method, params);
        return true;
    }
    referee_value answer = referee_new_object();
    referee_put(&server->match, &answer, "jsonrpc", referee_new_text("2.0"));
    referee_put(&server->match, &answer, "id", *id);
    call(server, method, params, &answer);
    return respond(server, &answer);
}

int referee_serve(const referee_bot* bot) {
    referee_server server = {.bot = bot};
    server.match = (referee_match){
        .bot = bot->bot, .call = &server.call, .whole_match = &server.whole_match, .failed = &server.failure};
    referee_reader reader;
    take_pipes();
    referee_open_reader(&reader, pipe_in);
    msgpack_sbuffer_init(&server.bytes);
    referee_value frame;
    referee_next next;
    while ((next = referee_next_frame(&reader, server.encoding, &server.call, &frame)) == REFEREE_FRAME &&
           handle(&server, &frame)) {
        if (server.has_agreed) server.encoding = server.agreed;
        referee_clear_arena(&server.call);
    }
    if (next == REFEREE_NO_FRAME) fputs("the referee sent what is no frame of the protocol\n", stderr);
    referee_close_reader(&reader);
    msgpack_sbuffer_destroy(&server.bytes);
    referee_free_arena(&server.call);
    referee_free_arena(&server.whole_match);
    return next == REFEREE_NO_FRAME ? 1 : 0;
}
