/*
 * confine: starts one command with fewer rights than its caller, and stays behind to end everything
 * that the command started.
 *
 *   confine [OPTION VALUE]... -- COMMAND [ARGUMENT]... exit code or signal of the command; 125: it
 *   was not started
 *   confine --landlock-abi prints the version of Landlock in this kernel, 0 without it
 *
 * Two processes. The supervisor has its caller's rights, adopts what the command leaves behind, and
 * kills all of it when the command ends, when SIGTERM says so, or when its parent is gone. The
 * other one gives up its rights in an order in which no step needs what an earlier one took, and
 * becomes the command. Every step that fails ends it: nothing is ever started with more than what
 * was asked for.
 *
 *   --parent PID     the caller; end at once where it is gone already
 *   --uid, --gid     become this user (needs root)
 *   --read PATH read and execute what is below the path. With one of these three there is a
 *   Landlock domain in which no other file is in
 *   --write PATH reach: the second also writes, makes and removes, the third reads, writes and
 *   controls one device
 *   --device PATH
 *   --connect PORT no TCP but connections to this port (of any host: Landlock knows ports only); 0:
 *   none at all
 *   --seccomp FD     a filter, as `struct sock_filter`s up to the end of the file
 *   --keep FD        leave this descriptor open, besides 0, 1 and 2
 *   --files N, --processes N, --data N rlimits; data is what each process may have of its own
 *   memory
 *
 * Argument lists are readable by every process of the host: nothing secret belongs in them. Linux
 * 5.9; Landlock's parts as named below.
 */
#define _GNU_SOURCE
#define PROGRAM "confine"
#include "common.h"
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { RULES_MAX = 256, KEPT_MAX = 8, FILTER_MAX = 4096 };

/*
 * linux/landlock.h, which is older than the kernel on many hosts. These numbers are the same on
 * every architecture.
 */
enum { SYS_LANDLOCK_CREATE = 444, SYS_LANDLOCK_ADD = 445, SYS_LANDLOCK_RESTRICT = 446 };
enum { CREATE_VERSION = 1, RULE_PATH_BENEATH = 1, RULE_NET_PORT = 2 };
enum { ABI_REFER = 2, ABI_TRUNCATE = 3, ABI_NET = 4, ABI_IOCTL = 5, ABI_SCOPES = 6 };
#define FS_EXECUTE (1ULL << 0)
#define FS_WRITE_FILE (1ULL << 1)
#define FS_READ_FILE (1ULL << 2)
#define FS_READ_DIR (1ULL << 3)
#define FS_MAKE_CHAR (1ULL << 6)
#define FS_MAKE_BLOCK (1ULL << 11)
#define FS_FIRST ((1ULL << 13) - 1) /* all of version 1 */
#define FS_REFER (1ULL << 13)
#define FS_TRUNCATE (1ULL << 14)
#define FS_IOCTL_DEV (1ULL << 15)
#define FS_OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)
#define NET_BIND_TCP (1ULL << 0)
#define NET_CONNECT_TCP (1ULL << 1)
#define SCOPE_ABSTRACT_SOCKETS (1ULL << 0)
#define SCOPE_SIGNALS (1ULL << 1)

struct ruleset { uint64_t fs, net, scoped; };
struct path_rule { uint64_t access; int32_t fd; } __attribute__((packed));
struct port_rule { uint64_t access, port; };

struct options {
  long parent, uid, gid, connect, seccomp, files, processes, data; /* -1: not given */
  long kept[KEPT_MAX];
  int kept_count;
  struct { char kind; const char *path; } rules[RULES_MAX];
  int rule_count;
  char **command;
};

/* ---- options ---- */

static void add_rule(struct options *o, char kind, const char *path) {
  if (o->rule_count == RULES_MAX) refuse("too many paths");
  o->rules[o->rule_count].kind = kind;
  o->rules[o->rule_count++].path = path;
}

static struct options parse(char **argv) {
  struct options o = { .parent = -1, .uid = -1, .gid = -1, .connect = -1, .seccomp = -1, .files = -1, .processes = -1, .data = -1 };
  const struct { const char *name; long *value; } numbers[] = {
    { "--parent", &o.parent }, { "--uid", &o.uid }, { "--gid", &o.gid }, { "--connect", &o.connect },
    { "--seccomp", &o.seccomp }, { "--files", &o.files }, { "--processes", &o.processes }, { "--data", &o.data },
  };
  for (; *argv != NULL && strcmp(*argv, "--") != 0; argv += 2) {
    const char *name = argv[0], *value = argv[1];
    if (value == NULL) refuse("an option has no value");
    long *place = NULL;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
      if (strcmp(name, numbers[i].name) == 0) place = numbers[i].value;
    if (place != NULL) *place = number(value);
    else if (strcmp(name, "--read") == 0 || strcmp(name, "--write") == 0 || strcmp(name, "--device") == 0) add_rule(&o, name[2], value);
    else if (strcmp(name, "--keep") == 0 && o.kept_count < KEPT_MAX) o.kept[o.kept_count++] = number(value);
    else refuse("an option is unknown or given too often");
  }
  if (*argv == NULL || argv[1] == NULL) refuse("there is no command after --");
  if ((o.uid < 0) != (o.gid < 0) || o.uid == 0 || o.gid == 0) refuse("--uid and --gid belong together, and neither is 0");
  o.command = argv + 1;
  return o;
}

