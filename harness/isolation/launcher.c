/* The sandbox launcher: sets up the sandbox of a bot, and becomes the bot.
 *
 *     launcher STEP ARGUMENTS… STEP ARGUMENTS… -- PROGRAM ARGUMENTS…
 *
 * `plan.py` chooses the steps and their order. A step that fails ends the start, and the supervisor hears about it: our
 * error is no fault of the bot.
 *
 *     status FD                       report to this socket of the supervisor
 *     cgroup FILE                     join the control group with this file `tasks` or `cgroup.procs`
 *     child_cgroup FOLDER             start the child of the next `fork` in the control group with this folder
 *     unshare FLAGS                   enter new namespaces (CLONE_NEW*)
 *     own_cgroup                      see this control group as the topmost, if the kernel can show that
 *     map UID GID                     map this account, and no other, into a new user namespace
 *     fork                            continue in a child, the first one of a new process namespace, and exit
 *     fork_and_wait                   the same, but wait for the child before the exit
 *     newroot FOLDER                  start with an empty root; the old one is at /oldroot until `enter`
 *     bind SOURCE PLACE HOW           mount a file or folder of the old root: ro, rw, or dev
 *     bind_optional SOURCE PLACE HOW  the same, if it exists and can be mounted
 *     tmpfs PLACE OPTIONS             mount an empty folder in memory
 *     overlay PLACE LAYER UID WHAT OPTIONS
 *                                     show a folder of the old root, whose folders UID may change, and its files with
 *                                     `files`; the changes go to the folder LAYER
 *     mkdir PLACE MODE UID GID        make a folder
 *     proc PLACE                      mount a read-only /proc of the new process namespace
 *     devpts PLACE                    mount new pseudo-terminals, if the kernel has them
 *     names UID GID HOME              give this account a name, in /etc/passwd and /etc/group, where these are files
 *     symlink TARGET PLACE            make a link
 *     enter                           make the new root the only one, and read-only
 *     loopback                        bring up 127.0.0.1 in a new network namespace
 *     init SCRATCH                    continue in a child; reap the orphans of the namespace meanwhile
 *     rlimit RESOURCE SOFT HARD       lower a limit, but never raise one
 *     chdir FOLDER                    change the working folder
 *     account UID GID                 change the account and drop supplementary groups
 *     drop_capabilities               for good: no exec brings them back
 *     no_new_privs                    gain no privileges by exec
 *     landlock FILES NETWORK SCOPES   begin a ruleset that handles these rights
 *     allow PATH RIGHTS               add a rule
 *     restrict                        enforce the ruleset
 *     seccomp HEX                     install a filter
 *     setenv NAME VALUE               set an environment variable of the program
 *
 * With `init`, the bot itself reports "bot" and the first process "started". The kernel attaches the pid of the sender,
 * as the supervisor sees it (SO_PASSCRED). At the bot's end comes "exit STATUS PEAK_KIB FREE_BYTES"; the last number is
 * the free space in the folder SCRATCH. Without `init`, "runs" is reported, and the socket closes when the program ends.
 * "error TEXT" replaces any of these.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
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

/* Newer than the headers of many systems. The numbers are the same on every architecture. */
#define NR_OPEN_TREE 428
#define NR_MOVE_MOUNT 429
#define NR_CLONE3 435
#define NR_MOUNT_SETATTR 442
#define NR_LANDLOCK_CREATE_RULESET 444
#define NR_LANDLOCK_ADD_RULE 445
#define NR_LANDLOCK_RESTRICT_SELF 446
#define ATTR_RDONLY 0x1
#define ATTR_NOSUID 0x2
#define ATTR_NODEV 0x4
#define RECURSIVE 0x8000
#define OPEN_TREE_COPY 1
#define FROM_DESCRIPTOR 0x4
#define FOLLOW_LINK 0x10
#define RULE_PATH_BENEATH 1
#define NEW_CGROUP 0x02000000
#define INTO_CGROUP 0x200000000ULL
/* The rights that a file can have: execute, write, read, truncate, ioctl. */
#define FILE_RIGHTS 0xc007ULL
#define OLD "oldroot"
#define NEW "/newroot"

