/*
 * overlay: lets a command write into a folder without changing it. What it writes goes to a layer
 * above, which a person looks at afterwards.
 *
 *   overlay --workspace PATH --expect FD --layers FD --report FD -- COMMAND [ARGUMENT]...
 *   overlay --workspace PATH --expect FD --mounts FD [--users FD] --report FD -- COMMAND
 *   [ARGUMENT]...
 *   overlay --xattrs DIRECTORY names what below a layer has attributes that are no content: PATH
 *   NUL KIND NUL, in no order; 3: there is more
 *   overlay --about                says that it runs here
 *
 * In a mount namespace of its own (and a user namespace, where it is not root) it mounts an overlay
 * over the workspace and becomes the command, which with all that it starts sees the overlay. The
 * kernel takes layers only from the mount namespace that they are mounted in: the workspace is
 * opened anew there, through no link, and has to be what --expect is open on; the layers, which
 * others cannot reach by a path, are the working directory, which goes along into a new namespace.
 *
 * With --mounts, a mount namespace in which that was done (--users: its user namespace, where the
 * caller is not root), the command sees the same overlay: not a second one over the same layers, of
 * which the kernel does not say what they would hold. Root takes the mount out of there and starts
 * nothing among the names of somebody else's namespace.
 *
 * --report gets one line: "mounted DEVICE INODE" of what the workspace's name leads to now, or
 * "failed REASON". No step that fails is passed over.
 *
 * KIND is o for a folder that hides what was below it, x for any attribute that neither the
 * kernel's overlay nor a security module keeps there.
 */
#define _GNU_SOURCE
#define PROGRAM "overlay"
#include "common.h"
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>

enum { SYS_OPEN_TREE = 428, SYS_MOVE_MOUNT = 429, SYS_OPENAT2 = 437 /* the same on every architecture */ };
enum { TREE_CLONE = 1, TREE_CLOEXEC = O_CLOEXEC, FROM_EMPTY_PATH = 4, TO_EMPTY_PATH = 0x40 /* C libraries before 2.36 have no names for them */ };
enum { TEXT_MAX = 512, OVERLAY_MAGIC = 0x794c7630, TOO_MUCH = 3 };
enum { ENTRIES_MAX = 400000, DEPTH_MAX = 200, NAMES_MAX = 65536, OUTPUT_MAX = 1 << 20 };
#define UPPER "upper"
#define WORK "work"

static int report = -1;

static void say(const char *format, ...) {
  char line[TEXT_MAX];
  va_list values;
  va_start(values, format);
  int size = vsnprintf(line, sizeof line, format, values);
  va_end(values);
  if (size < 0 || size >= (int)sizeof line || write(report, line, (size_t)size) != size) _exit(NOT_STARTED);
}

static void stop(const char *what) {
  say("failed cannot %s: %s\n", what, strerror(errno));
  _exit(NOT_STARTED);
}

/* ---- namespaces ---- */

static void put(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  ssize_t size = (ssize_t)strlen(text);
  if (fd < 0 || write(fd, text, (size_t)size) != size) stop("make a user namespace");
  close(fd);
}

static void map_to_itself(const char *path, unsigned id) {
  char line[64];
  snprintf(line, sizeof line, "%u %u 1", id, id);
  put(path, line);
}

/* The command stays who it is, and a program that is not root has no capabilities after execve. */
static void enter_namespaces(void) {
  uid_t uid = geteuid();
  gid_t gid = getegid();
  if (uid == 0) {
    if (unshare(CLONE_NEWNS) != 0) stop("make a mount namespace");
  } else {
    /* A file that its user may not read makes a process whose /proc/self is root's. */
    if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) stop("make a user namespace");
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) stop("make a user namespace");
    put("/proc/self/setgroups", "deny");
    map_to_itself("/proc/self/uid_map", uid);
    map_to_itself("/proc/self/gid_map", gid);
  }
  if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0) stop("keep mounts apart");
}

/* ---- the overlay ---- */

static int open_real(const char *path) {
  struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
  int fd = (int)syscall(SYS_OPENAT2, AT_FDCWD, path, &how, sizeof how);
  if (fd < 0) stop("open the workspace");
  return fd;
}

/* The workspace as it is on the host, and has to be. */
static int open_lower(const char *path, int expected) {
  struct stat wanted, found;
  int lower = open_real(path);
  if (fstat(expected, &wanted) != 0 || fstat(lower, &found) != 0) stop("look at the workspace");
  errno = ESTALE;
  if (wanted.st_dev != found.st_dev || wanted.st_ino != found.st_ino) stop("open the workspace: it was exchanged");
  return lower;
}

static void mount_overlay(const char *path, int expected) {
  char place[64], options[TEXT_MAX];
  int lower = open_lower(path, expected);
  snprintf(place, sizeof place, "/proc/self/fd/%d", lower);
  snprintf(options, sizeof options, "lowerdir=%s,upperdir=" UPPER ",workdir=" WORK ",userxattr", place);
  if (mount("overlay", place, "overlay", MS_NODEV | MS_NOSUID, options) != 0) stop("mount an overlay");
  close(lower);
}

/*
 * The mount that is there already: a copy of it in a namespace of root's own, or its whole
 * namespace where that is of the caller's own user.
 */
