// WASI preview 1 for metered bots. `host.py` does the same in Python, and says what each function does here. Both
// charge the same units in the same order. The build defines the prices, which `prices.py` has.

#pragma once

#include <stdarg.h>
#include <stdio.h>

#include "frames.h"
#include "random.h"
#include "wasmtime.h"

enum { SUCCESS = 0, BADF = 8, INVAL = 28, NOTSUP = 58, SPIPE = 70 };
enum { CHARACTER_DEVICE = 2, CLOCKS = 4, ABSOLUTE = 1, SUBSCRIPTION_BYTES = 48, EVENT_BYTES = 32 };
enum { RIGHT_READ = 1 << 1, RIGHT_WRITE = 1 << 6, RIGHT_POLL = 1 << 27 };
enum { INPUT, OUTPUT, ERRORS, NONE };
#define PAGE (1U << 16)
#define PIECE (1U << 20)
#define REAL_TIME_NS 1577836800000000000ULL

// The fuel and the memory of an instance. Between `enter` and `leave` it is kept here.

static Context *context;
static Extern memory;
static bool has_memory;
static uint64_t granted, left, paid, said;
static unsigned __int128 earlier;
static uint8_t *base;
static uint64_t size_of_memory;

// Why an instance has ended, if a function of WASI ended it.
static enum { RUNS, OUT_OF_FUEL, EXITED, NEW_MATCH } ended;
static char how[200];
static uint64_t next_seed;

static uint64_t used(void) { return granted - left; }

static uint64_t time_ns(void) { return (uint64_t)((earlier + used()) / UNITS_PER_NS); }

static void grant(uint64_t units) {
    earlier += used(), said = 0;
    granted = left = units;
}

// Says what this call has used. The engine stops for it, but not in a bot that calls WASI often.
static void say_used(void) {
    said = used();
    send_message(USES, said, NULL, 0);
}

// The functions below return false if the instance has to end.

static bool charge(unsigned __int128 units) {
    if (units > left) {
        left = 0, ended = OUT_OF_FUEL;
        return false;
    }
    left -= (uint64_t)units;
    return true;
}

__attribute__((format(printf, 1, 2))) static bool leave_by(const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(how, sizeof how, format, values);
    va_end(values);
    ended = EXITED;
    return false;
}

// Charges the bytes of a part of the memory. Null: the instance has to end.
static uint8_t *at(uint64_t pointer, uint32_t size) {
    if (pointer + size > size_of_memory) {
        leave_by("passed a pointer that lies outside of its memory to a WASI function");
        return NULL;
    }
    return charge((uint64_t)size * HOST_BYTE) ? base + pointer : NULL;
}

static bool put(uint32_t pointer, const void *data, uint32_t size) {
    uint8_t *to = at(pointer, size);
    if (to != NULL && size > 0) memcpy(to, data, size);
    return to != NULL;
}

static bool put_u32(uint32_t pointer, uint32_t number) { return put(pointer, &number, 4); }

typedef struct { uint32_t pointer, size; } Buffer;

// Returns the place of an array of buffers in the memory. Null: the instance has to end.
static const void *buffers(uint32_t vectors, uint32_t count) {
    if (count > PAGE) {
        leave_by("passed more than 65,536 buffers to a WASI function");
        return NULL;
    }
    return at(vectors, 8 * count);
}

// What the instance sees.

static int arguments;
static char **argument;
static uint8_t streams[PAGE];
static uint8_t *input;
static size_t input_from, input_to, input_room;

static uint8_t stream_of(uint32_t fd) { return fd < PAGE ? streams[fd] : NONE; }