/* ---- giving up rights ---- */

static int landlock_abi(void) {
  long abi = syscall(SYS_LANDLOCK_CREATE, NULL, 0, CREATE_VERSION);
  return abi < 0 ? 0 : (int)abi;
}

static uint64_t fs_of(int abi) {
  return FS_FIRST | (abi >= ABI_REFER ? FS_REFER : 0) | (abi >= ABI_TRUNCATE ? FS_TRUNCATE : 0) | (abi >= ABI_IOCTL ? FS_IOCTL_DEV : 0);
}

static uint64_t access_of(char kind) {
  switch (kind) {
    case 'r': return FS_EXECUTE | FS_READ_FILE | FS_READ_DIR;
    case 'd': return FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV;
    default: return fs_of(ABI_IOCTL) & ~(FS_MAKE_CHAR | FS_MAKE_BLOCK | FS_IOCTL_DEV);
  }
}

static void allow_path(int ruleset, uint64_t handled, char kind, const char *path) {
  struct path_rule rule = { .access = access_of(kind) & handled, .fd = open(path, O_PATH | O_CLOEXEC) };
  struct stat found;
  if (rule.fd < 0 || fstat(rule.fd, &found) != 0) fail("open", path);
  if (!S_ISDIR(found.st_mode)) rule.access &= FS_OF_FILES;
  if (syscall(SYS_LANDLOCK_ADD, ruleset, RULE_PATH_BENEATH, &rule, 0) != 0) fail("allow", path);
  close(rule.fd);
}

/*
 * Made with the caller's rights, so that paths are found which the user cannot open himself. -1
 * where no rule was given.
 */
static int make_ruleset(const struct options *o) {
  if (o->rule_count == 0 && o->connect < 0) return -1;
  int abi = landlock_abi();
  if (abi == 0) refuse("this kernel has no Landlock");
  if (abi < ABI_NET && o->connect >= 0) refuse("Landlock in this kernel knows no TCP rules (Linux 6.7)");
  struct ruleset attr = {
    .fs = o->rule_count > 0 ? fs_of(abi) : 0,
    .net = o->connect >= 0 ? NET_BIND_TCP | NET_CONNECT_TCP : 0,
    .scoped = abi >= ABI_SCOPES ? SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS : 0,
  };
  int ruleset = (int)syscall(SYS_LANDLOCK_CREATE, &attr, sizeof attr, 0);
  if (ruleset < 0) fail("make", "Landlock rules");
  for (int i = 0; i < o->rule_count; i++) allow_path(ruleset, attr.fs, o->rules[i].kind, o->rules[i].path);
  struct port_rule port = { .access = NET_CONNECT_TCP, .port = o->connect > 0 ? (uint64_t)o->connect : 0 };
  if (o->connect > 0 && syscall(SYS_LANDLOCK_ADD, ruleset, RULE_NET_PORT, &port, 0) != 0) fail("allow", "port");
  return ruleset;
}

static void read_filter(long fd, struct sock_filter *code, struct sock_fprog *program) {
  size_t size = 0, most = FILTER_MAX * sizeof *code;
  ssize_t got;
  while (size < most && (got = read((int)fd, (char *)code + size, most - size)) != 0) {
    if (got > 0) size += (size_t)got;
    else if (errno != EINTR) fail("read", "the filter");
  }
  if (size == 0 || size % sizeof *code != 0) refuse("the filter is empty or cut off");
  program->len = (unsigned short)(size / sizeof *code);
  program->filter = code;
}

static void become(const struct options *o) {
  if (o->uid < 0) return;
  for (unsigned long capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; capability++) {}
  if (errno != EINVAL) fail("empty", "the bounding set"); /* EINVAL: past the last capability */
  gid_t gid = (gid_t)o->gid;
  uid_t uid = (uid_t)o->uid;
  if (setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0) fail("become", "the user");
}

static void drop_capabilities(void) {
  struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
  struct __user_cap_data_struct none[2] = { { 0 } };
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 || syscall(SYS_capset, &header, none) != 0) fail("drop", "capabilities");
}

