/* Attempts on files outside: files VERB PATH [MORE]. */
#include "common.h"
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

static void show_file(int directory, const char *path) {
  char text[512];
  int fd = must(openat(directory, path, O_RDONLY), "open");
  ssize_t length = read(fd, text, sizeof text - 1);
  if (length < 0) refused("read");
  text[length] = 0;
  say("escaped", "%s", text);
}

static void read_file(char **a) { show_file(AT_FDCWD, a[0]); }

/* Out of wherever we are by going up. */
static void dots(char **a) {
  char path[1024];
  snprintf(path, sizeof path, "../../../../../../../../../../../..%s", a[0]);
  show_file(AT_FDCWD, path);
}

static void self_root(char **a) {
  char path[1024];
  snprintf(path, sizeof path, "/proc/self/root/..%s", a[0]);
  show_file(AT_FDCWD, path);
}

static void append(char **a) {
  int fd = must(open(a[0], O_WRONLY | O_APPEND | O_CREAT, 0600), "open");
  must((int)write(fd, a[1], strlen(a[1])), "write");
  say("tried", "written");
}

static void truncate_file(char **a) {
  must(truncate(a[0], 0), "truncate");
  say("tried", "cut");
}

static void remove_file(char **a) {
  must(unlink(a[0]), "unlink");
  say("tried", "removed");
}

/* Puts a file of ours in its place. */
static void replace(char **a) {
  char name[1100];
  snprintf(name, sizeof name, "%s.new", a[0]);
  int fd = must(open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600), "open");
  must((int)write(fd, a[1], strlen(a[1])), "write");
  must(rename(name, a[0]), "rename");
  say("tried", "replaced");
}

static void move_directory(char **a) {
  char name[1100];
  snprintf(name, sizeof name, "%s-away", a[0]);
  must(rename(a[0], name), "rename");
  say("tried", "moved");
}

static void mode(char **a) {
  must(chmod(a[0], 0666), "chmod");
  say("escaped", "mode changed");
}

static void hard_link(char **a) {
  char name[64];
  snprintf(name, sizeof name, "hard-%d", (int)getpid());
  must(link(a[0], name), "link");
  show_file(AT_FDCWD, name);
}

static void symbolic_link(char **a) {
  char name[64];
  snprintf(name, sizeof name, "link-%d", (int)getpid());
  must(symlink(a[0], name), "symlink");
  show_file(AT_FDCWD, name);
}

static void list(char **a) {
  char names[400] = "";
  DIR *directory = opendir(a[0]);
  if (directory == NULL) refused("opendir");
  for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, " %s", entry->d_name);
  }
  say("escaped", "%s", names);
}

static void write_text(const char *path, const char *text) {
  int fd = open(path, O_WRONLY);
  if (fd >= 0 && write(fd, text, strlen(text)) < 0) close(fd);
}

/* Root in a user namespace of our own, with a mount namespace. */
static void become_root(void) {
  char map[64];
  snprintf(map, sizeof map, "0 %d 1", (int)getuid());
  must(unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare");
  write_text("/proc/self/setgroups", "deny");
  write_text("/proc/self/uid_map", map);
}

/* Takes off what covers the place. */
static void uncover(char **a) {
  char path[1024];
  become_root();
  snprintf(path, sizeof path, "%s", a[0]);
  for (char *slash = strrchr(path, '/'); slash != NULL && slash != path; slash = strrchr(path, '/')) {
    *slash = 0;
    umount2(path, MNT_DETACH);
  }
  show_file(AT_FDCWD, a[0]);
}

/* Mounts the place's directory where we can see it. */
static void bind_mount(char **a) {
  char name[64];
  snprintf(name, sizeof name, "bound-%d", (int)getpid());
  mkdir(name, 0700);
  must(mount(a[0], name, NULL, MS_BIND | MS_REC, NULL), "mount");
  int directory = must(open(name, O_RDONLY | O_DIRECTORY), "open");
  umount2(name, MNT_DETACH);
  rmdir(name);
  show_file(directory, a[1]);
}

/*
 * A file by its handle, without any path: a[0] is a directory of ours on the same file system, a[1]
 * the handle in hexadecimal.
 */
static void handle(char **a) {
  struct {
    struct file_handle head;
    unsigned char bytes[128];
  } wanted = {.head = {.handle_bytes = 128}};
  int mount_id;
  size_t length = strlen(a[1]) / 2;
  must(name_to_handle_at(AT_FDCWD, a[0], &wanted.head, &mount_id, 0), "name_to_handle_at");
  for (size_t i = 0; i < length && i < sizeof wanted.bytes; i++) {
    unsigned value = 0;
    sscanf(a[1] + 2 * i, "%2x", &value);
    wanted.head.f_handle[i] = (unsigned char)value;
  }
  wanted.head.handle_bytes = (unsigned)length;
  int fd = must(open_by_handle_at(must(open(a[0], O_RDONLY), "open"), &wanted.head, O_RDONLY), "open_by_handle_at");
  char text[512];
  ssize_t got = read(fd, text, sizeof text - 1);
  if (got < 0) refused("read");
  text[got] = 0;
  say("escaped", "%s", text);
}

/* Outside, for the kit: the handle of a file. */
static void handle_of(char **a) {
  struct {
    struct file_handle head;
    unsigned char bytes[128];
  } found = {.head = {.handle_bytes = 128}};
  int mount_id;
  must(name_to_handle_at(AT_FDCWD, a[0], &found.head, &mount_id, 0), "name_to_handle_at");
  char text[300] = "";
  for (unsigned i = 0; i < found.head.handle_bytes; i++) snprintf(text + 2 * i, 3, "%02x", found.head.f_handle[i]);
  say("escaped", "%s", text);
}

/* Out of a root directory by having been outside of a second one. */
static void leave_root(char **a) {
  char name[64];
  snprintf(name, sizeof name, "root-%d", (int)getpid());
  mkdir(name, 0700);
  must(chroot(name), "chroot");
  for (int i = 0; i < 64; i++)
    if (chdir("..") != 0) break;
  must(chroot("."), "chroot");
  show_file(AT_FDCWD, a[0]);
}

/* What somebody forgot to close. */
static void inherited(char **a) {
  (void)a;
  char text[512];
  for (int fd = 3; fd < 1024; fd++) {
    ssize_t length = pread(fd, text, sizeof text - 1, 0);
    if (length <= 0) continue;
    text[length] = 0;
    say("escaped", "descriptor %d: %s", fd, text);
    return;
  }
  errno = EBADF;
  refused("read");
}

static void inherited_socket(char **a) {
  for (int fd = 3; fd < 1024; fd++) {
    int family = 0;
    socklen_t length = sizeof family;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &length) != 0 || family != AF_INET) continue;
    if (send(fd, a[0], strlen(a[0]), MSG_NOSIGNAL) < 0) continue;
    say("tried", "descriptor %d", fd);
    return;
  }
  errno = EBADF;
  refused("send");
}

int main(int argc, char **argv) {
  static const struct verb verbs[] = {
      {"read", read_file}, {"dots", dots}, {"self-root", self_root}, {"append", append}, {"truncate", truncate_file},
      {"remove", remove_file}, {"replace", replace}, {"move", move_directory}, {"mode", mode}, {"hard-link", hard_link},
      {"symbolic-link", symbolic_link}, {"list", list}, {"uncover", uncover}, {"bind", bind_mount},
      {"handle", handle}, {"handle-of", handle_of}, {"leave-root", leave_root}, {"inherited", inherited},
      {"inherited-socket", inherited_socket}, {NULL, NULL},
  };
  return run_verb(verbs, argc, argv);
}