static int status = -1;     /* the supervisor's socket */
static int init_pipe = -1;  /* to the first process of the namespace, in its child */
static int ruleset = -1;
static int group = -1;      /* the folder of the control group in which our child starts */
static char **arguments;

static void report(const char *text) { (void)!send(status, text, strlen(text), MSG_NOSIGNAL); }

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
    if (init_pipe >= 0)
        (void)!write(init_pipe, text, strlen(text));
    else if (status >= 0)
        report(text);
    else
        fprintf(stderr, "launcher: %s\n", text + 6);
    _exit(126);
}

static long number(const char *text) {
    char *end;
    errno = EINVAL;
    long value = strtol(text, &end, 0);
    if (*text == 0 || *end != 0) fail("%s is not a number", text);
    return value;
}

/* Makes the parent folders of a path. */
static void make_parents(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(path, 0755) != 0 && errno != EEXIST) fail("mkdir %s", path);
        *slash = '/';
    }
}

/* Makes a folder, unless it exists. */
static void make_folder(char *path, mode_t mode) {
    make_parents(path);
    if (mkdir(path, mode) != 0 && errno != EEXIST) fail("mkdir %s", path);
}

static void put(const char *file, const char *text) {
    int descriptor = open(file, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) fail("%s", file);
    if (write(descriptor, text, strlen(text)) < 0) fail("%s", file);
    close(descriptor);
}

static void set_attributes(const char *path, unsigned flags, uint64_t attributes) {
    struct { uint64_t set, clear, propagation, user_namespace; } request = {attributes, 0, 0, 0};
    if (syscall(NR_MOUNT_SETATTR, AT_FDCWD, path, flags, &request, sizeof request) != 0) fail("mount_setattr %s", path);
}

static void step_status(char **a) {
    status = number(a[0]);
    if (fcntl(status, F_SETFD, FD_CLOEXEC) != 0) fail("status %s", a[0]);
}

static void step_cgroup(char **a) { put(a[0], "0"); }

static void step_child_cgroup(char **a) {
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
        struct {
            uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, tids, tids_size, group;
        } request = {.flags = INTO_CGROUP, .exit_signal = SIGCHLD, .group = (uint64_t)group};
        pid_t child = syscall(NR_CLONE3, &request, sizeof request);
        if (child >= 0) {
            close(group);
            group = -1;
            return child;
        }
    }
    pid_t child = fork(); /* before Linux 5.7, or where this is forbidden */
    if (child == 0 && group >= 0) move_into_group();
    return child;
}

static void step_unshare(char **a) {
    if (unshare(number(a[0])) != 0) fail("unshare");
}

static void step_own_cgroup(char **a) {
    (void)a;
    (void)!unshare(NEW_CGROUP);
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
    if (child > 0) _exit(0); /* the supervisor adopts the child */
}

static void step_fork_and_wait(char **a) {
    (void)a;
    int state;
    pid_t child = fork_into_group();
    if (child < 0) fail("fork");
    if (child > 0) {
        while (waitpid(child, &state, 0) < 0 && errno == EINTR) {}
        _exit(0);
    }
}

#include "launcher_root.h"

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

/* Runs the first process of a namespace: reports the start and end of the bot, and reaps orphans. It holds none of the
 * bot's pipes. It exits when no process is left. If the supervisor kills it, the kernel kills the whole namespace. */
