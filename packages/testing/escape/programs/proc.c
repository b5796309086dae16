/*
 * Attempts on a process outside: proc VERB PID MARKER [MORE]. PID is its id on the host, MARKER
 * stands in its command line.
 */
#include "common.h"
#include <dirent.h>
#include <fcntl.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "places.h"

static int says(int pid, const char *marker) {
  char path[64], line[512];
  snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
  int fd = open(path, O_RDONLY);
  if (fd < 0) return 0;
  ssize_t length = read(fd, line, sizeof line - 1);
  close(fd);
  return length > 0 && pid != getpid() && memmem(line, (size_t)length, marker, strlen(marker)) != NULL;
}

static int is_called_victim(int pid) {
  char path[64], name[16] = "";
  snprintf(path, sizeof path, "/proc/%d/comm", pid);
  int fd = open(path, O_RDONLY);
  if (fd < 0) return 0;
  ssize_t length = read(fd, name, sizeof name - 1);
  close(fd);
  return length > 0 && strcmp(name, "victim\n") == 0;
}

/* The victim as it is seen from here. A number that means another process here is left alone. */
static int find(char **a) {
  int pid = atoi(a[0]);
  char path[64];
  if (says(pid, a[1])) return pid;
  DIR *all = opendir("/proc");
  for (struct dirent *entry = all == NULL ? NULL : readdir(all); entry != NULL; entry = readdir(all)) {
    int each = atoi(entry->d_name);
    /* Attempts have the marker in their command lines too. */
    if (each > 0 && is_called_victim(each) && says(each, a[1])) return each;
  }
  snprintf(path, sizeof path, "/proc/%d", pid);
  errno = ESRCH;
  if (access(path, F_OK) == 0) refused("that id is another process here");
  return pid;
}

static void show(int fd, const char *what) {
  char text[SECRET_MAX * 4];
  ssize_t length = read(fd, text, sizeof text - 1);
  if (length < 0) refused(what);
  text[length] = 0;
  for (ssize_t i = 0; i < length; i++)
    if (text[i] == 0) text[i] = ' ';
  say("escaped", "%s", text);
}

static void read_proc(char **a, const char *file) {
  char path[512];
  snprintf(path, sizeof path, "/proc/%d/%s", find(a), file);
  show(must(open(path, O_RDONLY), path), path);
}

static void environ_of(char **a) { read_proc(a, "environ"); }
static void cmdline(char **a) { read_proc(a, "cmdline"); }

static void descriptor(char **a) {
  char name[32];
  snprintf(name, sizeof name, "fd/%d", SECRET_DESCRIPTOR);
  read_proc(a, name);
}

static void root(char **a) {
  char name[400];
  snprintf(name, sizeof name, "root%s", a[2]);
  read_proc(a, name);
}

static void cwd(char **a) {
  char name[400];
  snprintf(name, sizeof name, "cwd/../../../../../..%s", a[2]);
  read_proc(a, name);
}

static void init_root(char **a) {
  char path[512];
  snprintf(path, sizeof path, "/proc/1/root%s", a[2]);
  show(must(open(path, O_RDONLY), path), path);
}

static void mem(char **a) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mem", find(a));
  int fd = must(open(path, O_RDONLY), path);
  if (lseek(fd, (off_t)strtoull(a[2], NULL, 16), SEEK_SET) < 0) refused("lseek");
  show(fd, path);
}

static void vm_readv(char **a) {
  char text[SECRET_MAX] = "";
  struct iovec here = {.iov_base = text, .iov_len = sizeof text - 1};
  struct iovec there = {.iov_base = (void *)strtoull(a[2], NULL, 16), .iov_len = sizeof text - 1};
  must((int)process_vm_readv(find(a), &here, 1, &there, 1, 0), "process_vm_readv");
  say("escaped", "%s", text);
}

static void trace(char **a) {
  int pid = find(a);
  char text[SECRET_MAX] = "";
  must((int)ptrace(PTRACE_SEIZE, pid, NULL, NULL), "ptrace");
  must((int)ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), "ptrace");
  waitpid(pid, NULL, __WALL);
  for (size_t i = 0; i + sizeof(long) < sizeof text; i += sizeof(long)) {
    errno = 0;
    long word = ptrace(PTRACE_PEEKDATA, pid, (void *)(strtoull(a[2], NULL, 16) + i), NULL);
    if (errno != 0) refused("peek");
    memcpy(text + i, &word, sizeof word);
  }
  ptrace(PTRACE_DETACH, pid, NULL, NULL);
  say("escaped", "%s", text);
}

