/*
 * hold: puts files of a running sandbox under mounts again that keep them as they are, after
 * somebody outside has replaced them.
 *
 *   hold --mounts FD < LIST            the mount namespace of the sandbox, open
 *   hold --exchange FD NAME OTHER exchanges two names in an open folder; 3: somebody has NAME open
 *   for writing
 *   hold --renames FD < ORDERS         renames below an open folder, never over anything
 *   hold --about                       says that it runs here
 *
 * The list has three words for each place, each ending with a NUL: r (a file that must be
 * read-only) or p (a place that must only be a mount), what it has to be as DEVICE:INODE, and its
 * absolute path. For each, in this order, there is a line: "kept" (it is such a mount still),
 * "held" (it is one again), "gone", "other" (another file has the name), "lost" (nothing that can
 * be done again) or "failed REASON".
 *
 * An order to rename has five words that end with a NUL: what, the folder as DEVICE:INODE, its path
 * below the open one with a slash before it, and two names in it. x exchanges them, m moves the
 * first to the second, which must be free, and t does the same for what is to go. Each is answered
 * at once, by a line: "done"; "written" (done, and somebody has what was there open for writing);
 * "there" (the second name is taken), "gone" (there is no such file) or "other" (another folder has
 * the path), and nothing was done; or a reason.
 *
 * The namespace belongs to a user namespace which who started the sandbox has all rights in, and
 * nobody inside has any. Everything is opened step by step below the root of the sandbox, never
 * through a link, and mounted by descriptor.
 */
#define _GNU_SOURCE
#define PROGRAM "hold"
#include "common.h"
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* The same on every architecture, and not in every C library. */
enum { SYS_OPEN_TREE = 428, SYS_MOVE_MOUNT = 429, SYS_OPENAT2 = 437, SYS_MOUNT_SETATTR = 442 };
enum { TREE_CLONE = 1, FROM_EMPTY_PATH = 4, TO_EMPTY_PATH = 0x40, READ_ONLY = 1, IS_MOUNT = 0x2000, LIST_MAX = 8 << 20, IS_WRITTEN = 3 };
#define GET_USER_NAMESPACE _IO(0xb7, 0x1)
struct attributes { uint64_t set, clear, propagation, user_namespace; };

static char list[LIST_MAX];

static size_t read_list(void) {
  size_t size = 0;
  for (ssize_t got; (got = read(0, list + size, sizeof list - size)) != 0;) {
    if (got > 0) size += (size_t)got;
    else if (errno != EINTR) fail("read", "the list");
  }
  if (size == sizeof list || (size > 0 && list[size - 1] != '\0')) refuse("the list is too long, or has no end");
  return size;
}

/* A namespace that is ours already cannot be entered again. */
static int is_ours(int namespace, const char *path) {
  struct stat ours, other;
  return stat(path, &ours) == 0 && fstat(namespace, &other) == 0 && ours.st_ino == other.st_ino && ours.st_dev == other.st_dev;
}

static int enter(int mounts) {
  int users = ioctl(mounts, GET_USER_NAMESPACE);
  if (users < 0) fail("find", "the user namespace");
  if (is_ours(mounts, "/proc/self/ns/mnt")) refuse("this is no mount namespace of a sandbox");
  if (!is_ours(users, "/proc/self/ns/user") && setns(users, CLONE_NEWUSER) != 0) fail("enter", "the user namespace");
  if (setns(mounts, CLONE_NEWNS) != 0) fail("enter", "the mount namespace");
  int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) fail("open", "/");
  return root;
}

static int open_below(int root, const char *path) {
  struct open_how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH };
  return (int)syscall(SYS_OPENAT2, root, path + 1, &how, sizeof how);
}

static int is_it(int fd, const char *id) {
  struct stat found;
  char text[64];
  if (fstat(fd, &found) != 0) return 0;
  snprintf(text, sizeof text, "%llu:%llu", (unsigned long long)found.st_dev, (unsigned long long)found.st_ino);
  return strcmp(text, id) == 0;
}

static int is_mount(int fd, int is_read_only) {
  struct statx found;
  struct statvfs kind;
  if (statx(fd, "", AT_EMPTY_PATH, 0, &found) != 0 || (found.stx_attributes_mask & IS_MOUNT) == 0) return 0;
  return (found.stx_attributes & IS_MOUNT) != 0 && (!is_read_only || (fstatvfs(fd, &kind) == 0 && (kind.f_flag & ST_RDONLY) != 0));
}

static int mount_over_itself(int fd) {
  const struct attributes read_only = { .set = READ_ONLY };
  int tree = (int)syscall(SYS_OPEN_TREE, fd, "", TREE_CLONE | O_CLOEXEC | AT_EMPTY_PATH);
  if (tree < 0) return -1;
  int result = (int)syscall(SYS_MOUNT_SETATTR, tree, "", AT_EMPTY_PATH, &read_only, sizeof read_only);
  if (result == 0) result = (int)syscall(SYS_MOVE_MOUNT, tree, "", fd, "", FROM_EMPTY_PATH | TO_EMPTY_PATH);
  int problem = errno;
  close(tree);
  errno = problem;
  return result;
}

