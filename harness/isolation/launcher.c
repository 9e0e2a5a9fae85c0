/* The launcher: puts itself where a bot is to live, and becomes the bot.
 *
 *     launcher STEP ARGUMENTS… STEP ARGUMENTS… -- PROGRAM ARGUMENTS…
 *
 * It is a plain machine: which steps there are to be, and in which order, is decided by `plan.py`; `launcher.py` takes
 * the same steps where there is no compiler. Each step that fails ends the start, and says so to the supervisor:
 * an error of ours is no bot's fault.
 *
 *     status FD                 the supervisor's socket: what fails, who the bot is, and how it ended
 *     cgroup FILE               into the control group whose `tasks` or `cgroup.procs` that is
 *     bornin FOLDER             into the control group of that folder: the child of the next step `fork` is born there
 *     unshare FLAGS             new namespaces (CLONE_NEW*)
 *     map                       in a new user namespace: this account, and no other
 *     fork                      go on in a child, which a new process namespace begins with; this process ends
 *     attend                    the same, but this process waits for the end of the child
 *     newroot FOLDER            an empty root; the one that was is at /oldroot until `enter`
 *     bind SOURCE PLACE HOW     a file or folder of the old root in the new one: ro, rw, or dev
 *     maybe SOURCE PLACE HOW    the same, if it is there
 *     tmpfs PLACE OPTIONS       an empty folder in memory
 *     mkdir PLACE MODE UID GID  a folder in one of those
 *     proc PLACE                a /proc of the new process namespace, read-only
 *     symlink TARGET PLACE
 *     enter                     the new root is the only one, and read-only
 *     loopback                  127.0.0.1 of a new network namespace works
 *     init SCRATCH              go on in a child; this process stays as the first one of the namespace, and reaps
 *     rlimit RESOURCE SOFT HARD never above what is granted already
 *     chdir FOLDER
 *     account UID GID           another account, without further groups
 *     nocaps                    no capabilities, nor any to be had by executing something
 *     nnp                       no new privileges
 *     landlock FILES NETWORK SCOPES, allow PATH RIGHTS …, restrict
 *     seccomp HEX               a filter
 *
 * With `init`, the supervisor hears "bot" from the bot itself and "started" from the first process, both with the sender's
 * pid as the supervisor sees it (SO_PASSCRED), later "exit STATUS PEAK_KIB FREE_BYTES", the last of which is the room left
 * in the folder SCRATCH; without, it hears "runs", and the socket
 * closes when the program does. "error TEXT" comes in the place of either.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Younger than the headers of many systems; the numbers are the same on every architecture. */
#define NR_CLONE3 435
#define NR_MOUNT_SETATTR 442
#define NR_LANDLOCK_CREATE_RULESET 444
#define NR_LANDLOCK_ADD_RULE 445
#define NR_LANDLOCK_RESTRICT_SELF 446
#define ATTR_RDONLY 0x1
#define ATTR_NOSUID 0x2
#define ATTR_NODEV 0x4
#define RECURSIVE 0x8000
#define RULE_PATH_BENEATH 1
#define INTO_CGROUP 0x200000000ULL
/* What can be granted on a file that is no folder: execute, write, read, truncate, ioctl. */
#define FILE_RIGHTS 0xc007ULL
#define OLD "/oldroot"
#define NEW "/newroot"

static int status = -1;     /* the supervisor's socket */
static int exec_pipe = -1;  /* to our first process, once there is one */
static int ruleset = -1;
static int group = -1;      /* the folder of the control group that our child is to be born in */
static char **arguments;

static void tell(const char *text) { (void)!send(status, text, strlen(text), MSG_NOSIGNAL); }

static void fail(const char *format, ...) {
    char text[4096] = "error ";
    int code = errno;
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    length += vsnprintf(text + length, sizeof text - length, format, arguments);
    va_end(arguments);
    if (length >= sizeof text) length = sizeof text - 1;
    snprintf(text + length, sizeof text - length, ": %s", strerror(code));
    if (exec_pipe >= 0)
        (void)!write(exec_pipe, text, strlen(text));
    else if (status >= 0)
        tell(text);
    else
        fprintf(stderr, "launcher: %s\n", text + 6);
    _exit(126);
}

static long number(const char *text) {
    char *end;
    errno = EINVAL;
    long value = strtol(text, &end, 0);
    if (*text == 0 || *end != 0) fail("%s is no number", text);
    return value;
}

static void path_of(char *path, const char *root, const char *place) {
    errno = ENAMETOOLONG;
    if (snprintf(path, PATH_MAX, "%s%s", root, place) >= PATH_MAX) fail("%s%s", root, place);
}

