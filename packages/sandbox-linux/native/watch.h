/*
 * watch: part of init. The kernel ends a mount when somebody outside replaces or removes the name
 * that it is on. Here such names are watched, and when one is lost everything in this pid namespace
 * is stopped until the manager has put a mount on what has the name now.
 *
 * An agent causes no loss of a name that is held, and what overflows the queue counts as the loss
 * of every name: it can only have itself stopped. The kernel does not say who did something. So a
 * name is "touched" unless one file was made beside it, written once and renamed over it, and
 * nothing else was seen of the two before all had stopped. The manager has more to judge by: a
 * second name of the file, for one, is not seen here.
 */
#ifndef ACP_WATCH_H
#define ACP_WATCH_H

#include "proc.h"
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <time.h>

enum { WATCHED_MAX = 1024, WATCHED_BYTES_MAX = 4 << 20, FREEZE_MS = 2000, LATE_MS = 5, SETTLED_SCANS = 2, EVENTS_BYTES = 65536 };
enum { SEEN_MAX = 1024, SEEN_MS = 10000, LOOK_MS = 10 };

struct seen { int directory, is_outside; uint32_t mask, cookie; uint64_t name; long at; };

static struct {
  int fd; /* -1: nothing is watched */
  size_t count;
  const char *names[WATCHED_MAX];  /* the last step of each path */
  int directories[WATCHED_MAX];    /* the watch of what it is in */
  char is_lost[WATCHED_MAX], is_touched[WATCHED_MAX];
  int is_frozen, is_sealed;        /* all has stopped; and all that was done before was read */
  struct seen seen[SEEN_MAX];      /* the last events, the newest before `next` */
  unsigned next;
  struct timespec sealed_at;
  unsigned char ran[PIDS_MAX / 8];     /* seen to run while everything was being stopped */
  unsigned char stopped[PIDS_MAX / 8]; /* was stopped before: by a key, or by itself */
  uint64_t print, sealed_print;        /* of all that has stopped, at the last look and when it was sealed */
} watch = { .fd = -1 };

static void tell(const char *word, int value);

/* ---- the names ---- */

/*
 * An agent's instances and watches count for its user on the host too, so that others may have used
 * them up: then nothing starts, and the manager knows why.
 */
static void cannot_watch(const char *which) {
  int problem = errno;
  tell("unwatched", -1);
  errno = problem;
  fail("watch", which);
}

/*
 * The list holds absolute paths that end with a NUL. They lead where the manager wants: the
 * self-check, which comes later, sees to that.
 */
static void watch_names(int list) {
  static char text[WATCHED_BYTES_MAX];
  size_t size = 0;
  for (ssize_t got; (got = read(list, text + size, sizeof text - size)) != 0;) {
    if (got > 0) size += (size_t)got;
    else if (errno != EINTR) fail("read", "the list of names");
  }
  close(list);
  if (size == 0) return;
  if (size == sizeof text || text[size - 1] != '\0') refuse("the list of names is too long, or has no end");
  watch.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (watch.fd < 0) cannot_watch("names (fs.inotify.max_user_instances)");
  const uint32_t mask = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW;
  for (char *path = text; path < text + size; path += strlen(path) + 1) {
    char *last = strrchr(path, '/');
    if (last == NULL || last == path || watch.count == WATCHED_MAX) refuse("the list of names is not one");
    *last = '\0';
    watch.directories[watch.count] = inotify_add_watch(watch.fd, path, mask);
    if (watch.directories[watch.count] < 0) cannot_watch(path);
    watch.names[watch.count++] = last + 1;
    path = last + 1; /* its NUL ends this one */
  }
}

static long now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static uint64_t hash_of(const char *text) {
  uint64_t hash = 14695981039346656037ULL;
  for (; *text != '\0'; text++) hash = (hash ^ (unsigned char)*text) * 1099511628211ULL;
  return hash;
}

static const struct seen *seen_before(unsigned count) { return &watch.seen[(watch.next - count) % SEEN_MAX]; }

/*
 * Whether what was renamed had been made here, written once, and had nothing else done to it or to
 * its name.
 */
static int is_clean(const struct inotify_event *renamed) {
  const struct seen *from = NULL;
  int writes = 0, is_made = 0;
  for (unsigned count = 1; count <= SEEN_MAX; count++) {
    const struct seen *each = seen_before(count);
    if (from == NULL && (each->mask & IN_MOVED_FROM) != 0 && each->cookie == renamed->cookie) from = each;
    else if (from != NULL && each->directory == from->directory && each->name == from->name) {
      if ((each->mask & IN_CLOSE_WRITE) != 0 && !is_made) writes++;
      else if ((each->mask & IN_CREATE) != 0 && !is_made) {
        is_made = 1;
        if (each->is_outside) break; /* nobody inside has run since */
      }
      else if (!each->is_outside && each->at > now_ms() - SEEN_MS) return 0;
    }
  }
  return is_made && writes == 1;
}

