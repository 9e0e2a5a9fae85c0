// The messages between the referee and the runner, as in `frames.py`, over blocking descriptors.

#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MATCH = 'M', CALL = 'C', GO_ON = 'G', USES = 'U', WROTE = 'W', READS = 'R', FUEL_USED_UP = 'F', ENDED = 'E' };
#define NO_LIMIT INT64_MAX

typedef struct { char kind; uint64_t number; uint32_t size; } Header;

static unsigned char received[1 << 16];
static size_t received_from, received_to;

// Takes the next bytes. The program ends if there will be none.
static void take_bytes(void *to, size_t size) {
    for (unsigned char *at = to; size > 0;) {
        if (received_from == received_to) {
            ssize_t more = read(0, received, sizeof received);
            if (more <= 0) exit(0);
            received_from = 0, received_to = (size_t)more;
        }
        size_t part = received_to - received_from < size ? received_to - received_from : size;
        memcpy(at, received + received_from, part);
        received_from += part, at += part, size -= part;
    }
}

// Receives a message, whose data the caller takes.
static Header receive(void) {
    unsigned char packed[13];
    Header header;
    take_bytes(packed, sizeof packed);
    header.kind = (char)packed[0];
    memcpy(&header.number, packed + 1, 8);
    memcpy(&header.size, packed + 9, 4);
    return header;
}

static void skip(uint32_t size) {
    for (char byte; size > 0; size--) take_bytes(&byte, 1);
}

static void write_all(int to, struct iovec *parts, int count) {
    while (count > 0) {
        ssize_t wrote = writev(to, parts, count);
        if (wrote < 0) exit(1);
        for (; count > 0 && (size_t)wrote >= parts->iov_len; parts++, count--) wrote -= (ssize_t)parts->iov_len;
        if (count > 0) parts->iov_base = (char *)parts->iov_base + wrote, parts->iov_len -= (size_t)wrote;
    }
}

static void send_message(char kind, uint64_t number, const void *data, size_t size) {
    unsigned char packed[13] = {(unsigned char)kind};
    uint32_t length = (uint32_t)size;
    memcpy(packed + 1, &number, 8);
    memcpy(packed + 9, &length, 4);
    write_all(1, (struct iovec[]){{packed, sizeof packed}, {(void *)data, size}}, size > 0 ? 2 : 1);
}

static void write_error(const void *data, size_t size) { write_all(2, (struct iovec[]){{(void *)data, size}}, 1); }
