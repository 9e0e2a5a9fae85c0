// Frames as bytes, and the memory that they are decoded into. The library's own; bots do not include it.

#pragma once

#include <json-c/json.h>
#include <msgpack/sbuffer.h>

#include "referee/wire.h"

// Memory that is given out piece by piece and taken back all at once. All zero = empty.
typedef struct Arena {
    struct Chunk* last;  // the one in use; older ones hang on it
    size_t used;         // bytes of it
} Arena;

void* takeFrom(Arena* arena, size_t size);  // all zero
void clearArena(Arena* arena);              // keeps the largest chunk for the next call
void freeArena(Arena* arena);

const Value* copied(Arena* arena, const Value* value);  // with all that it holds; NULL for NULL

typedef enum { JSON, MSGPACK } Encoding;

// Puts the bytes of a frame at the end of `bytes`. Text that is no UTF-8 is mended, and a number that is none (NaN)
// becomes null.
void encode(const Value* frame, Encoding encoding, Arena* arena, msgpack_sbuffer* bytes);

// The referee's messages, one frame at a time.
typedef struct {
    int fd;
    char* buffer;
    size_t size;
    size_t start, end;     // the bytes not yet given out
    size_t seen;           // how many of them were looked at
    json_tokener* tokener;
    struct unpack_context* unpacker;
} Reader;

void openReader(Reader* reader, int fd);
void closeReader(Reader* reader);  // the descriptor stays open

typedef enum { FRAME, END_OF_STREAM, NO_FRAME } Next;

// Waits for a frame, which is decoded into `arena`. NO_FRAME: the bytes are none.
Next nextFrame(Reader* reader, Encoding encoding, Arena* arena, Value* frame);
