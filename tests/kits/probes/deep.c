// Recurses as deep as it is asked to, a KiB at a time.
#include <stdio.h>
static int deep(int left, volatile char* outer) {
    volatile char block[1024];
    block[0] = outer[0];
    return left == 0 ? block[0] : deep(left - 1, block);
}
int main(void) {
    int kibibytes = 0;
    volatile char first[] = {42};
    if (scanf("%d", &kibibytes) == 1) printf("%d\n", deep(kibibytes, first));
    return 0;
}
