// Writes back whatever it reads: the other end of the bare ping-pong.
#include <unistd.h>

int main(void) {
    static char buffer[1 << 16];
    ssize_t count;
    while ((count = read(0, buffer, sizeof buffer)) > 0) {
        for (ssize_t done = 0, step; done < count; done += step) {
            if ((step = write(1, buffer + done, (size_t)(count - done))) < 0) return 1;
        }
    }
    return 0;
}
