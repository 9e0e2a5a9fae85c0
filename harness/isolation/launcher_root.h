/* The steps of `launcher.c` that make the new root. */

static int base = -1; /* the folder of the old and the new root */

/* From `newroot` to `enter`, our `/` is the new root. So no link in the files of a bot leads out of it. */
static void go_in(void) {
    if (chroot(NEW) != 0 || chdir("/") != 0) fail("chroot " NEW);
}

static void go_out(void) {
    if (fchdir(base) != 0 || chroot(".") != 0) fail("chroot");
}

static void step_newroot(char **a) {
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) fail("mount / private");
    if (mount("tmpfs", a[0], "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m") != 0) fail("mount tmpfs %s", a[0]);
    if (chdir(a[0]) != 0) fail("chdir %s", a[0]);
    if (mkdir("newroot", 0755) != 0 || mkdir(OLD, 0755) != 0) fail("mkdir newroot");
    if (syscall(SYS_pivot_root, ".", OLD) != 0) fail("pivot_root %s", a[0]);
    if (chdir("/") != 0) fail("chdir /");
    if (mount(NEW, NEW, NULL, MS_BIND, NULL) != 0) fail("mount " NEW);
    base = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (base < 0) fail("open /");
    go_in();
}

/* Writes where a path of the old root lies below `base`. */
static void old_path(char *path, const char *place) {
    errno = ENAMETOOLONG;
    if (snprintf(path, PATH_MAX, OLD "%s", place) >= PATH_MAX) fail("%s", place);
}

/* Copies what lies at a path below `base`, for `attach`. Returns -1 if that fails. */
static int mounted_at(const char *path) {
    return syscall(NR_OPEN_TREE, base, path, OPEN_TREE_COPY | RECURSIVE | O_CLOEXEC);
}

static int attach(int copy, const char *place) {
    int result = syscall(NR_MOVE_MOUNT, copy, "", AT_FDCWD, place, FROM_DESCRIPTOR | FOLLOW_LINK);
    close(copy);
    return result;
}