// Takes what the referee has sent while the bot waited.
static bool take(Header message) {
    if (message.kind == CALL) {
        grant(message.number < NO_LIMIT ? message.number : NO_LIMIT);
        if (input_from > 0) memmove(input, input + input_from, input_to - input_from);
        input_to -= input_from, input_from = 0;
        if (input_to + message.size > input_room) {
            input_room = 2 * (input_to + message.size);
            input = realloc(input, input_room);
            if (input == NULL) abort();
        }
        take_bytes(input + input_to, message.size);
        input_to += message.size;
    } else if (skip(message.size), message.kind != GO_ON) {
        next_seed = message.number, ended = NEW_MATCH;
    }
    return ended == RUNS;
}

// Waits until the referee says how it goes on.
static bool stop(char kind, const void *data, size_t size) {
    send_message(kind, used(), data, size);
    return take(receive());
}

// The functions of WASI. Each returns its error number; after `false` from above, any.

static int args_sizes_get(uint32_t count, uint32_t size) {
    size_t sum = 0;
    for (int i = 0; i < arguments; i++) sum += strlen(argument[i]) + 1;
    if (put_u32(count, (uint32_t)arguments)) put_u32(size, (uint32_t)sum);
    return SUCCESS;
}

static int args_get(uint32_t pointers, uint32_t strings) {
    for (int i = 0; i < arguments; i++) {
        uint32_t size = (uint32_t)strlen(argument[i]) + 1;
        if (!put_u32(pointers + 4 * (uint32_t)i, strings) || !put(strings, argument[i], size)) break;
        strings += size;
    }
    return SUCCESS;
}

static int environ_sizes_get(uint32_t count, uint32_t size) {
    if (put_u32(count, 0)) put_u32(size, 0);
    return SUCCESS;
}

static int clock_res_get(uint32_t clock, uint32_t to) {
    if (clock >= CLOCKS) return INVAL;
    put(to, &(uint64_t){1}, 8);
    return SUCCESS;
}

static uint64_t clock_ns(uint32_t clock) { return time_ns() + (clock == 0 ? REAL_TIME_NS : 0); }

static int clock_time_get(uint32_t clock, uint32_t to) {
    if (clock >= CLOCKS) return INVAL;
    put(to, &(uint64_t){clock_ns(clock)}, 8);
    return SUCCESS;
}

static int random_get(uint32_t to, uint32_t size) {
    uint8_t *place = at(to, size);
    if (place == NULL) return SUCCESS;
    for (uint64_t done = 0; done < size; done += PIECE) {
        random_bytes(place + done, size - done < PIECE ? (size_t)(size - done) : PIECE);
    }
    return SUCCESS;
}

static int fd_close(uint32_t fd) {
    if (stream_of(fd) == NONE) return BADF;
    streams[fd] = NONE;
    return SUCCESS;
}

static int fd_renumber(uint32_t fd, uint32_t to) {
    if (stream_of(fd) == NONE || to >= PAGE) return BADF;
    if (fd != to) {
        streams[to] = streams[fd];
        streams[fd] = fd == 1 ? ERRORS : NONE;
    }
    return SUCCESS;
}

static int fd_fdstat_get(uint32_t fd, uint32_t to) {
    uint8_t stream = stream_of(fd);
    if (stream == NONE) return BADF;
    uint64_t rights = RIGHT_POLL | (stream == INPUT ? RIGHT_READ : RIGHT_WRITE);
    put(to, (uint64_t[]){CHARACTER_DEVICE, rights, 0}, 24);
    return SUCCESS;
}

static int fd_filestat_get(uint32_t fd, uint32_t to) {
    if (stream_of(fd) == NONE) return BADF;
    put(to, (uint64_t[]){0, fd, CHARACTER_DEVICE, 1, 0, 0, 0, 0}, 64);
    return SUCCESS;
}