/* Makes the folders that lead to a path. */
static void make_parents(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(path, 0755) != 0 && errno != EEXIST) fail("mkdir %s", path);
        *slash = '/';
    }
}

static void put(const char *file, const char *text) {
    int descriptor = open(file, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) fail("%s", file);
    if (write(descriptor, text, strlen(text)) < 0) fail("%s", file);
    close(descriptor);
}

static void set_attributes(const char *path, unsigned flags, uint64_t attributes) {
    struct { uint64_t set, clear, propagation, user_namespace; } wanted = {attributes, 0, 0, 0};
    if (syscall(NR_MOUNT_SETATTR, AT_FDCWD, path, flags, &wanted, sizeof wanted) != 0) fail("mount_setattr %s", path);
}

static void step_status(char **a) {
    status = number(a[0]);
    if (fcntl(status, F_SETFD, FD_CLOEXEC) != 0) fail("status %s", a[0]);
}

static void step_cgroup(char **a) { put(a[0], "0"); }

static void step_bornin(char **a) {
    group = open(a[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (group < 0) fail("%s", a[0]);
}

static void move_into_group(void) {
    int file = openat(group, "cgroup.procs", O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, "0", 1) < 0) fail("cgroup.procs");
    close(file);
}

static pid_t fork_into_group(void) {
    if (group >= 0) {
        struct { uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, tids, tids_size, group; }
            wanted = {.flags = INTO_CGROUP, .exit_signal = SIGCHLD, .group = (uint64_t)group};
        pid_t child = syscall(NR_CLONE3, &wanted, sizeof wanted);
        if (child >= 0) {
            close(group);
            group = -1;
            return child;
        }
    }
    pid_t child = fork(); /* a kernel before Linux 5.7, or one that does not let us */
    if (child == 0 && group >= 0) move_into_group();
    return child;
}

static void step_unshare(char **a) {
    if (unshare(number(a[0])) != 0) fail("unshare");
}

static void step_map(char **a) {
    char text[64];
    unsigned uid = (unsigned)number(a[0]), gid = (unsigned)number(a[1]);
    if (access("/proc/self/setgroups", F_OK) == 0) put("/proc/self/setgroups", "deny");
    snprintf(text, sizeof text, "%u %u 1", uid, uid);
    put("/proc/self/uid_map", text);
    snprintf(text, sizeof text, "%u %u 1", gid, gid);
    put("/proc/self/gid_map", text);
}

static void step_fork(char **a) {
    (void)a;
    pid_t child = fork_into_group();
    if (child < 0) fail("fork");
    if (child > 0) _exit(0); /* the child is the supervisor's from now on */
}

static void step_attend(char **a) {
    (void)a;
    int state;
    pid_t child = fork_into_group();
    if (child < 0) fail("fork");
    if (child > 0) {
        while (waitpid(child, &state, 0) < 0 && errno == EINTR) {}
        _exit(0);
    }
}

static void step_newroot(char **a) {
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) fail("mount / private");
    if (mount("tmpfs", a[0], "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m") != 0) fail("mount tmpfs %s", a[0]);
    if (chdir(a[0]) != 0) fail("chdir %s", a[0]);
    if (mkdir("newroot", 0755) != 0 || mkdir("oldroot", 0755) != 0) fail("mkdir newroot");
    if (syscall(SYS_pivot_root, ".", "oldroot") != 0) fail("pivot_root %s", a[0]);
    if (chdir("/") != 0) fail("chdir /");
    if (mount(NEW, NEW, NULL, MS_BIND, NULL) != 0) fail("mount " NEW);
}

static void bind_mount(char **a, int optional) {
    char source[PATH_MAX], place[PATH_MAX];
    struct stat found;
    path_of(source, OLD, a[0]);
    path_of(place, NEW, a[1]);
    if (stat(source, &found) != 0) {
        if (optional) return;
        fail("%s", a[0]);
    }
    make_parents(place);
    if (S_ISDIR(found.st_mode)) {
        if (mkdir(place, 0755) != 0 && errno != EEXIST) fail("mkdir %s", a[1]);
    } else {
        int file = open(place, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (file < 0 && errno != EROFS) fail("create %s", a[1]);
        close(file);
    }
    if (mount(source, place, NULL, MS_BIND | MS_REC, NULL) != 0) {
        if (optional) return;
        fail("mount %s", a[1]);
    }
    uint64_t attributes = ATTR_NOSUID | (strcmp(a[2], "dev") ? ATTR_NODEV : 0) | (strcmp(a[2], "ro") ? 0 : ATTR_RDONLY);
    set_attributes(place, RECURSIVE, attributes);
}

static void step_bind(char **a) { bind_mount(a, 0); }

static void step_maybe(char **a) { bind_mount(a, 1); }

static void step_tmpfs(char **a) {
    char place[PATH_MAX];
    path_of(place, NEW, a[0]);
    make_parents(place);
    if (mkdir(place, 0755) != 0 && errno != EEXIST) fail("mkdir %s", a[0]);
    if (mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, a[1]) != 0) fail("mount tmpfs %s", a[0]);
}

