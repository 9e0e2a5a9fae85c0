/* Computes as bots do: `kernels NAME`. Prints a number, so that nothing is optimised away. */
#include <stdio.h>
#include <string.h>

enum { SIDE = 32, CELLS = SIDE * SIDE, PRIMES = 2000000, QUEENS = 10, SIZE = 192 };

/* Shortest paths on a board with obstacles, by breadth-first search. */
static unsigned paths(void) {
    static unsigned char wall[CELLS];
    static int distance[CELLS], queue[CELLS];
    unsigned sum = 0, seed = 1;
    for (int i = 0; i < CELLS; ++i) wall[i] = (seed = seed * 1664525u + 1013904223u) >> 30 == 0;
    for (int start = 0; start < CELLS; start += 2) {
        memset(distance, -1, sizeof distance);
        int first = 0, last = 0;
        queue[last++] = start;
        distance[start] = 0;
        while (first < last) {
            const int at = queue[first++], row = at / SIDE, column = at % SIDE;
            const int steps[4] = {row > 0 ? -SIDE : 0, row < SIDE - 1 ? SIDE : 0, column > 0 ? -1 : 0,
                                  column < SIDE - 1 ? 1 : 0};
            for (int i = 0; i < 4; ++i) {
                const int to = at + steps[i];
                if (distance[to] >= 0 || wall[to]) continue;
                distance[to] = distance[at] + 1;
                sum += (unsigned)distance[to];
                queue[last++] = to;
            }
        }
    }
    return sum;
}

static unsigned sieve(void) {
    static unsigned char composite[PRIMES];
    unsigned count = 0;
    memset(composite, 0, sizeof composite);
    for (unsigned i = 2; i < PRIMES; ++i) {
        if (composite[i]) continue;
        ++count;
        for (unsigned long long j = (unsigned long long)i * i; j < PRIMES; j += i) composite[j] = 1;
    }
    return count;
}

static unsigned place(unsigned columns, unsigned left, unsigned right) {
    const unsigned all = (1u << QUEENS) - 1;
    unsigned count = columns == all;
    for (unsigned free = all & ~(columns | left | right); free; free &= free - 1) {
        const unsigned bit = free & -free;
        count += place(columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return count;
}

static unsigned queens(void) {
    static volatile unsigned none; /* else one call would do for all */
    return place(none, none, none);
}

static unsigned matrix(void) {
    static double a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];
    for (int i = 0; i < SIZE; ++i)
        for (int j = 0; j < SIZE; ++j) a[i][j] = i + j, b[i][j] = i - j, c[i][j] = 0;
    for (int i = 0; i < SIZE; ++i)
        for (int k = 0; k < SIZE; ++k)
            for (int j = 0; j < SIZE; ++j) c[i][j] += a[i][k] * b[k][j];
    return (unsigned)(long long)c[SIZE - 1][SIZE / 2];
}

int main(int argc, char** argv) {
    const struct {
        const char* name;
        unsigned (*run)(void);
        int times;
    } kernels[] = {{"paths", paths, 100}, {"sieve", sieve, 100}, {"queens", queens, 2000}, {"matrix", matrix, 200}};
    for (unsigned i = 0; i < sizeof kernels / sizeof *kernels; ++i) {
        if (argc < 2 || strcmp(argv[1], kernels[i].name) != 0) continue;
        unsigned sum = 0;
        for (int n = 0; n < kernels[i].times; ++n) sum += kernels[i].run();
        printf("%u\n", sum);
    }
    return 0;
}
