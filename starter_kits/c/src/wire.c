// The conversation with the referee, from the pipes to the bot's functions.

#define _POSIX_C_SOURCE 200809L

#include "referee/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "encoding.h"

// The two ends of the wire, out of reach of everything else in the process and of its children.
static int pipe_in = -1, pipe_out;

// The first time it is called. What was printed before and not written yet goes to standard error too.
static void takePipes(void) {
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
__attribute__((constructor)) static void takePipesAtOnce(void) {
    if (!getenv("REFEREE_BOT")) return;
    unsetenv("REFEREE_BOT");  // not for programs that the bot starts
    takePipes();
}

// What a bot calls.

void* referee_allocate(Match* match, size_t size) { return referee_take_from(match->call, size); }

void* referee_allocate_for_match(Match* match, size_t size) { return referee_take_from(match->whole_match, size); }

const char* referee_keep_text(Match* match, const char* text) {
    return strcpy(referee_allocate_for_match(match, strlen(text) + 1), text);
}

const Value* referee_keep_value(Match* match, const Value* value) { return referee_copied(match->whole_match, value); }

// Where `referee_fail` goes, and with which words.
typedef struct {
    jmp_buf back;
    char words[1024];
} Failure;

_Noreturn void referee_fail_at(Match* match, const char* file, int line, const char* function, const char* words, ...) {
    Failure* failure = match->failed;
    va_list arguments;
    va_start(arguments, words);
    vsnprintf(failure->words, sizeof failure->words, words, arguments);
    va_end(arguments);
    fflush(stdout);
    fprintf(stderr, "%s:%d: in %s: %s\n", file, line, function, failure->words);
    longjmp(failure->back, 1);
}

const Value* referee_member(const Value* object, const char* name) {
    if (!object || object->kind != VALUE_OBJECT) return NULL;
    for (size_t i = object->count; i-- > 0;) {  // of two members with one name the last counts
        if (strcmp(object->members[i].name, name) == 0) return &object->members[i].value;
    }
    return NULL;
}

const Value* referee_item(const Value* list, size_t index) {
    return list && list->kind == VALUE_LIST && index < list->count ? &list->items[index] : NULL;
}

bool referee_is_null(const Value* value) { return !value || value->kind == VALUE_NULL; }

const char* referee_text_of(const Value* value) { return value && value->kind == VALUE_TEXT ? value->text : NULL; }

bool referee_is_text(const Value* value, const char* text) {
    return referee_text_of(value) && value->count == strlen(text) && memcmp(value->text, text, value->count) == 0;
}

bool referee_read_int(Match* match, const Value* value, int* into) {
    (void)match;
    if (!value || value->kind != VALUE_INT || value->integer < INT_MIN || value->integer > INT_MAX) return false;
    *into = (int)value->integer;
    return true;
}

bool referee_read_float(Match* match, const Value* value, double* into) {
    (void)match;
    if (!value) return false;
    *into = value->kind == VALUE_INT     ? (double)value->integer
            : value->kind == VALUE_LARGE ? (double)value->large
                                         : value->number;
    return value->kind == VALUE_FLOAT || value->kind == VALUE_INT || value->kind == VALUE_LARGE;
}

bool referee_read_bool(Match* match, const Value* value, bool* into) {
    (void)match;
    if (!value || value->kind != VALUE_BOOL) return false;
    *into = value->truth;
    return true;
}

bool referee_read_text(Match* match, const Value* value, const char** into) {
    (void)match;
    *into = referee_text_of(value);
    return *into != NULL;
}

bool referee_read_any(Match* match, const Value* value, const Value** into) {
    (void)match;
    *into = value;
    return value != NULL;
}

bool referee_read_maybe_int(Match* match, const Value* value, MaybeInt* into) {
    into->present = referee_read_int(match, value, &into->value);
    return true;
}

bool referee_read_maybe_float(Match* match, const Value* value, MaybeFloat* into) {
    into->present = referee_read_float(match, value, &into->value);
    return true;
}

bool referee_read_maybe_bool(Match* match, const Value* value, MaybeBool* into) {
    into->present = referee_read_bool(match, value, &into->value);
    return true;
}

bool referee_read_maybe_text(Match* match, const Value* value, const char** into) { return referee_read_text(match, value, into) || true; }

bool referee_read_maybe_any(Match* match, const Value* value, const Value** into) { return referee_read_any(match, value, into) || true; }

Value referee_new_int(int64_t number) { return (Value){VALUE_INT, 0, {.integer = number}}; }

Value referee_new_text(const char* text) {
    return text ? (Value){VALUE_TEXT, strlen(text), {.text = text}} : (Value){.kind = VALUE_NULL};
}

Value referee_new_list(void) { return (Value){.kind = VALUE_LIST}; }

Value referee_new_object(void) { return (Value){.kind = VALUE_OBJECT}; }

// Room for one more at the end of `items`: it doubles when their number is a power of two.
static void* grown(Match* match, void* items, size_t count, size_t size) {
    if (count & (count - 1)) return items;
    void* more = referee_allocate(match, (count ? 2 * count : 1) * size);
    if (count) memcpy(more, items, count * size);
    return more;
}

void referee_append(Match* match, Value* list, Value item) {
    list->items = grown(match, list->items, list->count, sizeof(Value));
    list->items[list->count++] = item;
}

void referee_put(Match* match, Value* object, const char* name, Value value) {
    object->members = grown(match, object->members, object->count, sizeof(Member));
    object->members[object->count++] = (Member){name, value};
}

void referee_put_some(Match* match, Value* object, const char* name, Value value) {
    if (value.kind != VALUE_NULL) referee_put(match, object, name, value);
}

Value referee_write_int(Match* match, const int* number) { return (void)match, referee_new_int(*number); }

Value referee_write_float(Match* match, const double* number) {
    return (void)match, (Value){VALUE_FLOAT, 0, {.number = *number}};
}

Value referee_write_bool(Match* match, const bool* truth) { return (void)match, (Value){VALUE_BOOL, 0, {.truth = *truth}}; }

Value referee_write_text(Match* match, const char* const* text) { return (void)match, referee_new_text(*text); }

Value referee_write_any(Match* match, const Value* const* value) {
    return (void)match, *value ? **value : (Value){.kind = VALUE_NULL};
}

Value referee_write_maybe_int(Match* match, const MaybeInt* number) {
    return number->present ? referee_write_int(match, &number->value) : (Value){.kind = VALUE_NULL};
}

Value referee_write_maybe_float(Match* match, const MaybeFloat* number) {
    return number->present ? referee_write_float(match, &number->value) : (Value){.kind = VALUE_NULL};
}

Value referee_write_maybe_bool(Match* match, const MaybeBool* truth) {
    return truth->present ? referee_write_bool(match, &truth->value) : (Value){.kind = VALUE_NULL};
}

// What the referee calls.

typedef struct {
    const Bot* bot;
    Match match;  // its `memory` is NULL before the first one
    Failure failure;
    Arena call, whole_match;  // memory for one call, for one match
    Encoding encoding;        // of the frame at hand: the first answer is still JSON
    Encoding agreed;          // from the next frame on, as long as the process lives
    bool has_agreed;
    msgpack_sbuffer bytes;
} Server;

static int64_t limit(const Value* limits, const char* name) {
    const Value* value = referee_member(limits, name);
    return value && value->kind == VALUE_INT ? value->integer : NO_LIMIT;
}

static Encoding choose(Match* match, const Value* offered) {
    if (!offered) return JSON;
    for (size_t i = 0; i < offered->count; ++i) {
        if (referee_is_text(referee_item(offered, i), "json")) return JSON;
        if (referee_is_text(referee_item(offered, i), "msgpack")) return MSGPACK;
    }
    referee_fail(match, "this bot speaks json and msgpack, and was offered neither");
}

// All that is known from the beginning. Texts and options are copied: they outlive the call.
static void describe(Server* server, const Value* params) {
    Match* match = &server->match;
    const Value *names = referee_member(params, "names"), *limits = referee_member(params, "limits"), *seed = referee_member(params, "seed");
    match->game = server->bot->game;
    match->options = referee_keep_value(match, referee_member(params, "options"));
    if (!referee_read_int(match, referee_member(params, "seat"), &match->seat)) match->seat = 0;
    match->names = (TextList){referee_allocate_for_match(match, (names ? names->count : 0) * sizeof(char*)), 0};
    for (size_t i = 0; referee_text_of(referee_item(names, i)); ++i) {
        match->names.items[match->names.count++] = referee_keep_text(match, referee_text_of(referee_item(names, i)));
    }
    match->limits = (Limits){limit(limits, "startup_ms"), limit(limits, "call_ms"), limit(limits, "opening_ms"),
                             limit(limits, "closing_ms"), limit(limits, "exit_ms"), limit(limits, "initial_ms"),
                             limit(limits, "increment_ms"), limit(limits, "cpu_ms"), limit(limits, "memory_bytes"),
                             limit(limits, "processes"), limit(limits, "frame_bytes"), limit(limits, "call_output_bytes"),
                             limit(limits, "stderr_bytes"), limit(limits, "file_bytes"), limit(limits, "scratch_bytes")};
    match->clock = (Clock){NO_LIMIT, NO_LIMIT, NO_LIMIT};
    match->seed = !seed ? 0 : seed->kind == VALUE_LARGE ? seed->large : (uint64_t)seed->integer;
}

static Value initialize(Server* server, const Value* params) {
    const Bot* bot = server->bot;
    Match* match = &server->match;
    const Value *protocol = referee_member(params, "protocol"), *game = referee_member(params, "game");
    if (protocol && (protocol->kind != VALUE_INT || protocol->integer != 1)) {
        referee_fail(match, "this protocol is unknown here; this is 1");
    }
    if (!referee_is_text(game, bot->game)) referee_fail(match, "this bot plays %s, not %s", bot->game, referee_text_of(game));
    if (!server->has_agreed) server->agreed = choose(match, referee_member(params, "encodings"));
    referee_clear_arena(&server->whole_match);  // the last match ends
    describe(server, params);
    match->memory = referee_allocate_for_match(match, bot->memory);
    if (bot->begin) bot->begin(match);
    server->has_agreed = true;  // not before: a match that is refused has agreed on nothing
    Value hello = referee_new_object();
    referee_put(match, &hello, "name", referee_new_text(bot->name));
    referee_put(match, &hello, "version", referee_new_text(bot->version ? bot->version : "1"));
    referee_put(match, &hello, "encoding", referee_new_text(server->agreed == JSON ? "json" : "msgpack"));
    referee_put(match, &hello, "reuse", (Value){VALUE_BOOL, 0, {.truth = true}});
    return hello;
}

static Value errorOf(Match* match, int code, const char* words) {
    Value error = referee_new_object();
    referee_put(match, &error, "code", referee_new_int(code));
    referee_put(match, &error, "message", referee_new_text(words));
    return error;
}

// Puts the result or the error of a call into `answer`.
static void call(Server* server, const char* method, const Value* params, Value* answer) {
    Match* match = &server->match;
    if (setjmp(server->failure.back)) {
        if (strcmp(method, "initialize") == 0) match->memory = NULL;  // there is no match
        referee_put(match, answer, "error", errorOf(match, -32000, server->failure.words));
        return;
    }
    Value result = {.kind = VALUE_NULL};
    if (strcmp(method, "initialize") == 0) {
        result = initialize(server, params);
    } else {
        if (!match->memory) referee_fail(match, "%s came before initialize", method);
        const Value* clock = referee_member(params, "clock");
        match->clock = (Clock){limit(clock, "call_ms"), limit(clock, "remaining_ms"), limit(clock, "last_ms")};
        if (!server->bot->answer(match, method, params, &result)) {
            char* words = referee_allocate(match, strlen(method) + sizeof "unknown method ");
            referee_put(match, answer, "error", errorOf(match, -32601, strcat(strcpy(words, "unknown method "), method)));
            return;
        }
    }
    referee_put(match, answer, "result", result);
}

// Nobody awaits an answer: what fails is only printed.
static void notice(Server* server, const char* method, const Value* params) {
    if (!server->match.memory || !server->bot->notice || setjmp(server->failure.back)) return;
    server->bot->notice(&server->match, method, params);
}

// Writes a whole frame; false when the referee is gone.
static bool respond(Server* server, const Value* answer) {
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
static bool handle(Server* server, const Value* frame) {
    const Value *id = referee_member(frame, "id"), *params = referee_member(frame, "params");
    const char* method = referee_text_of(referee_member(frame, "method"));
    if (!method) method = "";
    if (strcmp(method, "exit") == 0) return false;
    if (!id) {
        notice(server, method, params);
        return true;
    }
    Value answer = referee_new_object();
    referee_put(&server->match, &answer, "jsonrpc", referee_new_text("2.0"));
    referee_put(&server->match, &answer, "id", *id);
    call(server, method, params, &answer);
    return respond(server, &answer);
}

int referee_serve(const Bot* bot) {
    Server server = {.bot = bot};
    server.match = (Match){
        .bot = bot->bot, .call = &server.call, .whole_match = &server.whole_match, .failed = &server.failure};
    Reader reader;
    takePipes();
    referee_open_reader(&reader, pipe_in);
    msgpack_sbuffer_init(&server.bytes);
    Value frame;
    Next next;
    while ((next = referee_next_frame(&reader, server.encoding, &server.call, &frame)) == FRAME && handle(&server, &frame)) {
        if (server.has_agreed) server.encoding = server.agreed;
        referee_clear_arena(&server.call);
    }
    if (next == NO_FRAME) fputs("the referee sent what is no frame of the protocol\n", stderr);
    referee_close_reader(&reader);
    msgpack_sbuffer_destroy(&server.bytes);
    referee_free_arena(&server.call);
    referee_free_arena(&server.whole_match);
    return next == NO_FRAME ? 1 : 0;
}
