// JSON by json-c, MessagePack by msgpack-c.

#define _POSIX_C_SOURCE 200809L

#include "encoding.h"

#include <errno.h>
#include <math.h>
#include <msgpack/pack.h>
#include <msgpack/unpack.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEEPEST = 512 };  // twice what the protocol allows

static void* need(void* memory) {
    if (memory) return memory;
    fputs("out of memory\n", stderr);
    exit(1);
}

// The arena.

struct referee_chunk {
    struct referee_chunk* older;
    size_t size;
    alignas(max_align_t) char bytes[];
};

void* referee_take_from(referee_arena* arena, size_t size) {
    const size_t unit = alignof(max_align_t), rounded = (size + unit - 1) / unit * unit;
    if (!arena->last || arena->last->size - arena->used < rounded) {
        const size_t grown = arena->last ? 2 * arena->last->size : 1 << 16;
        struct referee_chunk* fresh = need(malloc(sizeof(struct referee_chunk) + (grown > rounded ? grown : rounded)));
        *fresh = (struct referee_chunk){arena->last, grown > rounded ? grown : rounded};
        *arena = (referee_arena){fresh, 0};
    }
    char* memory = arena->last->bytes + arena->used;
    arena->used += rounded;
    return memset(memory, 0, rounded);
}

void referee_clear_arena(referee_arena* arena) {
    if (!arena->last) return;
    referee_arena older = {arena->last->older, 0};
    referee_free_arena(&older);
    arena->last->older = NULL;
    arena->used = 0;
}

void referee_free_arena(referee_arena* arena) {
    while (arena->last) {
        struct referee_chunk* older = arena->last->older;
        free(arena->last);
        arena->last = older;
    }
}

static referee_value copy_text(referee_arena* arena, const char* text, size_t count) {
    char* copy = referee_take_from(arena, count + 1);
    memcpy(copy, text, count);
    return (referee_value){REFEREE_VALUE_TEXT, count, {.text = copy}};
}

const referee_value* referee_copied(referee_arena* arena, const referee_value* value) {
    if (!value) return NULL;
    referee_value* copy = memcpy(referee_take_from(arena, sizeof *copy), value, sizeof *copy);
    if (value->kind == REFEREE_VALUE_TEXT) *copy = copy_text(arena, value->text, value->count);
    if (value->kind == REFEREE_VALUE_LIST) {
        copy->items = referee_take_from(arena, value->count * sizeof(referee_value));
        for (size_t i = 0; i < value->count; ++i) copy->items[i] = *referee_copied(arena, &value->items[i]);
    }
    if (value->kind == REFEREE_VALUE_OBJECT) {
        copy->members = referee_take_from(arena, value->count * sizeof(referee_named_value));
        for (size_t i = 0; i < value->count; ++i) {
            const referee_named_value* member = &value->members[i];
            const char* name = copy_text(arena, member->name, strlen(member->name)).text;
            copy->members[i] = (referee_named_value){name, *referee_copied(arena, &member->value)};
        }
    }
    return copy;
}

// JSON to a value.

static referee_value from_integer(const json_object* json) {
    const int64_t integer = json_object_get_int64(json);
    if (integer == INT64_MAX && json_object_get_uint64(json) > INT64_MAX) {
        return (referee_value){REFEREE_VALUE_LARGE, 0, {.large = json_object_get_uint64(json)}};
    }
    return (referee_value){REFEREE_VALUE_INT, 0, {.integer = integer}};
}

static referee_value from_json(referee_arena* arena, json_object* json) {
    referee_value value = {.kind = REFEREE_VALUE_NULL};
    switch (json_object_get_type(json)) {
        case json_type_null:
            return value;
        case json_type_boolean:
            return (referee_value){REFEREE_VALUE_BOOL, 0, {.truth = json_object_get_boolean(json)}};
        case json_type_int:
            return from_integer(json);
        case json_type_double:
            return (referee_value){REFEREE_VALUE_FLOAT, 0, {.number = json_object_get_double(json)}};
        case json_type_string:
            return copy_text(arena, json_object_get_string(json), (size_t)json_object_get_string_len(json));
        case json_type_array:
            value = (referee_value){REFEREE_VALUE_LIST, json_object_array_length(json), {0}};
            value.items = referee_take_from(arena, value.count * sizeof(referee_value));
            for (size_t i = 0; i < value.count; ++i) {
                value.items[i] = from_json(arena, json_object_array_get_idx(json, i));
            }
            return value;
        case json_type_object:
            value.kind = REFEREE_VALUE_OBJECT;
            value.members =
                referee_take_from(arena, (size_t)json_object_object_length(json) * sizeof(referee_named_value));
            for (const struct lh_entry* entry = json_object_get_object(json)->head; entry; entry = entry->next) {
                const char* name = lh_entry_k(entry);
                value.members[value.count++] = (referee_named_value){copy_text(arena, name, strlen(name)).text,
                                                                     from_json(arena, (json_object*)lh_entry_v(entry))};
            }
            return value;
    }
    return value;
}

