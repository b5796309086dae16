/* Attempts to stay, to run something else, to rise, and to take too much: process VERB ... */
#include "common.h"
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <arpa/inet.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* Long enough to be found, short enough to be gone on its own if nobody looks. */
#define STAY_SECONDS 60

static void stay(void) {
  for (int fd = 0; fd < 1024; fd++) close(fd);
  for (int number = 1; number < 32; number++)
    if (number != SIGCHLD) signal(number, SIG_IGN);
  struct timespec left = {.tv_sec = STAY_SECONDS};
  nanosleep(&left, NULL);
  _exit(0);
}

/* Two forks and a session of its own: a daemon. */
static void daemonize(char **a) {
  (void)a;
  int child = must(fork(), "fork");
  if (child == 0) {
    setsid();
    prctl(PR_SET_PDEATHSIG, 0);
    if (fork() == 0) stay();
    _exit(0);
  }
  waitpid(child, NULL, 0);
  say("tried", "left behind");
}

/* A child that shares no group, with its own name and no wish to be found by its parent's death. */
static void thread_of_none(char **a) {
  (void)a;
  int child = must((int)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL), "clone");
  if (child == 0) {
    setpgid(0, 0);
    prctl(PR_SET_NAME, "kworker");
    prctl(PR_SET_DUMPABLE, 0);
    stay();
  }
  say("tried", "left behind");
}

/* Stopped, so that polite signals wait for ever. */
static void stopped(char **a) {
  (void)a;
  int child = must(fork(), "fork");
  if (child == 0) {
    setsid();
    for (int fd = 0; fd < 1024; fd++) close(fd);
    raise(SIGSTOP);
    _exit(0);
  }
  say("tried", "left behind");
}

/* Goes on trying after the agent has ended: process later PROGRAM... */
static void later(char **a) {
  int child = must(fork(), "fork");
  if (child == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    for (int fd = 0; fd < 3; fd++) dup2(must(open("/dev/null", O_RDWR), "open"), fd);
    for (int turn = 0; turn < 30; turn++) {
      if (fork() == 0) {
        execv(a[0], a);
        _exit(127);
      }
      struct timespec pause = {.tv_nsec = 100 * 1000 * 1000};
      nanosleep(&pause, NULL);
    }
    _exit(0);
  }
  waitpid(child, NULL, 0);
  say("tried", "left behind");
}

/* A program that is in no file: process memfd PROGRAM ARGUMENTS... */
static void memfd(char **a) {
  char buffer[65536];
  int from = must(open(a[0], O_RDONLY), "open"), to = must((int)syscall(SYS_memfd_create, "x", 0), "memfd_create");
  for (ssize_t length; (length = read(from, buffer, sizeof buffer)) > 0;) must((int)write(to, buffer, (size_t)length), "write");
  char *none[] = {NULL};
  fexecve(to, a, none);
  refused("fexecve");
}

/*
 * A program of another user's rights: process raise PROGRAM. It stands where root put it, with the
 * set-user-ID bit or a capability.
 */
static void raise_rights(char **a) {
  if (access(a[0], F_OK) != 0) unavailable(a[0]);
  execv(a[0], a);
  refused("execv");
}

/* What such a program finds. */
static void who(char **a) {
  (void)a;
  if (geteuid() == 0 && getuid() != 0) say("escaped", "runs as uid 0");
  else say("refused", "still uid %d", (int)geteuid());
}

static void route_add(char **a) {
  struct {
    struct nlmsghdr head;
    struct rtmsg route;
    char attributes[64];
  } request;
  memset(&request, 0, sizeof request);
  request.head.nlmsg_len = NLMSG_LENGTH(sizeof request.route);
  request.head.nlmsg_type = RTM_NEWROUTE;
  request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_ACK;
  request.route.rtm_family = AF_INET;
  request.route.rtm_dst_len = 32;
  request.route.rtm_table = RT_TABLE_MAIN;
  request.route.rtm_protocol = RTPROT_BOOT;
  request.route.rtm_scope = RT_SCOPE_UNIVERSE;
  request.route.rtm_type = RTN_BLACKHOLE;
  struct rtattr *to = (struct rtattr *)((char *)&request + NLMSG_ALIGN(request.head.nlmsg_len));
  to->rta_type = RTA_DST;
  to->rta_len = RTA_LENGTH(4);
  unsigned address = inet_addr(a[0]);
  memcpy(RTA_DATA(to), &address, 4);
  request.head.nlmsg_len = NLMSG_ALIGN(request.head.nlmsg_len) + to->rta_len;
  int fd = must(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), "socket");
  must((int)send(fd, &request, request.head.nlmsg_len, 0), "send");
  char answer[512];
  ssize_t length = recv(fd, answer, sizeof answer, 0);
  struct nlmsgerr *error = (struct nlmsgerr *)NLMSG_DATA((struct nlmsghdr *)(void *)answer);
  if (length < (ssize_t)NLMSG_LENGTH(sizeof *error)) refused("recv");
  errno = -error->error;
  if (error->error != 0) refused("route");
  say("escaped", "changed a route");
}

