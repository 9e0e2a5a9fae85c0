/* Plays column C at Connect Four, whatever is asked. The id of a call begins at the 22nd byte of its line. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char in[1 << 17];

int main(void) {
    size_t have = 0;
    for (ssize_t n; (n = read(0, in + have, sizeof in - have)) > 0;) {
        char *line = in, *end;
        have += (size_t)n;
        while ((end = memchr(line, '\n', (size_t)(in + have - line))) != NULL) {
            if (line[18] == 'i') {
                char *id = line + 22, out[256];
                int digits = (int)strcspn(id, ","), greets = digits == 1 && *id == '0';
                const char *result = greets ? "{\"name\":\"constant\"}" : "{\"action\":\"putToken\",\"column\":\"C\"}";
                int size = sprintf(out, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":%s}\n", digits, id, result);
                if (write(1, out, (size_t)size) != size) return 1;
            }
            line = end + 1;
        }
        have = (size_t)(in + have - line);
        memmove(in, line, have);
    }
    return 0;
}