static int fd_read(uint32_t fd, uint32_t vectors, uint32_t count, uint32_t to) {
    if (stream_of(fd) != INPUT) return BADF;
    const void *part = buffers(vectors, count);
    if (part == NULL) return SUCCESS;
    bool wants = false;
    Buffer *parts = malloc(count * sizeof *parts + 1); // reading may overwrite those in the memory
    if (parts == NULL) abort();
    memcpy(parts, part, count * sizeof *parts);
    for (uint32_t i = 0; i < count; i++) wants |= parts[i].size > 0;
    bool goes_on = true;
    while (goes_on && wants && input_from == input_to) goes_on = stop(READS, NULL, 0);
    uint32_t done = 0;
    for (uint32_t i = 0; goes_on && i < count; i++) {
        size_t held = input_to - input_from;
        uint32_t size = parts[i].size < held ? parts[i].size : (uint32_t)held;
        goes_on = put(parts[i].pointer, input + input_from, size);
        input_from += size, done += size;
        if (input_from == input_to) break;
    }
    if (goes_on) put_u32(to, done);
    free(parts);
    return SUCCESS;
}

static bool written(uint8_t stream, const uint8_t *data, size_t size) {
    if (stream == OUTPUT) return stop(WROTE, data, size);
    write_error(data, size);
    return true;
}

// Several short buffers are one piece, and a long one is several.
static int fd_write(uint32_t fd, uint32_t vectors, uint32_t count, uint32_t to) {
    static uint8_t piece[2 * PIECE];
    uint8_t stream = stream_of(fd);
    if (stream != OUTPUT && stream != ERRORS) return BADF;
    const void *part = buffers(vectors, count);
    if (part == NULL) return SUCCESS;
    Buffer *parts = malloc(count * sizeof *parts + 1); // `to` may lie among those in the memory
    if (parts == NULL) abort();
    memcpy(parts, part, count * sizeof *parts);
    uint32_t sum = 0;
    size_t held = 0;
    for (uint32_t i = 0; i < count; i++) sum += parts[i].size;
    bool goes_on = put_u32(to, sum);
    for (uint32_t i = 0; goes_on && i < count; i++) {
        for (uint64_t done = 0; goes_on && done < parts[i].size; done += PIECE) {
            uint32_t size = parts[i].size - done < PIECE ? (uint32_t)(parts[i].size - done) : PIECE;
            const uint8_t *from = at(parts[i].pointer + done, size);
            goes_on = from != NULL;
            if (goes_on) memcpy(piece + held, from, size), held += size;
            if (goes_on && held >= PIECE) goes_on = written(stream, piece, held), held = 0;
        }
    }
    if (goes_on && held > 0) written(stream, piece, held);
    free(parts);
    return SUCCESS;
}

typedef struct { uint64_t user; uint16_t error; uint8_t kind; uint8_t gap[5]; uint64_t size; uint64_t flags; } Event;

// Streams are ready at once. Without one, the bot sleeps until its first clock: that uses fuel.
static int poll_oneoff(uint32_t subscriptions, uint32_t events, uint32_t count, uint32_t to) {
    if (count == 0 || count > PAGE) return INVAL;
    const uint8_t *each = at(subscriptions, SUBSCRIPTION_BYTES * count);
    if (each == NULL) return SUCCESS;
    Event *ready = malloc(count * sizeof *ready), *asleep = malloc(count * sizeof *asleep);
    if (ready == NULL || asleep == NULL) abort();
    uint32_t awake = 0, sleeps = 0;
    uint64_t shortest_ns = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++, each += SUBSCRIPTION_BYTES) {
        uint64_t user, until_ns;
        uint32_t which; // a clock, or a descriptor
        uint16_t flags;
        uint8_t kind = each[8];
        memcpy(&user, each, 8), memcpy(&which, each + 16, 4);
        memcpy(&until_ns, each + 24, 8), memcpy(&flags, each + 40, 2);
        if (kind != 0) {
            bool bad = stream_of(which) == NONE;
            ready[awake++] = (Event){user, bad ? BADF : SUCCESS, kind, {0}, !bad, 0};
        } else if (which >= CLOCKS) {
            ready[awake++] = (Event){user, INVAL, kind, {0}, 0, 0};
        } else {
            uint64_t now_ns = clock_ns(which);
            uint64_t sleep_ns = !(flags & ABSOLUTE) ? until_ns : until_ns > now_ns ? until_ns - now_ns : 0;
            if (sleep_ns < shortest_ns) shortest_ns = sleep_ns;
            asleep[sleeps++] = (Event){user, SUCCESS, kind, {0}, sleep_ns, 0};
        }
    }
    bool goes_on = true;
    if (awake == 0) {
        goes_on = charge((unsigned __int128)shortest_ns * UNITS_PER_NS);
        for (uint32_t i = 0; i < sleeps; i++) {
            if (asleep[i].size == shortest_ns) asleep[i].size = 0, ready[awake++] = asleep[i];
        }
    }
    if (goes_on && put(events, ready, EVENT_BYTES * awake)) put_u32(to, awake);
    free(ready);
    free(asleep);
    return SUCCESS;
}