static void become_command(const struct options *o, pid_t supervisor, const sigset_t *mask) {
  static struct sock_filter code[FILTER_MAX];
  struct sock_fprog program = { 0 };
  int ruleset = make_ruleset(o);
  if (o->seccomp >= 0) read_filter(o->seccomp, code, &program);
  set_limit(RLIMIT_CORE, 0, "core");
  set_limit(RLIMIT_NOFILE, o->files, "files");
  set_limit(RLIMIT_DATA, o->data, "data");
  become(o);
  set_limit(RLIMIT_NPROC, o->processes, "processes"); /* counts those of the user, so only when it is that user */
  drop_capabilities();
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("set", "no_new_privs");
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) fail("set", "pdeathsig"); /* a change of user would have cleared it */
  if (getppid() != supervisor) _exit(NOT_STARTED);
  if (ruleset >= 0 && syscall(SYS_LANDLOCK_RESTRICT, ruleset, 0) != 0) fail("enforce", "Landlock rules");
  close_all_but(o->kept, o->kept_count);
  sigprocmask(SIG_SETMASK, mask, NULL);
  if (program.len > 0 && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) fail("install", "the filter");
  execvp(o->command[0], o->command);
  fail("run", o->command[0]);
}

/* ---- the supervisor ---- */

struct family { pid_t pid, parent; int is_ours; };

static int read_parent(const char *pid, pid_t *parent) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  if (size <= 0) return 0;
  text[size] = '\0';
  char *end = strrchr(text, ')'); /* the name before it may hold anything */
  return end != NULL && sscanf(end, ") %*c %d", parent) == 1;
}

/* All processes of this pid namespace. NULL where there is no memory or no /proc. */
static struct family *list_processes(size_t *count) {
  DIR *proc = opendir("/proc");
  struct family *all = NULL;
  size_t room = 0;
  *count = 0;
  for (struct dirent *entry; proc != NULL && (entry = readdir(proc)) != NULL;) {
    struct family one = { .pid = (pid_t)atoi(entry->d_name) };
    if (one.pid <= 0 || !read_parent(entry->d_name, &one.parent)) continue;
    if (*count == room) {
      struct family *more = realloc(all, (room += 1024) * sizeof *all);
      if (more == NULL) break;
      all = more;
    }
    all[(*count)++] = one;
  }
  if (proc != NULL) closedir(proc);
  return all;
}

static int is_ours(const struct family *all, size_t count, pid_t pid) {
  if (pid == getpid()) return 1;
  for (size_t i = 0; i < count; i++)
    if (all[i].pid == pid) return all[i].is_ours;
  return 0;
}

static void kill_listed(void) {
  size_t count;
  struct family *all = list_processes(&count);
  for (int found = 1; found;) {
    found = 0;
    for (size_t i = 0; i < count; i++) {
      if (all[i].is_ours || !is_ours(all, count, all[i].parent)) continue;
      all[i].is_ours = found = 1;
      kill(all[i].pid, SIGKILL);
    }
  }
  free(all);
}

/*
 * A process that has a signal to die of cannot fork any more, and whatever it left behind is
 * adopted here: so this comes to an end.
 */
static void kill_descendants(pid_t command, int *status) {
  for (;;) {
    kill_listed();
    for (;;) {
      int ended;
      pid_t pid = waitpid(-1, &ended, WNOHANG);
      if (pid < 0 && errno == ECHILD) return;
      if (pid <= 0) break;
      if (pid == command) *status = ended;
    }
    nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
  }
}

static void let_go_of_descriptors(void) {
  int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < STREAMS && null >= 0; fd++) dup2(null, fd);
  if (syscall(SYS_CLOSE_RANGE, STREAMS, ~0U, 0) != 0) _exit(NOT_STARTED);
}

/* Ends as the command ended, so that the caller sees the same. */
static void end_like(int status) {
  if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
  struct rlimit none = { 0, 0 };
  setrlimit(RLIMIT_CORE, &none);
  sigset_t all;
  sigfillset(&all);
  signal(WTERMSIG(status), SIG_DFL);
  kill(getpid(), WTERMSIG(status));
  sigprocmask(SIG_UNBLOCK, &all, NULL);
  _exit(128 + WTERMSIG(status));
}

static void supervise(pid_t command, const sigset_t *awaited) {
  let_go_of_descriptors();
  int status = 0;
  for (;;) {
    int signal = sigwaitinfo(awaited, NULL);
    if (signal == SIGTERM) break;
    int ended;
    pid_t pid;
    while ((pid = waitpid(-1, &ended, WNOHANG)) > 0 && pid != command) {}
    if (pid != command) continue;
    status = ended;
    break;
  }
  kill_descendants(command, &status);
  end_like(status);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--landlock-abi") == 0) return printf("%d\n", landlock_abi()) < 0;
  struct options o = parse(argv + 1);
  if (prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) != 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) fail("become", "supervisor");
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) fail("hide", "the supervisor"); /* from ptrace by the command, where it is the same user */
  /* Blocked, not ignored: what the terminal sends is for the command. */
  sigset_t all, before, awaited;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGTERM);
  sigaddset(&awaited, SIGCHLD);
  if (o.parent >= 0 && getppid() != o.parent) _exit(NOT_STARTED);
  pid_t supervisor = getpid(), command = fork();
  if (command < 0) fail("start", o.command[0]);
  if (command == 0) become_command(&o, supervisor, &before);
  else supervise(command, &awaited);
  return NOT_STARTED;
}
