// Random numbers: those of Python's `random.Random(seed).randbytes`, by the Mersenne Twister mt19937ar.

#pragma once

#include <stdint.h>
#include <string.h>

static uint32_t twister[624];
static int twisted;

static void seed_random(uint64_t seed) {
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    int keys = key[1] ? 2 : 1, at = 1;
    twister[0] = 19650218U;
    for (int i = 1; i < 624; i++) twister[i] = 1812433253U * (twister[i - 1] ^ twister[i - 1] >> 30) + (uint32_t)i;
    for (int i = 0; i < 624; i++) {
        uint32_t before = twister[at - 1];
        twister[at] = (twister[at] ^ (before ^ before >> 30) * 1664525U) + key[i % keys] + (uint32_t)(i % keys);
        if (++at == 624) twister[0] = twister[623], at = 1;
    }
    for (int i = 0; i < 623; i++) {
        uint32_t before = twister[at - 1];
        twister[at] = (twister[at] ^ (before ^ before >> 30) * 1566083941U) - (uint32_t)at;
        if (++at == 624) twister[0] = twister[623], at = 1;
    }
    twister[0] = 0x80000000U;
    twisted = 624;
}

static uint32_t random_word(void) {
    if (twisted == 624) {
        for (int i = 0; i < 624; i++) {
            uint32_t mixed = (twister[i] & 0x80000000U) | (twister[(i + 1) % 624] & 0x7fffffffU);
            twister[i] = twister[(i + 397) % 624] ^ mixed >> 1 ^ (mixed & 1 ? 0x9908b0dfU : 0);
        }
        twisted = 0;
    }
    uint32_t word = twister[twisted++];
    word ^= word >> 11;
    word ^= word << 7 & 0x9d2c5680U;
    word ^= word << 15 & 0xefc60000U;
    return word ^ word >> 18;
}

static void random_bytes(uint8_t *to, size_t size) {
    for (; size >= 4; to += 4, size -= 4) memcpy(to, &(uint32_t){random_word()}, 4);
    if (size > 0) memcpy(to, &(uint32_t){random_word() >> (32 - 8 * size)}, size);
}