static void step_mkdir(char **a) {
    char place[PATH_MAX];
    path_of(place, NEW, a[0]);
    make_parents(place);
    if (mkdir(place, 0700) != 0 && errno != EEXIST) fail("mkdir %s", a[0]);
    if (chmod(place, number(a[1])) != 0) fail("chmod %s", a[0]);
    if (chown(place, number(a[2]), number(a[3])) != 0) fail("chown %s", a[0]);
}

static void step_proc(char **a) {
    char place[PATH_MAX];
    path_of(place, NEW, a[0]);
    make_parents(place);
    if (mkdir(place, 0755) != 0 && errno != EEXIST) fail("mkdir %s", a[0]);
    if (mount("proc", place, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) fail("mount proc");
    set_attributes(place, 0, ATTR_RDONLY);
}

static void step_symlink(char **a) {
    char place[PATH_MAX];
    path_of(place, NEW, a[1]);
    make_parents(place);
    if (symlink(a[0], place) != 0 && errno != EEXIST) fail("symlink %s", a[1]);
}

static void step_enter(char **a) {
    (void)a;
    set_attributes(NEW, 0, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV);
    if (chdir(NEW) != 0) fail("chdir " NEW);
    if (syscall(SYS_pivot_root, ".", ".") != 0) fail("pivot_root");
    if (umount2(".", MNT_DETACH) != 0) fail("umount of the old root");
    if (chdir("/") != 0) fail("chdir /");
}

static void step_loopback(char **a) {
    (void)a;
    struct ifreq request;
    int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (control < 0) fail("socket");
    memset(&request, 0, sizeof request);
    strcpy(request.ifr_name, "lo");
    request.ifr_flags = IFF_UP;
    if (ioctl(control, SIOCSIFFLAGS, &request) != 0) fail("loopback");
    close(control);
}

/* The first process of a namespace: tells how the bot started and ended, and reaps whatever falls to it. It holds none
 * of the bot's pipes, and ends when nothing is left, or when the supervisor ends it, and everything with it. */
static void stay(pid_t bot, int heard, const char *scratch) {
    struct statvfs room;
    int folder = open(scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
    char text[4096];
    struct rusage used;
    long peak_kib = 0;
    int state;
    pid_t ended;
    for (int descriptor = 0; descriptor < 3; ++descriptor) close(descriptor);
    for (char **word = arguments; *word; ++word) memset(*word, 0, strlen(*word)); /* the bot need not read them */
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    prctl(PR_SET_NAME, "referee-init", 0, 0, 0);
    ssize_t length = read(heard, text, sizeof text - 1);
    if (length > 0) {
        text[length] = 0;
        tell(text);
        _exit(126);
    }
    close(heard);
    tell("started");
    while ((ended = wait4(-1, &state, 0, &used)) > 0 || errno == EINTR) {
        if (ended > 0 && used.ru_maxrss > peak_kib) peak_kib = used.ru_maxrss;
        if (ended == bot) {
            long long left = fstatvfs(folder, &room) == 0 ? (long long)room.f_bavail * (long long)room.f_frsize : -1;
            snprintf(text, sizeof text, "exit %d %ld %lld", state, peak_kib, left);
            tell(text);
        }
    }
    _exit(0);
}

static void step_init(char **a) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
    pid_t bot = fork();
    if (bot < 0) fail("fork");
    if (bot > 0) {
        close(ends[1]);
        stay(bot, ends[0], a[0]);
    }
    close(ends[0]);
    exec_pipe = ends[1];
    tell("bot");
    close(status);
    status = -1;
    if (setsid() < 0) fail("setsid");
}

static void step_rlimit(char **a) {
    struct rlimit granted, wanted = {number(a[1]), number(a[2])};
    int resource = number(a[0]);
    if (getrlimit(resource, &granted) != 0) fail("getrlimit %d", resource);
    if (granted.rlim_max != RLIM_INFINITY && wanted.rlim_max > granted.rlim_max) wanted.rlim_max = granted.rlim_max;
    if (wanted.rlim_cur > wanted.rlim_max) wanted.rlim_cur = wanted.rlim_max;
    if (setrlimit(resource, &wanted) != 0) fail("setrlimit %d", resource);
}

static void step_chdir(char **a) {
    if (chdir(a[0]) != 0) fail("%s", a[0]);
}

static void step_account(char **a) {
    unsigned uid = (unsigned)number(a[0]), gid = (unsigned)number(a[1]);
    if (setgroups(0, NULL) != 0) fail("setgroups");
    if (setresgid(gid, gid, gid) != 0) fail("setresgid %u", gid);
    if (setresuid(uid, uid, uid) != 0) fail("setresuid %u", uid);
}

static void step_nocaps(char **a) {
    (void)a;
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2];
    memset(none, 0, sizeof none);
    for (int capability = 0; capability < 64; ++capability) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED, 0, 0, 0);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capset, &header, none) != 0) fail("capset");
}