/* What may have been done by somebody inside to a name that is lost, or to what takes its place. */
static int touches(const struct inotify_event *event, int was_lost) {
  int is_inside = !watch.is_sealed;
  if ((event->mask & IN_Q_OVERFLOW) != 0) return 1;
  if ((event->mask & IN_MOVED_TO) != 0) return (was_lost && is_inside) || !is_clean(event);
  return is_inside && ((event->mask & IN_CREATE) != 0 || (was_lost && (event->mask & IN_CLOSE_WRITE) != 0));
}

/* Git is about to replace it: what stops before that has nothing to do with it. */
static int is_lock_of(const char *name, const struct inotify_event *event) {
  size_t size = strlen(name);
  return (event->mask & IN_CREATE) != 0 && strncmp(event->name, name, size) == 0 && strcmp(event->name + size, ".lock") == 0;
}

/* Whether everything has to stop. */
static int note(const struct inotify_event *event) {
  int found = 0, is_all = (event->mask & IN_Q_OVERFLOW) != 0;
  for (size_t i = 0; i < watch.count; i++) {
    if (!is_all && event->wd != watch.directories[i]) continue;
    if (event->len > 0 && is_lock_of(watch.names[i], event)) found = 1;
    if (!is_all && event->len > 0 && strcmp(event->name, watch.names[i]) != 0) continue;
    if (touches(event, watch.is_lost[i])) watch.is_touched[i] = 1;
    if ((event->mask & IN_CLOSE_WRITE) != 0) continue; /* a person wrote it in place, or the loss was seen before */
    watch.is_lost[i] = 1;
    found = 1;
  }
  if (event->len > 0)
    watch.seen[watch.next++ % SEEN_MAX] = (struct seen){ event->wd, watch.is_sealed, event->mask, event->cookie, hash_of(event->name), now_ms() };
  return found;
}

/* All events that there are; true where one of them is a reason to stop. */
static int read_events(void) {
  static char bytes[EVENTS_BYTES] __attribute__((aligned(__alignof__(struct inotify_event))));
  int found = 0, is_told = 0;
  for (ssize_t got; (got = read(watch.fd, bytes, sizeof bytes)) > 0;) {
    for (char *at = bytes; at < bytes + got; at += sizeof(struct inotify_event) + ((struct inotify_event *)at)->len)
      if (note((struct inotify_event *)at)) found = 1;
    /*
     * First of all, and once: a second one would stay with what the first has stopped. freeze()
     * sees to the rest.
     */
    if (found && !watch.is_frozen && !is_told) kill(-1, SIGSTOP), is_told = 1;
  }
  if (errno != EAGAIN && errno != EINTR) fail("read", "events");
  return found;
}

/* ---- processes ---- */

struct process { int pid, parent, depth; };

/*
 * The state of a thread that has not stopped; 0 where all have. Of those that have, the fingerprint
 * takes how often the kernel took each off its processor: a thread that went on and stopped again
 * has one more.
 */
static char runs(int pid) {
  DIR *tasks = open_proc(pid, "task");
  char found = 0;
  if (tasks == NULL) return 0;
  for (int task; found == 0 && (task = next_number(tasks)) != 0;) {
    char path[64], text[16384], state = 'X';
    snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, task);
    read_proc(path, text, sizeof text);
    char *line = strstr(text, "\nState:\t");
    if (line != NULL) state = line[strlen("\nState:\t")];
    if (strchr("TtZX", state) == NULL) found = state;
    if (state != 'T' && state != 't') continue;
    char *switches = strstr(text, "\nvoluntary_ctxt_switches:"); /* both kinds, to the end */
    if (switches == NULL) fail("read", path);
    watch.print += hash_of(switches) * (2 * (uint64_t)task + 1);
  }
  closedir(tasks);
  return found;
}

/* A process that waits for its child of vfork() stops only after that has become a program. */
static void let_children_go_on(int parent) {
  DIR *all = open_proc(0, "");
  for (int pid, above = 0; (pid = next_number(all)) != 0;) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (state_of(path, &above) == 'T' && above == parent) add(watch.ran, pid), kill(pid, SIGCONT);
  }
  closedir(all);
}

/*
 * How many have not stopped yet. Those are told once more: another may just have continued them, or
 * the kernel by a signal that they asked it for.
 */
static int scan(int is_late) {
  DIR *all = open_proc(0, "");
  int found = 0;
  watch.print = 0;
  for (int pid; (pid = next_number(all)) != 0;) {
    char state = pid == 1 ? 0 : runs(pid);
    if (state == 0) continue;
    add(watch.ran, pid);
    kill(pid, SIGSTOP);
    if (state == 'D' && is_late) let_children_go_on(pid);
    found++;
  }
  closedir(all);
  return found;
}