static void run_init(pid_t bot, int read_end, const char *scratch) {
    struct statvfs room;
    int folder = open(scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
    char text[4096];
    struct rusage used;
    long peak_kib = 0;
    int state;
    pid_t ended;
    for (int descriptor = 0; descriptor < 3; ++descriptor) close(descriptor);
    for (char **word = arguments; *word; ++word) memset(*word, 0, strlen(*word)); /* hides them from the bot */
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    prctl(PR_SET_NAME, "referee-init", 0, 0, 0);
    ssize_t length = read(read_end, text, sizeof text - 1);
    if (length > 0) {
        text[length] = 0;
        report(text);
        _exit(126);
    }
    close(read_end);
    report("started");
    while ((ended = wait4(-1, &state, 0, &used)) > 0 || errno == EINTR) {
        if (ended > 0 && used.ru_maxrss > peak_kib) peak_kib = used.ru_maxrss;
        if (ended == bot) {
            long long left = fstatvfs(folder, &room) == 0 ? (long long)room.f_bavail * (long long)room.f_frsize : -1;
            snprintf(text, sizeof text, "exit %d %ld %lld", state, peak_kib, left);
            report(text);
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
        run_init(bot, ends[0], a[0]);
    }
    close(ends[0]);
    init_pipe = ends[1];
    report("bot");
    close(status);
    status = -1;
    if (setsid() < 0) fail("setsid");
}

static void step_rlimit(char **a) {
    struct rlimit granted, limit = {number(a[1]), number(a[2])};
    int resource = number(a[0]);
    if (getrlimit(resource, &granted) != 0) fail("getrlimit %d", resource);
    if (granted.rlim_max != RLIM_INFINITY && limit.rlim_max > granted.rlim_max) limit.rlim_max = granted.rlim_max;
    if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
    if (setrlimit(resource, &limit) != 0) fail("setrlimit %d", resource);
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

static void step_drop_capabilities(char **a) {
    (void)a;
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2];
    memset(none, 0, sizeof none);
    for (int capability = 0; capability < 64; ++capability) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED, 0, 0, 0);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capset, &header, none) != 0) fail("capset");
}

static void step_no_new_privs(char **a) {
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
    struct stat info;
    rule.rights = (uint64_t)number(a[1]);
    rule.parent = open(a[0], O_PATH | O_CLOEXEC);
    if (rule.parent < 0) return; /* it does not exist, or we may not see it */
    if (fstat(rule.parent, &info) != 0) fail("%s", a[0]);
    if (!S_ISDIR(info.st_mode)) rule.rights &= FILE_RIGHTS;
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

static void step_setenv(char **a) {
    if (setenv(a[0], a[1], 1) != 0) fail("setenv %s", a[0]);
}

#define STEP(name, arguments) {#name, arguments, step_##name}
static const struct {
    const char *name;
    int arguments;
    void (*take)(char **);
} STEPS[] = {
    STEP(status, 1), STEP(cgroup, 1), STEP(unshare, 1), STEP(child_cgroup, 1), STEP(map, 2), STEP(fork, 0),
    STEP(newroot, 1), STEP(fork_and_wait, 0), STEP(bind, 3), STEP(bind_optional, 3), STEP(tmpfs, 2), STEP(mkdir, 4),
    STEP(proc, 1), STEP(symlink, 2), STEP(enter, 0), STEP(loopback, 0), STEP(init, 1), STEP(rlimit, 3),
    STEP(chdir, 1), STEP(account, 2), STEP(drop_capabilities, 0), STEP(no_new_privs, 0), STEP(landlock, 3),
    STEP(allow, 2), STEP(restrict, 0), STEP(seccomp, 1), STEP(setenv, 2), STEP(devpts, 1), STEP(names, 3),
    STEP(own_cgroup, 0), STEP(overlay, 5),
};

int main(int count, char **words) {
    arguments = words;
    /* Inherited from whatever started the referee: folders must be open to the bot's account, and children waited for. */
    umask(022);
    signal(SIGCHLD, SIG_DFL);
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
    if (status >= 0) report("runs");
    execv(words[at + 1], words + at + 1);
    fail("%s", words[at + 1]);
}