// MessagePack to a value: msgpack-c's own parser, which goes on where the bytes ended. The one inside its library knows
// 32 levels only, so it is made here, with these functions for what it finds.

#define MSGPACK_EMBED_STACK_SIZE DEEPEST
#include <msgpack/unpack_define.h>

#define msgpack_unpack_struct(name) struct unpack##name
#define msgpack_unpack_func(result, name) static result unpack##name
#define msgpack_unpack_callback(name) on##name
#define msgpack_unpack_object referee_value
#define msgpack_unpack_user referee_arena*

#define ON_NUMBER(name, type, kind, member)                                                 \
    static inline int on_##name(referee_arena** arena, type number, referee_value* value) { \
        (void)arena;                                                                        \
        *value = (referee_value){kind, 0, {.member = number}};                              \
        return 0;                                                                           \
    }
ON_NUMBER(uint8, uint8_t, REFEREE_VALUE_INT, integer)
ON_NUMBER(uint16, uint16_t, REFEREE_VALUE_INT, integer)
ON_NUMBER(uint32, uint32_t, REFEREE_VALUE_INT, integer)
ON_NUMBER(int8, int8_t, REFEREE_VALUE_INT, integer)
ON_NUMBER(int16, int16_t, REFEREE_VALUE_INT, integer)
ON_NUMBER(int32, int32_t, REFEREE_VALUE_INT, integer)
ON_NUMBER(int64, int64_t, REFEREE_VALUE_INT, integer)
ON_NUMBER(float, float, REFEREE_VALUE_FLOAT, number)
ON_NUMBER(double, double, REFEREE_VALUE_FLOAT, number)

static inline int on_uint64(referee_arena** arena, uint64_t number, referee_value* value) {
    if (number <= INT64_MAX) return on_int64(arena, (int64_t)number, value);
    *value = (referee_value){REFEREE_VALUE_LARGE, 0, {.large = number}};
    return 0;
}

static inline referee_value on_root(referee_arena** arena) {
    (void)arena;
    return (referee_value){.kind = REFEREE_VALUE_NULL};
}

static inline int on_nil(referee_arena** arena, referee_value* value) {
    *value = on_root(arena);
    return 0;
}

static inline int on_true(referee_arena** arena, referee_value* value) {
    (void)arena;
    *value = (referee_value){REFEREE_VALUE_BOOL, 0, {.truth = true}};
    return 0;
}

static inline int on_false(referee_arena** arena, referee_value* value) {
    (void)arena;
    *value = (referee_value){REFEREE_VALUE_BOOL, 0, {.truth = false}};
    return 0;
}

static inline int on_str(referee_arena** arena, const char* bytes, const char* text, unsigned count,
                         referee_value* value) {
    (void)bytes;
    *value = copy_text(*arena, text, count);
    return 0;
}

static inline int on_array(referee_arena** arena, unsigned count, referee_value* value) {
    *value =
        (referee_value){REFEREE_VALUE_LIST, 0, {.items = referee_take_from(*arena, count * sizeof(referee_value))}};
    return 0;
}

static inline int on_array_item(referee_arena** arena, referee_value* list, referee_value item) {
    (void)arena;
    list->items[list->count++] = item;
    return 0;
}

static inline int on_map(referee_arena** arena, unsigned count, referee_value* value) {
    *value = (referee_value){
        REFEREE_VALUE_OBJECT, 0, {.members = referee_take_from(*arena, count * sizeof(referee_named_value))}};
    return 0;
}

static inline int on_map_item(referee_arena** arena, referee_value* object, referee_value name, referee_value value) {
    (void)arena;
    if (name.kind != REFEREE_VALUE_TEXT) return MSGPACK_UNPACK_PARSE_ERROR;
    object->members[object->count++] = (referee_named_value){name.text, value};
    return 0;
}