static void take_descriptor(char **a) {
  int handle = must((int)syscall(SYS_pidfd_open, find(a), 0), "pidfd_open");
  int fd = must((int)syscall(SYS_pidfd_getfd, handle, SECRET_DESCRIPTOR, 0), "pidfd_getfd");
  lseek(fd, 0, SEEK_SET);
  show(fd, "read");
}

static void signal_kill(char **a) {
  must(kill(find(a), SIGKILL), "kill");
  say("tried", "sent");
}

static void signal_thread(char **a) {
  int pid = find(a);
  must((int)syscall(SYS_tgkill, pid, pid, SIGKILL), "tgkill");
  say("tried", "sent");
}

static void signal_queue(char **a) {
  union sigval value = {0};
  must(sigqueue(find(a), SIGTERM, value), "sigqueue");
  say("tried", "sent");
}

static void signal_pidfd(char **a) {
  int handle = must((int)syscall(SYS_pidfd_open, find(a), 0), "pidfd_open");
  must((int)syscall(SYS_pidfd_send_signal, handle, SIGKILL, NULL, 0), "pidfd_send_signal");
  say("tried", "sent");
}

/* The kernel sends it, on behalf of a pipe that has become readable. */
static void signal_io(char **a) {
  int ends[2];
  must(pipe(ends), "pipe");
  must(fcntl(ends[0], F_SETOWN, find(a)), "F_SETOWN");
  must(fcntl(ends[0], F_SETSIG, SIGUSR1), "F_SETSIG");
  must(fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK), "O_ASYNC");
  must((int)write(ends[1], "x", 1), "write");
  say("tried", "sent");
}

/* No time left, which kills as well. */
static void limit(char **a) {
  struct rlimit none = {0, 0};
  int pid = find(a);
  must(prlimit(pid, RLIMIT_CPU, &none, NULL), "prlimit");
  struct rlimit small = {16, 16};
  prlimit(pid, RLIMIT_NOFILE, &small, NULL);
  say("escaped", "limits of the other process are set");
}

/* Whether it could be stopped is asked with signal 0: the manager of a test has to live. */
static void may_signal(char **a) {
  must(kill(find(a), 0), "kill");
  say("escaped", "may signal it");
}

static void enter(char **a) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/%s", find(a), a[2]);
  must(setns(must(open(path, O_RDONLY), path), 0), "setns");
  say("escaped", "entered %s", a[2]);
}

static void keyring(char **a) {
  char text[SECRET_MAX] = "";
  long key = syscall(SYS_keyctl, 10 /* search */, -4 /* the user's keyring */, "user", a[1], 0);
  must((int)key, "keyctl");
  /* Reading takes possession of the key: through one's own session keyring. */
  syscall(SYS_keyctl, 8 /* link */, -4, -3);
  must((int)syscall(SYS_keyctl, 11 /* read */, key, text, sizeof text - 1, 0), "keyctl");
  say("escaped", "%s", text);
}

static void shared_memory(char **a) {
  (void)a;
  char *memory = shmat(must(shmget(SHARED_MEMORY_KEY, SECRET_MAX, 0), "shmget"), NULL, SHM_RDONLY);
  if (memory == (void *)-1) refused("shmat");
  say("escaped", "%.*s", SECRET_MAX, memory);
}

static void queue(char **a) {
  (void)a;
  char text[SECRET_MAX + 1] = "";
  int fd = must((int)mq_open(QUEUE_NAME, O_RDONLY | O_NONBLOCK), "mq_open");
  must((int)mq_receive(fd, text, SECRET_MAX, NULL), "mq_receive");
  say("escaped", "%s", text);
}

int main(int argc, char **argv) {
  static const struct verb verbs[] = {
      {"environ", environ_of}, {"cmdline", cmdline}, {"descriptor", descriptor}, {"root", root}, {"cwd", cwd}, {"init-root", init_root},
      {"mem", mem}, {"vm-readv", vm_readv}, {"trace", trace}, {"take-descriptor", take_descriptor}, {"kill", signal_kill},
      {"tgkill", signal_thread}, {"sigqueue", signal_queue}, {"pidfd-signal", signal_pidfd}, {"sigio", signal_io}, {"prlimit", limit},
      {"may-signal", may_signal}, {"enter", enter}, {"keyring", keyring}, {"shared-memory", shared_memory}, {"queue", queue}, {NULL, NULL},
  };
  return run_verb(verbs, argc, argv);
}