static void bind_mount(char **a, int optional) {
    char source[PATH_MAX];
    struct stat info;
    old_path(source, a[0]);
    if (fstatat(base, source, &info, 0) != 0) {
        if (optional) return;
        fail("%s", a[0]);
    }
    make_parents(a[1]);
    if (S_ISDIR(info.st_mode)) {
        if (mkdir(a[1], 0755) != 0 && errno != EEXIST) fail("mkdir %s", a[1]);
    } else if (lstat(a[1], &info) != 0) {
        int file = open(a[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (file < 0) {
            if (optional) return;
            fail("create %s", a[1]);
        }
        close(file);
    }
    int copy = mounted_at(source);
    if (copy < 0 || attach(copy, a[1]) != 0) {
        if (optional) return;
        fail("mount %s", a[1]);
    }
    uint64_t attributes = ATTR_NOSUID | (strcmp(a[2], "dev") ? ATTR_NODEV : 0) | (strcmp(a[2], "ro") ? 0 : ATTR_RDONLY);
    set_attributes(a[1], RECURSIVE, attributes);
}

static void step_bind(char **a) { bind_mount(a, 0); }

static void step_bind_optional(char **a) { bind_mount(a, 1); }

static void step_tmpfs(char **a) {
    make_folder(a[0], 0755);
    if (mount("tmpfs", a[0], "tmpfs", MS_NOSUID | MS_NODEV, a[1]) != 0) fail("mount tmpfs %s", a[0]);
}

static uid_t owner;
static int gives_files;

static int give(const char *path, const struct stat *info, int kind, struct FTW *at) {
    (void)at;
    if ((kind == FTW_D || (kind == FTW_F && gives_files)) && info->st_uid != owner) (void)!lchown(path, owner, owner);
    return 0;
}

static void step_overlay(char **a) {
    static int count;
    char source[PATH_MAX], folder[PATH_MAX], inner[PATH_MAX + 8], options[512];
    char lower[64], layer[64], shown[64]; /* names without the characters that separate options */
    struct stat info;
    owner = number(a[2]);
    gives_files = strcmp(a[3], "files") == 0;
    old_path(source, a[0]);
    old_path(folder, a[1]);
    if (fstatat(base, source, &info, 0) != 0) return;
    make_folder(a[0], 0755);
    go_out();
    snprintf(lower, sizeof lower, "/lower%d", ++count);
    snprintf(layer, sizeof layer, "/layer%d", count);
    snprintf(shown, sizeof shown, "shown%d", count);
    if (mkdir(lower, 0755) != 0 || mkdir(layer, 0755) != 0 || mkdir(shown, 0755) != 0) fail("mkdir %s", layer);
    if (mount(source, lower, NULL, MS_BIND, NULL) != 0) fail("mount %s", a[0]);
    snprintf(options, sizeof options, "%slowerdir=%s,upperdir=%s/upper,workdir=%s/work", a[4], lower, layer, layer);
    int mounted = mount(folder, layer, NULL, MS_BIND, NULL) == 0 && mount("overlay", shown, "overlay", 0, options) == 0;
    if (!mounted && mount("tmpfs", layer, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") == 0) {
        snprintf(inner, sizeof inner, "%s/upper", layer);
        (void)!mkdir(inner, 0755);
        (void)!chown(inner, owner, owner);
        snprintf(inner, sizeof inner, "%s/work", layer);
        (void)!mkdir(inner, 0755);
        mounted = mount("overlay", shown, "overlay", 0, options) == 0;
    }
    if (!mounted && mount(lower, shown, NULL, MS_BIND, NULL) != 0) fail("mount %s", a[0]);
    set_attributes(shown, 0, ATTR_NOSUID | ATTR_NODEV | (mounted ? 0 : ATTR_RDONLY));
    if (mounted && owner != geteuid()) (void)!nftw(shown, give, 16, FTW_PHYS | FTW_MOUNT);
    int copy = mounted_at(shown);
    go_in();
    if (copy < 0 || attach(copy, a[0]) != 0) fail("mount %s", a[0]);
}

static void step_mkdir(char **a) {
    make_folder(a[0], 0700);
    if (chmod(a[0], number(a[1])) != 0) fail("chmod %s", a[0]);
    if (chown(a[0], number(a[2]), number(a[3])) != 0) fail("chown %s", a[0]);
}

static void step_proc(char **a) {
    make_folder(a[0], 0755);
    if (mount("proc", a[0], "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) fail("mount proc");
    set_attributes(a[0], 0, ATTR_RDONLY);
}

static void step_devpts(char **a) {
    make_folder(a[0], 0755);
    (void)!mount("devpts", a[0], "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0600,max=64");
}

/* Mounts a file with this text over another one, or makes that file. */
static void show_text(const char *source, const char *path, const char *text) {
    struct stat info;
    int file = openat(base, source, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0 || write(file, text, strlen(text)) < 0) fail("%s", path);
    close(file);
    if (stat(path, &info) != 0) {
        file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (file < 0) return; /* in a folder of the machine or of an image that lacks it */
        close(file);
    } else if (!S_ISREG(info.st_mode)) {
        return;
    }
    int copy = mounted_at(source);
    if (copy < 0 || attach(copy, path) != 0) fail("mount %s", path);
    set_attributes(path, 0, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV);
}

static void step_names(char **a) {
    char text[2 * PATH_MAX];
    const char *home = strpbrk(a[2], ":\n") ? "/tmp" : a[2];
    snprintf(text, sizeof text,
             "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n"
             "bot:x:%s:%s:bot:%s:/bin/sh\n", a[0], a[1], home);
    show_text("passwd", "/etc/passwd", text);
    snprintf(text, sizeof text, "root:x:0:\nnogroup:x:65534:\nbot:x:%s:\n", a[1]);
    show_text("group", "/etc/group", text);
}

static void step_symlink(char **a) {
    make_parents(a[1]);
    if (symlink(a[0], a[1]) != 0 && errno != EEXIST) fail("symlink %s", a[1]);
}

static void step_enter(char **a) {
    (void)a;
    go_out();
    set_attributes(NEW, 0, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV);
    if (chdir(NEW) != 0) fail("chdir " NEW);
    if (syscall(SYS_pivot_root, ".", ".") != 0) fail("pivot_root");
    if (umount2(".", MNT_DETACH) != 0) fail("umount of the old root");
    if (chdir("/") != 0) fail("chdir /");
}