// A function that a bot cannot use here: there is no file system and no network.
static int absent(const char *name, uint32_t fd) {
    if (strncmp(name, "sock_", 5) == 0) return NOTSUP;
    if (strncmp(name, "path_", 5) == 0 || strncmp(name, "fd_prestat", 10) == 0) return BADF;
    return stream_of(fd) == NONE ? BADF : SPIPE;
}

static int answered(const char *name, const Value *given) {
    uint32_t a[4] = {0};
    for (int i = 0; i < 4; i++) a[i] = (uint32_t)given[i].of.i32;
#define IS(function) (strcmp(name, #function) == 0)
    if (IS(fd_read)) return fd_read(a[0], a[1], a[2], a[3]);
    if (IS(fd_write)) return fd_write(a[0], a[1], a[2], a[3]);
    if (IS(clock_time_get)) return clock_time_get(a[0], a[2]);
    if (IS(random_get)) return random_get(a[0], a[1]);
    if (IS(poll_oneoff)) return poll_oneoff(a[0], a[1], a[2], a[3]);
    if (IS(fd_fdstat_get)) return fd_fdstat_get(a[0], a[1]);
    if (IS(fd_filestat_get)) return fd_filestat_get(a[0], a[1]);
    if (IS(fd_fdstat_set_flags)) return stream_of(a[0]) == NONE ? BADF : SUCCESS;
    if (IS(fd_close)) return fd_close(a[0]);
    if (IS(fd_renumber)) return fd_renumber(a[0], a[1]);
    if (IS(args_sizes_get)) return args_sizes_get(a[0], a[1]);
    if (IS(args_get)) return args_get(a[0], a[1]);
    if (IS(environ_sizes_get)) return environ_sizes_get(a[0], a[1]);
    if (IS(environ_get) || IS(sched_yield)) return SUCCESS;
    if (IS(clock_res_get)) return clock_res_get(a[0], a[1]);
    if (IS(proc_exit)) return leave_by("exited with code %u", a[0]);
    if (IS(proc_raise)) return leave_by("raised the signal %d (WASI's number)", (int)a[0]);
    return absent(name, a[0]);
}

// Each call of a function of WASI pays for itself, and for what the memory has grown by, before anything else happens.
static Trap *called(void *name, Caller *caller, const Value *given, size_t count, Value *result, size_t results) {
    Value values[9] = {0};
    memcpy(values, given, count * sizeof *given);
    wasmtime_context_get_fuel(context, &left);
    if (!has_memory) has_memory = wasmtime_caller_export_get(caller, "memory", 6, &memory);
    base = wasmtime_memory_data(context, &memory.of);
    size_of_memory = wasmtime_memory_data_size(context, &memory.of);
    if (used() >= said + USES_EVERY) say_used();
    uint64_t grown = size_of_memory - paid;
    paid = size_of_memory;
    int error = charge(HOST_CALL + grown * GROWN_BYTE) ? answered(name, values) : SUCCESS;
    if (ended != RUNS) return wasmtime_trap_new("ended", 5);
    wasmtime_context_set_fuel(context, left);
    if (results > 0) result->kind = I32, result->of.i32 = error;
    return NULL;
}