// JSON has neither; the referee sends none.
static inline int on_bin(referee_arena** arena, const char* bytes, const char* data, unsigned count,
                         referee_value* value) {
    (void)arena, (void)bytes, (void)data, (void)count, (void)value;
    return MSGPACK_UNPACK_PARSE_ERROR;
}

static inline int on_ext(referee_arena** arena, const char* bytes, const char* data, unsigned count,
                         referee_value* value) {
    return on_bin(arena, bytes, data, count, value);
}

#include <msgpack/unpack_template.h>

// A value to bytes.

// The length of the character at `text`, whose zero byte ends it; 0: it is no UTF-8.
static size_t character_at(const char* text) {
    const unsigned char* byte = (const unsigned char*)text;
    if (byte[0] < 0x80) return 1;
    const size_t length = byte[0] >= 0xf0 ? 4 : byte[0] >= 0xe0 ? 3 : 2;
    if (byte[0] < 0xc2 || byte[0] > 0xf4) return 0;
    uint32_t character = byte[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; ++i) {
        if ((byte[i] & 0xc0) != 0x80) return 0;
        character = character << 6 | (byte[i] & 0x3f);
    }
    const bool overlong = character < (length == 4 ? 0x10000u : length == 3 ? 0x800u : 0x80u);
    const bool surrogate = character >= 0xd800 && character < 0xe000;
    return overlong || surrogate || character > 0x10ffff ? 0 : length;
}

// The text with U+FFFD for each byte that is no UTF-8; the text itself when there is none.
static referee_value replaced(referee_arena* arena, referee_value text) {
    size_t at = 0, wrong = 0;
    for (size_t length; at < text.count; at += length ? length : 1) {
        length = character_at(text.text + at);
        wrong += length == 0;
    }
    if (wrong == 0) return text;
    char *copy = referee_take_from(arena, text.count + 2 * wrong + 1), *end = copy;
    for (at = 0; at < text.count;) {
        const size_t length = character_at(text.text + at);
        memcpy(end, length ? text.text + at : "\xef\xbf\xbd", length ? length : 3);
        end += length ? length : 3;
        at += length ? length : 1;
    }
    return (referee_value){REFEREE_VALUE_TEXT, (size_t)(end - copy), {.text = copy}};
}

static json_object* to_json(const referee_value* value, referee_arena* arena) {
    json_object* json = NULL;
    switch (value->kind) {
        case REFEREE_VALUE_NULL:
            return NULL;
        case REFEREE_VALUE_BOOL:
            return json_object_new_boolean(value->truth);
        case REFEREE_VALUE_INT:
            return json_object_new_int64(value->integer);
        case REFEREE_VALUE_LARGE:
            return json_object_new_uint64(value->large);
        case REFEREE_VALUE_FLOAT:
            return isfinite(value->number) ? json_object_new_double(value->number) : NULL;
        case REFEREE_VALUE_TEXT: {
            const referee_value text = replaced(arena, *value);
            return json_object_new_string_len(text.text, (int)text.count);
        }
        case REFEREE_VALUE_LIST:
            json = json_object_new_array_ext((int)value->count);
            for (size_t i = 0; i < value->count; ++i) json_object_array_add(json, to_json(&value->items[i], arena));
            return json;
        case REFEREE_VALUE_OBJECT:
            json = json_object_new_object();
            for (size_t i = 0; i < value->count; ++i) {
                const char* name = value->members[i].name;
                const referee_value key =
                    replaced(arena, (referee_value){REFEREE_VALUE_TEXT, strlen(name), {.text = name}});
                json_object_object_add(json, key.text, to_json(&value->members[i].value, arena));
            }
            return json;
    }
    return json;
}

static void pack(const referee_value* value, referee_arena* arena, msgpack_packer* packer) {
    switch (value->kind) {
        case REFEREE_VALUE_NULL:
            msgpack_pack_nil(packer);
            break;
        case REFEREE_VALUE_BOOL:
            value->truth ? msgpack_pack_true(packer) : msgpack_pack_false(packer);
            break;
        case REFEREE_VALUE_INT:
            msgpack_pack_int64(packer, value->integer);
            break;
        case REFEREE_VALUE_LARGE:
            msgpack_pack_uint64(packer, value->large);
            break;
        case REFEREE_VALUE_FLOAT:
            isfinite(value->number) ? msgpack_pack_double(packer, value->number) : msgpack_pack_nil(packer);
            break;
        case REFEREE_VALUE_TEXT: {
            const referee_value text = replaced(arena, *value);
            msgpack_pack_str_with_body(packer, text.text, text.count);
            break;
        }
        case REFEREE_VALUE_LIST:
            msgpack_pack_array(packer, value->count);
            for (size_t i = 0; i < value->count; ++i) pack(&value->items[i], arena, packer);
            break;
        case REFEREE_VALUE_OBJECT:
            msgpack_pack_map(packer, value->count);
            for (size_t i = 0; i < value->count; ++i) {
                const char* name = value->members[i].name;
                pack(&(referee_value){REFEREE_VALUE_TEXT, strlen(name), {.text = name}}, arena, packer);
                pack(&value->members[i].value, arena, packer);
            }
            break;
    }
}

