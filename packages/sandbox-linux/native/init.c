/*
 * init: the first process of an agent's pid namespace. It starts one command and ends as the
 * command ends, with which the kernel ends all the rest.
 *
 *   init [OPTION VALUE]... -- COMMAND [ARGUMENT]...
 *   init --about                                      says that it runs here
 *
 * It has no more rights than the command, and nothing that the command could use: it cannot be
 * looked into, has no environment, leads the session that the command is in, and stands between the
 * command and the terminal of the host, where there is one. The command gets a terminal of its own;
 * what is typed and printed is copied, and only while the manager says so.
 *
 *   --control FD       a stream socket to the manager. When that is gone, everything here ends
 *   --environment FD   the command's environment, as strings that end with a NUL
 *   --keep FD          a descriptor that the command gets besides 0, 1 and 2
 *   --files N, --processes N, --data N rlimits, of this process too; data is what each process may
 *   have of its own memory
 *   --terminal FD      the host's terminal, as a description that does not block
 *   --slave FD         0, 1 or 2: the command gets its terminal there
 *   --background 1 others may use the host's terminal; the command gets its input only when it asks
 *   for it
 *   --watch FD         names that must not be lost, as absolute paths that end with a NUL: watch.h
 *
 * The manager writes: g (the terminal is the command's: read it, raw), c (go on without the
 * terminal), w (the window has another size), and k with the number of a signal as one byte (for
 * the group in the foreground). It reads lines: "terminal" (the command waits for it), "suspended"
 * (it has stopped, and somebody at the terminal wanted that: an agent that stops itself stops
 * nobody else), "exit N" or "signal N". Where names cannot be watched it reads "unwatched". Of those
 * that are it reads "lost N" or "touched N" for each and "frozen TIME" when all has stopped, and
 * writes f (these have been looked at: "forgotten"), x with a number in two bytes (nobody holds that
 * one any more) and r (go on: "thawed", or once more the names that were lost meanwhile).
 */
#define _GNU_SOURCE
#define PROGRAM "init"
#include "common.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include "watch.h"

enum { CHUNK = 4096, DRAIN_MS = 2000, ENVIRONMENT_MAX = 4 << 20, SUSPEND_SECONDS = 2 };

struct options {
  long control, environment, keep, files, processes, data, terminal, background, watch; /* -1: not given */
  int is_slave[STREAMS];
  char **command;
};

/* Bytes on their way: those from `from` to `to` are still to be written. */
struct buffer { char bytes[CHUNK]; size_t from, to; };

static struct {
  int control, signals, terminal, master, slave; /* -1: there is none */
  pid_t command;
  int is_reading, is_foreground, is_stopped;
  char order, deferred; /* an order whose value is still to come; one that waits for the end of a freeze */
  int value, missing;   /* that value, and how many bytes of it are missing */
  time_t suspended_at; /* when somebody wanted the command to stop; 0: nobody */
  struct buffer in, out;
} self = { .terminal = -1, .master = -1, .slave = -1 };

/* ---- options ---- */

static struct options parse(char **argv) {
  struct options o = { -1, -1, -1, -1, -1, -1, -1, -1, -1, { 0 }, NULL };
  const struct { const char *name; long *value; } numbers[] = {
    { "--control", &o.control }, { "--environment", &o.environment }, { "--keep", &o.keep }, { "--files", &o.files },
    { "--processes", &o.processes }, { "--data", &o.data }, { "--terminal", &o.terminal }, { "--background", &o.background },
    { "--watch", &o.watch },
  };
  for (; *argv != NULL && strcmp(*argv, "--") != 0; argv += 2) {
    if (argv[1] == NULL) refuse("an option has no value");
    long value = number(argv[1]), *place = NULL;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
      if (strcmp(*argv, numbers[i].name) == 0) place = numbers[i].value;
    if (place != NULL) *place = value;
    else if (strcmp(*argv, "--slave") == 0 && value < STREAMS) o.is_slave[value] = 1;
    else refuse("an option is unknown, or has a value that it cannot have");
  }
  if (*argv == NULL || argv[1] == NULL) refuse("there is no command after --");
  if (o.control < 0 || o.environment < 0) refuse("--control and --environment are needed");
  o.command = argv + 1;
  return o;
}