static const char *hold(int root, const char *kind, const char *id, const char *path) {
  int fd = open_below(root, path);
  if (fd < 0) return errno == ENOENT ? "gone" : NULL;
  if (!is_it(fd, id)) return "other";
  int is_file = *kind == 'r';
  if (is_mount(fd, is_file)) return "kept";
  if (!is_file) return "lost";
  if (mount_over_itself(fd) != 0) return errno == ENOENT ? "other" : NULL; /* it had lost the name by then */
  close(fd);
  fd = open_below(root, path);
  if (fd < 0 || !is_it(fd, id)) return "other";
  errno = EIO;
  return is_mount(fd, 1) ? "held" : NULL;
}

static void hold_all(int mounts) {
  size_t size = read_list(), at = 0;
  int root = enter(mounts);
  while (at < size) {
    const char *words[3] = { NULL };
    for (int i = 0; i < 3 && at < size; i++) words[i] = list + at, at += strlen(list + at) + 1;
    if (words[2] == NULL || *words[2] != '/') refuse("the list is not one");
    const char *said = hold(root, words[0], words[1], words[2]);
    if (said == NULL) printf("failed %s\n", strerror(errno));
    else puts(said);
  }
}

/* A lease for reading is refused where anybody has the file open, or mapped, for writing. */
static void exchange(int folder, const char *name, const char *other) {
  int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) fail("open", name);
  if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0) {
    if (errno == EAGAIN) _exit(IS_WRITTEN);
    fail("ask who writes", name);
  }
  fcntl(fd, F_SETLEASE, F_UNLCK);
  if (renameat2(folder, name, folder, other, RENAME_EXCHANGE) != 0) fail("exchange", name);
}

/* ---- renames below a folder ---- */

/* A file system that cannot refuse a name that is taken (NFS, 9p) does so for a second name. */
static int move_new(int folder, const char *from, const char *to) {
  if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL) return -1;
  return linkat(folder, from, folder, to, 0) != 0 ? -1 : unlinkat(folder, from, 0);
}

/* Where it cannot exchange two names, there is a moment in which `name` is free. */
static int swap(int folder, const char *name, const char *other) {
  char third[NAME_MAX + 1];
  if (renameat2(folder, name, folder, other, RENAME_EXCHANGE) == 0) return 0;
  if (errno != EINVAL || snprintf(third, sizeof third, "%s-old", other) >= (int)sizeof third) return -1;
  if (renameat(folder, name, folder, third) != 0) return -1;
  if (move_new(folder, other, name) == 0) return renameat(folder, third, folder, other);
  int problem = errno;
  if (problem != EEXIST) move_new(folder, third, name);
  errno = problem == EEXIST ? EBUSY : problem; /* what had the name, and what has it now, are both there */
  return -1;
}

/* Whoever has it open for writing may write after we have looked. */
static int is_written(int folder, const char *name) {
  int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return 0; /* a link, or closed to us */
  int result = fcntl(fd, F_SETLEASE, F_RDLCK) != 0 && errno == EAGAIN;
  close(fd);
  return result;
}

static const char *rename_one(int root, char *const *words) {
  int folder = open_below(root, words[2]);
  if (folder < 0) return errno == ENOENT || errno == ELOOP || errno == ENOTDIR ? "other" : strerror(errno);
  const char *said = "other";
  if (is_it(folder, words[1])) {
    int result = *words[0] == 'x' ? swap(folder, words[3], words[4]) : move_new(folder, words[3], words[4]);
    if (result != 0) said = errno == EEXIST ? "there" : errno == ENOENT ? "gone" : strerror(errno);
    else said = *words[0] != 'm' && is_written(folder, words[4]) ? "written" : "done";
  }
  close(folder);
  return said;
}

static void rename_all(int root) {
  enum { WORDS = 5 };
  char *words[WORDS] = { NULL };
  size_t room[WORDS] = { 0 };
  for (;;) {
    for (int i = 0; i < WORDS; i++)
      if (getdelim(&words[i], &room[i], '\0', stdin) < 1) return;
    puts(rename_one(root, words));
    fflush(stdout);
  }
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--about") == 0) return puts("hold") < 0;
  if (argc == 3 && strcmp(argv[1], "--mounts") == 0) hold_all((int)number(argv[2]));
  else if (argc == 5 && strcmp(argv[1], "--exchange") == 0) exchange((int)number(argv[2]), argv[3], argv[4]);
  else if (argc == 3 && strcmp(argv[1], "--renames") == 0) rename_all((int)number(argv[2]));
  else refuse("an option is unknown");
  return fflush(stdout) != 0;
}