static void step_nnp(char **a) {
    (void)a;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("no_new_privs");
}

static void step_landlock(char **a) {
    uint64_t handled[3];
    for (int index = 0; index < 3; ++index) handled[index] = (uint64_t)number(a[index]);
    ruleset = syscall(NR_LANDLOCK_CREATE_RULESET, handled, sizeof handled, 0);
    if (ruleset < 0) fail("landlock_create_ruleset");
}

static void step_allow(char **a) {
    struct { uint64_t rights; int32_t parent; } __attribute__((packed)) rule;
    struct stat found;
    rule.rights = (uint64_t)number(a[1]);
    rule.parent = open(a[0], O_PATH | O_CLOEXEC);
    if (rule.parent < 0) return; /* it is not there, or closed to us: nothing to allow */
    if (fstat(rule.parent, &found) != 0) fail("%s", a[0]);
    if (!S_ISDIR(found.st_mode)) rule.rights &= FILE_RIGHTS;
    if (syscall(NR_LANDLOCK_ADD_RULE, ruleset, RULE_PATH_BENEATH, &rule, 0) != 0) fail("landlock_add_rule %s", a[0]);
    close(rule.parent);
}

static void step_restrict(char **a) {
    (void)a;
    if (syscall(NR_LANDLOCK_RESTRICT_SELF, ruleset, 0) != 0) fail("landlock_restrict_self");
    close(ruleset);
}

static void step_seccomp(char **a) {
    static struct sock_filter code[512];
    size_t bytes = strlen(a[0]) / 2;
    errno = E2BIG;
    if (bytes > sizeof code) fail("seccomp");
    for (size_t index = 0; index < bytes; ++index) {
        unsigned value;
        errno = EINVAL;
        if (sscanf(a[0] + 2 * index, "%2x", &value) != 1) fail("seccomp");
        ((unsigned char *)code)[index] = value;
    }
    struct sock_fprog program = {bytes / sizeof code[0], code};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) fail("seccomp");
}

static const struct {
    const char *name;
    int arguments;
    void (*take)(char **);
} STEPS[] = {
    {"status", 1, step_status},   {"cgroup", 1, step_cgroup},     {"unshare", 1, step_unshare},
    {"bornin", 1, step_bornin},
    {"map", 2, step_map},         {"fork", 0, step_fork},         {"newroot", 1, step_newroot},
    {"attend", 0, step_attend},
    {"bind", 3, step_bind},       {"maybe", 3, step_maybe},       {"tmpfs", 2, step_tmpfs},
    {"mkdir", 4, step_mkdir},     {"proc", 1, step_proc},         {"symlink", 2, step_symlink},
    {"enter", 0, step_enter},     {"loopback", 0, step_loopback}, {"init", 1, step_init},
    {"rlimit", 3, step_rlimit},   {"chdir", 1, step_chdir},       {"account", 2, step_account},
    {"nocaps", 0, step_nocaps},   {"nnp", 0, step_nnp},           {"landlock", 3, step_landlock},
    {"allow", 2, step_allow},     {"restrict", 0, step_restrict}, {"seccomp", 1, step_seccomp},
};

int main(int count, char **words) {
    arguments = words;
    int at = 1;
    while (at < count && strcmp(words[at], "--") != 0) {
        size_t step = 0;
        while (step < sizeof STEPS / sizeof STEPS[0] && strcmp(words[at], STEPS[step].name) != 0) ++step;
        errno = EINVAL;
        if (step == sizeof STEPS / sizeof STEPS[0] || at + STEPS[step].arguments >= count) fail("step %s", words[at]);
        STEPS[step].take(words + at + 1);
        at += 1 + STEPS[step].arguments;
    }
    errno = EINVAL;
    if (at + 1 >= count) fail("no program");
    if (status >= 0) tell("runs");
    execv(words[at + 1], words + at + 1);
    fail("%s", words[at + 1]);
}