/* The whole environment, as execve wants it. */
static char **read_environment(int fd) {
  size_t size = 0, room = 0, count = 0;
  char *text = NULL;
  for (;;) {
    if (size == room && (room >= ENVIRONMENT_MAX || (text = realloc(text, (room += 65536) + 1)) == NULL)) refuse("the environment is too large");
    ssize_t got = read(fd, text + size, room - size);
    if (got == 0) break;
    if (got > 0) size += (size_t)got;
    else if (errno != EINTR) fail("read", "the environment");
  }
  close(fd);
  text[size] = '\0';
  for (size_t at = 0; at < size; at++) count += text[at] == '\0';
  char **list = calloc(count + 1, sizeof *list), *each = text;
  if (list == NULL) refuse("the environment is too large");
  for (size_t at = 0; at < count; at++, each += strlen(each) + 1) list[at] = each;
  return list;
}

/* ---- the command's terminal ---- */

static void copy_size(void) {
  struct winsize size;
  if (self.master >= 0 && ioctl(self.terminal, TIOCGWINSZ, &size) == 0) ioctl(self.master, TIOCSWINSZ, &size);
}

/*
 * Its modes are those of the host's, unless somebody else may have set these for himself: a shell
 * that reads a line, a pager.
 */
static void open_terminal(int terminal, int is_shared) {
  struct termios modes;
  char path[64];
  int unlocked = 0, index;
  self.terminal = terminal;
  self.master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (self.master < 0 || ioctl(self.master, TIOCSPTLCK, &unlocked) != 0 || ioctl(self.master, TIOCGPTN, &index) != 0) fail("open", "/dev/ptmx");
  snprintf(path, sizeof path, "/dev/pts/%d", index);
  self.slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (self.slave < 0 || ioctl(self.slave, TIOCSCTTY, 0) != 0) fail("open", path);
  if (!is_shared && tcgetattr(terminal, &modes) == 0) tcsetattr(self.slave, TCSANOW, &modes);
  copy_size();
}

/* The manager has kept the modes that were, and puts them back. */
static void make_raw(void) {
  struct termios modes;
  if (tcgetattr(self.terminal, &modes) != 0) return;
  cfmakeraw(&modes);
  tcsetattr(self.terminal, TCSANOW, &modes);
}

/* The terminal's other side is gone: for those inside, too, which are told so by the kernel. */
static void hang_up(void) {
  close(self.master);
  self.master = self.terminal = -1;
}

/* ---- the command ---- */

static void become_command(const struct options *o, char **environment) {
  /*
   * A group of its own in this session: with its parent in the same session it can be stopped by a
   * key, and started again.
   */
  if (setpgid(0, 0) != 0) fail("make", "a process group");
  if (self.slave >= 0 && o->background != 1 && tcsetpgrp(self.slave, getpid()) != 0) fail("give", "the terminal");
  for (int fd = 0; fd < STREAMS; fd++)
    if (o->is_slave[fd] && dup2(self.slave, fd) < 0) fail("give", "the terminal");
  close_all_but(&o->keep, 1);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execve(o->command[0], o->command, environment);
  fail("run", o->command[0]);
}

static void tell(const char *word, int value) {
  char line[64];
  int size = value < 0 ? snprintf(line, sizeof line, "%s\n", word) : snprintf(line, sizeof line, "%s %d\n", word, value);
  /* The manager has to hear of each name that was lost. */
  if (send(self.control, line, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT) != size && watch.is_frozen) _exit(NOT_STARTED);
}

/*
 * What the command printed and nobody has copied yet. A terminal that takes nothing for long is not
 * waited for.
 */