/* A signal to stop stays with what had stopped before, and is used up by what it has stopped. */
static void note_stopped(void) {
  DIR *all = open_proc(0, "");
  for (int pid; (pid = next_number(all)) != 0;)
    if (pid != 1 && !has(watch.ran, pid) && is_pending(pid, SIGSTOP)) add(watch.stopped, pid);
  closedir(all);
}

static void give_up(void) {
  tell("unstoppable", -1);
  kill(-1, SIGKILL);
  _exit(NOT_STARTED);
}

/*
 * From here on, nobody inside does anything, or it is seen: timers, folders and files send any
 * signal that a process has asked for, also the one that makes it go on. The last look is the
 * measure, so that whatever ran since then counts.
 */
static void seal(void) {
  watch.sealed_print = watch.print;
  note_stopped();
  clock_gettime(CLOCK_REALTIME, &watch.sealed_at); /* by the clock of files */
  read_events();
  watch.is_sealed = 1;
}

/* Everything has stopped afterwards, or has ended. */
static void freeze(void) {
  const struct timespec pause = { .tv_nsec = 50000 };
  const long begun = now_ms();
  watch.is_frozen = 1;
  memset(watch.ran, 0, sizeof watch.ran);
  memset(watch.stopped, 0, sizeof watch.stopped);
  for (int settled = 0; settled < SETTLED_SCANS;) {
    int found = scan(now_ms() - begun > LATE_MS), has_run = found > 0 || (watch.is_sealed && watch.print != watch.sealed_print);
    /* What the first look had missed may have done anything until now. */
    if (has_run && watch.is_sealed) memset(watch.is_touched, 1, sizeof watch.is_touched), watch.sealed_print = watch.print;
    if (has_run) settled = 0, nanosleep(&pause, NULL);
    else if (settled++ == 0) {
      if (!watch.is_sealed) seal();
      kill(-1, SIGSTOP); /* also what no scan has seen */
    }
    if (now_ms() - begun > FREEZE_MS) give_up();
  }
}

/* Nothing that the manager found out holds any more where somebody went on without its word. */
static void look_again(void) {
  if (scan(0) > 0 || watch.print != watch.sealed_print) give_up();
}

static int deeper(const void *one, const void *other) {
  return ((const struct process *)other)->depth - ((const struct process *)one)->depth;
}

/* Children before their parents, who then see none of them stopped. */
static void thaw(void) {
  static struct process all[65536];
  int count = 0, limit = sizeof all / sizeof all[0];
  DIR *folder = open_proc(0, "");
  for (int pid; count < limit && (pid = next_number(folder)) != 0;) {
    char path[64];
    struct process *each = &all[count];
    *each = (struct process){ .pid = pid };
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (pid != 1 && state_of(path, &each->parent) != 'X') count++;
  }
  closedir(folder);
  for (int i = 0; i < count; i++) {
    int parent = all[i].parent;
    for (int at = 0; parent > 1 && at < count && all[i].depth < count;) {
      if (all[at].pid == parent) parent = all[at].parent, all[i].depth++, at = 0;
      else at++;
    }
  }
  qsort(all, (size_t)count, sizeof all[0], deeper);
  watch.is_frozen = watch.is_sealed = 0;
  memset(watch.is_touched, 0, sizeof watch.is_touched);
  for (unsigned i = 0; i < SEEN_MAX; i++) /* what was found good is no more than that */
    if (!watch.seen[i].is_outside) watch.seen[i] = (struct seen){ 0 };
  for (int i = 0; i < count; i++)
    if (!has(watch.stopped, all[i].pid)) kill(all[i].pid, SIGCONT);
}

/* ---- the manager ---- */

static void tell_lost(void) {
  for (size_t i = 0; i < watch.count; i++)
    if (watch.is_lost[i]) tell(watch.is_touched[i] ? "touched" : "lost", (int)i);
  char word[48];
  snprintf(word, sizeof word, "frozen %lld.%09ld", (long long)watch.sealed_at.tv_sec, watch.sealed_at.tv_nsec);
  tell(word, -1);
}

/*
 * For the loop of init: there are events. While everything is stopped, more of them are told as
 * they come.
 */
static void watch_events(void) {
  if (!read_events()) return;
  if (!watch.is_frozen) freeze();
  tell_lost();
}

/* What was told has been looked at: what comes from here on is new. */
static void watch_forget(void) {
  if (!watch.is_frozen) return;
  look_again();
  read_events();
  memset(watch.is_lost, 0, sizeof watch.is_lost);
  tell("forgotten", -1);
}

/* Goes on, unless a name was lost meanwhile; true where it does. */
static int watch_resume(void) {
  if (!watch.is_frozen) return 0;
  look_again(); /* after what it mounted: what was opened before would still be written through */
  if (read_events()) {
    tell_lost();
    return 0;
  }
  thaw();
  tell("thawed", -1);
  return 1;
}

/*
 * A name that nobody holds any more: what is there from now on is the agent's as well as anybody's.
 */
static void watch_release(int index) {
  if (index >= 0 && (size_t)index < watch.count) watch.directories[index] = -1;
}

#endif
