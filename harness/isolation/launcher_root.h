/* The steps of `launcher.c` that make the new root. */

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
    struct stat info;
    path_of(source, OLD, a[0]);
    path_of(place, NEW, a[1]);
    if (stat(source, &info) != 0) {
        if (optional) return;
        fail("%s", a[0]);
    }
    make_parents(place);
    if (S_ISDIR(info.st_mode)) {
        if (mkdir(place, 0755) != 0 && errno != EEXIST) fail("mkdir %s", a[1]);
    } else if (lstat(place, &info) != 0) {
        int file = open(place, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (file < 0) {
            if (optional) return;
            fail("create %s", a[1]);
        }
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

static void step_bind_optional(char **a) { bind_mount(a, 1); }

static void step_tmpfs(char **a) {
    char place[PATH_MAX];
    make_folder(place, a[0], 0755);
    if (mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, a[1]) != 0) fail("mount tmpfs %s", a[0]);
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
    char place[PATH_MAX], layer[PATH_MAX], lower[64], options[3 * PATH_MAX];
    struct stat info;
    owner = number(a[2]);
    gives_files = strcmp(a[3], "files") == 0;
    path_of(place, OLD, a[0]);
    if (stat(place, &info) != 0) return;
    snprintf(lower, sizeof lower, "/lower%d", ++count); /* a name without the characters that separate options */
    if (mkdir(lower, 0755) != 0 || mount(place, lower, NULL, MS_BIND, NULL) != 0) fail("mount %s", a[0]);
    snprintf(layer, sizeof layer, "/layer%d", count);
    if (mkdir(layer, 0755) != 0) fail("mkdir %s", layer);
    snprintf(options, sizeof options, "%slowerdir=%s,upperdir=%s/upper,workdir=%s/work", a[4], lower, layer, layer);
    make_folder(place, a[0], 0755);
    char folder[PATH_MAX], inner[PATH_MAX + 8];
    path_of(folder, OLD, a[1]);
    int mounted = mount(folder, layer, NULL, MS_BIND, NULL) == 0 && mount("overlay", place, "overlay", 0, options) == 0;
    if (!mounted && mount("tmpfs", layer, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") == 0) {
        snprintf(inner, sizeof inner, "%s/upper", layer);
        (void)!mkdir(inner, 0755);
        (void)!chown(inner, owner, owner);
        snprintf(inner, sizeof inner, "%s/work", layer);
        (void)!mkdir(inner, 0755);
        mounted = mount("overlay", place, "overlay", 0, options) == 0;
    }
    if (!mounted && mount(lower, place, NULL, MS_BIND, NULL) != 0) fail("mount %s", a[0]);
    set_attributes(place, 0, ATTR_NOSUID | ATTR_NODEV | (mounted ? 0 : ATTR_RDONLY));
    if (mounted && owner != geteuid()) (void)!nftw(place, give, 16, FTW_PHYS | FTW_MOUNT);
}

static void step_mkdir(char **a) {
    char place[PATH_MAX];
    make_folder(place, a[0], 0700);
    if (chmod(place, number(a[1])) != 0) fail("chmod %s", a[0]);
    if (chown(place, number(a[2]), number(a[3])) != 0) fail("chown %s", a[0]);
}

static void step_proc(char **a) {
    char place[PATH_MAX];
    make_folder(place, a[0], 0755);
    if (mount("proc", place, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) fail("mount proc");
    set_attributes(place, 0, ATTR_RDONLY);
}

static void step_devpts(char **a) {
    char place[PATH_MAX];
    make_folder(place, a[0], 0755);
    (void)!mount("devpts", place, "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0600,max=64");
}

/* Mounts a file with this text over another one, or makes that file. */
static void show_text(const char *source, const char *path, const char *text) {
    char place[PATH_MAX];
    struct stat info;
    int file = open(source, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0 || write(file, text, strlen(text)) < 0) fail("%s", path);
    close(file);
    path_of(place, NEW, path);
    if (lstat(place, &info) != 0) {
        file = open(place, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (file < 0) return; /* in a folder of the machine or of an image that lacks it */
        close(file);
    } else if (!S_ISREG(info.st_mode)) {
        return;
    }
    if (mount(source, place, NULL, MS_BIND, NULL) != 0) fail("mount %s", path);
    set_attributes(place, 0, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV);
}

static void step_names(char **a) {
    char text[2 * PATH_MAX];
    const char *home = strpbrk(a[2], ":\n") ? "/tmp" : a[2];
    snprintf(text, sizeof text,
             "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n"
             "bot:x:%s:%s:bot:%s:/bin/sh\n", a[0], a[1], home);
    show_text("/passwd", "/etc/passwd", text);
    snprintf(text, sizeof text, "root:x:0:\nnogroup:x:65534:\nbot:x:%s:\n", a[1]);
    show_text("/group", "/etc/group", text);
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