static void drain(void) {
  struct buffer *out = &self.out;
  struct pollfd ready = { .fd = self.terminal, .events = POLLOUT };
  for (;;) {
    while (out->from < out->to) {
      if (poll(&ready, 1, DRAIN_MS) <= 0 || (ready.revents & POLLOUT) == 0) return;
      ssize_t put = write(self.terminal, out->bytes + out->from, out->to - out->from);
      if (put > 0) out->from += (size_t)put;
      else if (errno != EAGAIN && errno != EINTR) return;
    }
    ssize_t got = read(self.master, out->bytes, CHUNK);
    if (got <= 0) return;
    out->from = 0;
    out->to = (size_t)got;
  }
}

/*
 * Everything else ends first, so that nobody goes on printing; the rest of this pid namespace would
 * end with us in any case.
 */
static void end_like(int status) {
  kill(-1, SIGKILL);
  while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {}
  if (self.master >= 0) drain();
  if (WIFSIGNALED(status)) tell("signal", WTERMSIG(status));
  else tell("exit", WEXITSTATUS(status));
  _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

static time_t now(void) {
  struct timespec time;
  return clock_gettime(CLOCK_MONOTONIC, &time) == 0 ? time.tv_sec + 1 : 1;
}

static void suspend(void) {
  self.suspended_at = 0;
  self.is_reading = 0;
  tell("suspended", -1);
}

/* Whether by a key or a signal: the command need not stop, and may have stopped before. */
static void want_suspension(void) {
  self.suspended_at = now();
  if (self.is_stopped) suspend();
}

static void note_stop(int signal) {
  self.is_stopped = 1;
  if (self.slave < 0) return;
  if ((signal == SIGTTIN || signal == SIGTTOU) && !self.is_foreground) tell("terminal", -1);
  else if (self.suspended_at != 0 && now() - self.suspended_at <= SUSPEND_SECONDS) suspend();
}

static void reap(void) {
  int status;
  pid_t pid;
  if (watch.is_frozen) return; /* that it stopped was not its own doing */
  while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
    if (pid != self.command) continue;
    if (WIFSTOPPED(status)) note_stop(WSTOPSIG(status));
    else if (WIFCONTINUED(status)) self.is_stopped = 0;
    else end_like(status);
  }
}

/* ---- the manager ---- */

static void go_on(int has_terminal) {
  if (watch.is_frozen) {
    self.deferred = has_terminal ? 'g' : 'c';
    return;
  }
  if (self.slave >= 0) {
    tcsetpgrp(self.slave, has_terminal ? self.command : getpgrp());
    self.is_foreground = self.is_reading = has_terminal;
    if (has_terminal) make_raw();
    copy_size();
  }
  if (self.is_stopped) kill(-self.command, SIGCONT);
}

static void signal_group(int signal) {
  if (signal == SIGTSTP && self.slave >= 0) want_suspension();
  pid_t group = self.slave >= 0 && self.is_foreground ? tcgetpgrp(self.slave) : self.command;
  kill(group > 1 ? -group : -self.command, signal);
}

static void resume(void) {
  if (!watch_resume()) return;
  reap();
  if (self.deferred != 0) go_on(self.deferred == 'g');
  self.deferred = 0;
}

static void obey_one(char order, int value) {
  if (order == 'g' || order == 'c') go_on(order == 'g');
  else if (order == 'w') copy_size();
  else if (order == 'k') signal_group(value);
  else if (order == 'f') watch_forget();
  else if (order == 'x') watch_release(value);
  else if (order == 'r') resume();
}

static void obey(void) {
  char orders[64];
  ssize_t got = read(self.control, orders, sizeof orders);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) _exit(NOT_STARTED); /* nobody is left to answer to */
  for (ssize_t at = 0; at < got; at++) {
    if (self.missing > 0) self.value = self.value << 8 | (unsigned char)orders[at], self.missing--;
    else self.order = orders[at], self.value = 0, self.missing = orders[at] == 'k' ? 1 : orders[at] == 'x' ? 2 : 0;
    if (self.missing == 0) obey_one(self.order, self.value);
  }
}

/* ---- copying ---- */