static void share_overlay(const char *path, int expected, int users, int mounts) {
  int own = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
  if (own < 0) stop("find its own mounts");
  if (users >= 0 && setns(users, CLONE_NEWUSER) != 0) stop("enter the user namespace of the overlay");
  if (setns(mounts, CLONE_NEWNS) != 0) stop("enter the mount namespace of the overlay");
  if (users < 0) {
    int there = open_real(path);
    int copy = (int)syscall(SYS_OPEN_TREE, there, "", AT_EMPTY_PATH | TREE_CLONE | TREE_CLOEXEC);
    if (copy < 0) stop("take the overlay");
    close(there);
    if (setns(own, CLONE_NEWNS) != 0) stop("leave the mount namespace of the overlay");
    enter_namespaces();
    int lower = open_lower(path, expected);
    if (syscall(SYS_MOVE_MOUNT, copy, "", lower, "", FROM_EMPTY_PATH | TO_EMPTY_PATH) != 0) stop("mount the overlay");
    close(copy);
    close(lower);
  }
  close(own);
}

static void confirm_overlay(const char *path) {
  struct stat found;
  struct statfs kind;
  int mounted = open_real(path);
  errno = EIO;
  if (fstat(mounted, &found) != 0 || fstatfs(mounted, &kind) != 0 || kind.f_type != OVERLAY_MAGIC) stop("see the overlay");
  say("mounted %llu %llu\n", (unsigned long long)found.st_dev, (unsigned long long)found.st_ino);
  close(mounted);
}

static void become_command(char **argv) {
  const char *path = NULL;
  long expected = -1, layers = -1, users = -1, mounts = -1;
  for (; *argv != NULL && strcmp(*argv, "--") != 0; argv += 2) {
    if (argv[1] == NULL) refuse("an option has no value");
    if (strcmp(*argv, "--workspace") == 0) path = argv[1];
    else if (strcmp(*argv, "--expect") == 0) expected = number(argv[1]);
    else if (strcmp(*argv, "--layers") == 0) layers = number(argv[1]);
    else if (strcmp(*argv, "--users") == 0) users = number(argv[1]);
    else if (strcmp(*argv, "--mounts") == 0) mounts = number(argv[1]);
    else if (strcmp(*argv, "--report") == 0) report = (int)number(argv[1]);
    else refuse("an option is unknown");
  }
  if (*argv == NULL || argv[1] == NULL) refuse("there is no command after --");
  if (path == NULL || *path != '/' || expected < 0 || (layers < 0) == (mounts < 0) || report < 0) refuse("an option is missing");
  if (mounts >= 0) share_overlay(path, (int)expected, (int)users, (int)mounts);
  else {
    if (fchdir((int)layers) != 0) stop("enter the layers");
    enter_namespaces();
    mount_overlay(path, (int)expected);
  }
  if (chdir("/") != 0) stop("leave the layers");
  confirm_overlay(path);
  const long further[] = { layers, users, mounts };
  for (int i = 0; i < 3; i++)
    if (further[i] >= 0) close((int)further[i]);
  close(report);
  execv(argv[1], argv + 1);
  fail("run", argv[1]);
}

/* ---- attributes ---- */

static size_t written;
static unsigned entries;

static void give_up(void) {
  fflush(stdout);
  _exit(TOO_MUCH);
}

static void print(const char *path, char kind) {
  written += strlen(path) + 3;
  if (written > OUTPUT_MAX) give_up();
  printf("%s%c%c%c", path, '\0', kind, '\0');
}

/* Kept by the kernel for its own bookkeeping, or by a security module on every file. */
static int is_ordinary(const char *name) {
  static const char *const names[] = { "user.overlay.origin", "user.overlay.impure", "user.overlay.nlink", "user.overlay.uuid",
                                       "user.overlay.protattr", "security.selinux", "security.ima", "security.evm" };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(name, names[i]) == 0) return 1;
  return 0;
}

static char kind_of(const char *file) {
  static char names[NAMES_MAX];
  char value[2];
  ssize_t size = llistxattr(file, names, sizeof names), at = 0;
  char kind = '\0';
  if (size < 0) return errno == ENOENT || errno == ENOTSUP ? '\0' : 'x';
  for (; at < size; at += (ssize_t)strlen(names + at) + 1) {
    if (is_ordinary(names + at)) continue;
    int is_opaque = strcmp(names + at, "user.overlay.opaque") == 0 && lgetxattr(file, names + at, value, sizeof value) == 1 && value[0] == 'y';
    if (!is_opaque) return 'x';
    kind = 'o';
  }
  return kind;
}

/*
 * Takes the descriptor. `path` has room for PATH_MAX more, and what it holds up to `length` is the
 * folder's own name from the top.
 */
static void look(int folder, char *path, size_t length, int depth) {
  DIR *all = fdopendir(folder);
  if (all == NULL) return;
  for (struct dirent *each; (each = readdir(all)) != NULL;) {
    char file[32 + sizeof each->d_name];
    size_t size = strlen(each->d_name);
    if (strcmp(each->d_name, ".") == 0 || strcmp(each->d_name, "..") == 0) continue;
    if (++entries > ENTRIES_MAX) give_up();
    snprintf(file, sizeof file, "/proc/self/fd/%d/%s", folder, each->d_name);
    memcpy(path + length, each->d_name, size + 1);
    char kind = depth < DEPTH_MAX ? kind_of(file) : 'x';
    if (kind != '\0') print(path, kind);
    int below = kind == 'x' ? -1 : openat(folder, each->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (below < 0) continue;
    path[length + size] = '/';
    look(below, path, length + size + 1, depth + 1);
  }
  closedir(all);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--about") == 0) return puts("overlay") < 0;
  if (argc == 3 && strcmp(argv[1], "--xattrs") == 0) {
    static char path[(DEPTH_MAX + 2) * 256];
    int top = open(argv[2], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (top < 0) fail("open", argv[2]);
    look(top, path, 0, 0);
    return fflush(stdout) != 0;
  }
  become_command(argv + 1);
}