void referee_encode(const referee_value* frame, referee_encoding encoding, referee_arena* arena,
                    msgpack_sbuffer* bytes) {
    if (encoding == REFEREE_MSGPACK) {
        msgpack_packer packer;
        msgpack_packer_init(&packer, bytes, msgpack_sbuffer_write);
        pack(frame, arena, &packer);
        return;
    }
    json_object* json = to_json(frame, arena);
    size_t length;
    const int flags = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE;
    const char* text = json_object_to_json_string_length(json, flags, &length);
    msgpack_sbuffer_write(bytes, text, length);
    msgpack_sbuffer_write(bytes, "\n", 1);
    json_object_put(json);
}

// Bytes to frames.

void referee_open_reader(referee_reader* reader, int fd) {
    const size_t size = 1 << 16;
    *reader = (referee_reader){.fd = fd, .buffer = need(malloc(size)), .size = size};
    reader->tokener = need(json_tokener_new_ex(DEEPEST));
    reader->unpacker = need(malloc(sizeof *reader->unpacker));
    unpack_init(reader->unpacker);
}

void referee_close_reader(referee_reader* reader) {
    free(reader->buffer);
    free(reader->unpacker);
    json_tokener_free(reader->tokener);
}

// Reads what is there, at least a byte; false at the end of the stream.
static bool fill(referee_reader* reader) {
    memmove(reader->buffer, reader->buffer + reader->start, reader->end - reader->start);
    reader->end -= reader->start;
    reader->start = 0;
    if (reader->end == reader->size) {
        reader->size *= 2;
        reader->buffer = need(realloc(reader->buffer, reader->size));
    }
    ssize_t count;
    do {
        count = read(reader->fd, reader->buffer + reader->end, reader->size - reader->end);
    } while (count < 0 && errno == EINTR);
    if (count > 0) reader->end += (size_t)count;
    return count > 0;
}

// Each looks at the bytes that are there and have not been looked at yet. REFEREE_END_OF_STREAM: the frame is not
// complete.

static referee_next try_json(referee_reader* reader, referee_arena* arena, referee_value* frame) {
    for (;;) {
        const char* line = reader->buffer + reader->start;
        const char* feed = memchr(line + reader->seen, '\n', reader->end - reader->start - reader->seen);
        if (!feed) {
            reader->seen = reader->end - reader->start;
            return REFEREE_END_OF_STREAM;
        }
        reader->start = (size_t)(feed + 1 - reader->buffer);
        reader->seen = 0;
        if (*line == '\n' || *line == '\r') continue;
        json_tokener_reset(reader->tokener);
        json_object* json = json_tokener_parse_ex(reader->tokener, line, (int)(feed + 1 - line));
        if (json) *frame = from_json(arena, json);
        json_object_put(json);
        return json ? REFEREE_FRAME : REFEREE_NO_FRAME;
    }
}

static referee_next try_message_pack(referee_reader* reader, referee_arena* arena, referee_value* frame) {
    reader->unpacker->user = arena;
    const int found = unpack_execute(reader->unpacker, reader->buffer, reader->end, &reader->start);
    if (found == 0) return REFEREE_END_OF_STREAM;
    *frame = unpack_data(reader->unpacker);
    unpack_init(reader->unpacker);
    return found > 0 ? REFEREE_FRAME : REFEREE_NO_FRAME;
}

referee_next referee_next_frame(referee_reader* reader, referee_encoding encoding, referee_arena* arena,
                                referee_value* frame) {
    for (;;) {
        const referee_next found =
            encoding == REFEREE_JSON ? try_json(reader, arena, frame) : try_message_pack(reader, arena, frame);
        if (found != REFEREE_END_OF_STREAM || !fill(reader)) return found;
    }
}