/* Moves what there is; false where the side that is read has come to its end. */
static int fill(int fd, struct buffer *buffer) {
  ssize_t got = read(fd, buffer->bytes, CHUNK);
  buffer->from = 0;
  buffer->to = got > 0 ? (size_t)got : 0;
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

static void empty(int fd, struct buffer *buffer) {
  ssize_t put = write(fd, buffer->bytes + buffer->from, buffer->to - buffer->from);
  if (put > 0) buffer->from += (size_t)put;
  else if (errno != EAGAIN && errno != EINTR) buffer->from = buffer->to;
}

/*
 * The key that stops what is in the foreground, whether the kernel or the command makes that of it.
 */
static void look_for_suspension(void) {
  struct termios modes;
  if (tcgetattr(self.slave, &modes) == 0 && memchr(self.in.bytes, modes.c_cc[VSUSP], self.in.to) != NULL) want_suspension();
}

static void copy(short terminal, short master) {
  if ((terminal & POLLOUT) != 0) empty(self.terminal, &self.out);
  if ((master & POLLOUT) != 0) empty(self.master, &self.in);
  if ((master & POLLIN) != 0) fill(self.master, &self.out);
  if ((terminal & POLLIN) != 0 && self.is_reading) {
    if (!fill(self.terminal, &self.in)) hang_up();
    else look_for_suspension();
  } else if ((terminal & (POLLHUP | POLLERR | POLLNVAL)) != 0) hang_up();
}

static void serve(void) {
  for (;;) {
    int has_in = self.in.from < self.in.to, has_out = self.out.from < self.out.to;
    struct pollfd ready[] = {
      { .fd = self.signals, .events = POLLIN },
      { .fd = self.control, .events = POLLIN },
      { .fd = watch.fd, .events = POLLIN },
      { .fd = self.terminal, .events = (short)((self.is_reading && !has_in ? POLLIN : 0) | (has_out ? POLLOUT : 0)) },
      { .fd = self.master, .events = (short)((has_in ? POLLOUT : 0) | (has_out ? 0 : POLLIN)) },
    };
    if (poll(ready, sizeof ready / sizeof ready[0], watch.is_frozen ? LOOK_MS : -1) < 0 && errno != EINTR) fail("wait", "events");
    if (watch.is_frozen) look_again();
    struct signalfd_siginfo signal;
    if (ready[2].revents != 0) watch_events(); /* before all that takes time */
    if ((ready[0].revents & POLLIN) != 0 && read(self.signals, &signal, sizeof signal) > 0) reap();
    if (ready[1].revents != 0) obey();
    copy(ready[3].revents, ready[4].revents);
  }
}

static void let_go_of_descriptors(void) {
  const long kept[] = { self.control, self.signals, self.terminal, self.master, self.slave, watch.fd };
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < STREAMS && null >= 0; fd++) dup2(null, fd);
  close_all_but(kept, sizeof kept / sizeof kept[0]);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--about") == 0) return puts("init") < 0;
  struct options o = parse(argv + 1);
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) fail("hide", "itself");
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) fail("set", "pdeathsig"); /* a change of user has cleared it */
  if (setsid() < 0 && getsid(0) != getpid()) fail("make", "a session");
  sigset_t all, child;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  self.control = (int)o.control;
  self.signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  if (self.signals < 0) fail("watch", "signals");
  char **environment = read_environment((int)o.environment);
  if (o.watch >= 0) watch_names((int)o.watch);
  if (o.terminal >= 0) open_terminal((int)o.terminal, o.background == 1);
  self.is_foreground = o.background != 1;
  set_limit(RLIMIT_CORE, 0, "core");
  set_limit(RLIMIT_NOFILE, o.files, "files");
  set_limit(RLIMIT_DATA, o.data, "data");
  set_limit(RLIMIT_NPROC, o.processes, "processes");
  self.command = fork();
  if (self.command < 0) fail("start", o.command[0]);
  if (self.command == 0) become_command(&o, environment);
  setpgid(self.command, self.command);
  let_go_of_descriptors();
  serve();
  return NOT_STARTED;
}