/* Types into the terminal of the person who watches. */
static void type_in(char **a) {
  int fd = open("/dev/tty", O_RDWR);
  if (fd < 0) fd = 0;
  for (char *c = a[0]; *c != 0; c++)
    if (ioctl(fd, TIOCSTI, c) != 0) {
      if (errno == EIO) unavailable("TIOCSTI is switched off here");
      refused("TIOCSTI");
    }
  say("escaped", "typed into the terminal");
}

/* As many processes as it may, plus some: bounded, and all ended by their parent's death. */
static void forks(char **a) {
  int wanted = atoi(a[0]), made = 0, error = 0;
  int *children = calloc((size_t)wanted, sizeof *children);
  if (children == NULL) return;
  for (; made < wanted; made++) {
    int child = fork();
    if (child < 0) {
      error = errno;
      break;
    }
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
    children[made] = child;
  }
  for (int i = 0; i < made; i++) kill(children[i], SIGKILL);
  for (int i = 0; i < made; i++) waitpid(children[i], NULL, 0);
  errno = error;
  if (made < wanted) refused("fork");
  say("escaped", "%d processes at once", made);
}

static void memory(char **a) {
  size_t wanted = strtoull(a[0], NULL, 10), step = 1 << 20;
  int child = must(fork(), "fork");
  if (child == 0) {
    for (size_t got = 0; got < wanted; got += step) {
      char *part = mmap(NULL, step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (part == MAP_FAILED) _exit(1);
      for (size_t i = 0; i < step; i += 4096) part[i] = 1;
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) say("escaped", "%zu bytes at once", wanted);
  else say("refused", "memory ended, status %d", status);
}

/* Fills every private place that is not the workspace. */
static void scratch(char **a) {
  static char block[1 << 20];
  size_t wanted = strtoull(a[0], NULL, 10);
  char here[1024] = "";
  const char *home = getenv("HOME");
  if (getcwd(here, sizeof here) == NULL || home == NULL || strcmp(home, here) == 0) home = "/home";
  const char *places[] = {"/tmp", "/dev/shm", "/var/tmp", "/run", "/dev", home};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    int fd = open(places[i], O_TMPFILE | O_RDWR, 0600);
    size_t got = 0;
    while (fd >= 0 && got < wanted && write(fd, block, sizeof block) == (ssize_t)sizeof block) got += sizeof block;
    if (fd >= 0) close(fd);
    if (got < wanted) continue;
    say("escaped", "%zu bytes in %s", got, places[i]);
    return;
  }
  errno = ENOSPC;
  refused("write");
}

static void open_files(char **a) {
  int wanted = atoi(a[0]);
  struct rlimit most;
  if (getrlimit(RLIMIT_NOFILE, &most) == 0) {
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
  }
  for (int i = 0; i < wanted; i++) must(open("/dev/null", O_RDONLY), "open");
  say("escaped", "%d files at once", wanted);
}

int main(int argc, char **argv) {
  static const struct verb verbs[] = {
      {"daemon", daemonize}, {"sibling", thread_of_none}, {"stopped", stopped}, {"later", later}, {"memfd", memfd},
      {"raise", raise_rights}, {"who", who}, {"route-add", route_add}, {"type-in", type_in}, {"forks", forks}, {"memory", memory},
      {"scratch", scratch}, {"open-files", open_files}, {NULL, NULL},
  };
  return run_verb(verbs, argc, argv);
}
